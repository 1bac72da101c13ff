#include "tools/lab/network/tcp_packet.hpp"

#include <doctest/doctest.h>

#include "tests/support/tcp_packets.hpp"

using namespace potluck;
using namespace potluck::support;

TEST_CASE("a TCP segment is read from its packet") {
  auto x = read_tcp(tcp_packet(
      {{0x0a4d0001, 7000}, {0x0a4d0002, 40000}, flag_ack, 5, 9, "hello"}));
  REQUIRE(x);
  CHECK(x->from == tcp_end{0x0a4d0001, 7000});
  CHECK(x->to == tcp_end{0x0a4d0002, 40000});
  CHECK(x->ack);
  CHECK_FALSE(x->syn);
  CHECK_FALSE(x->fin);
  CHECK_FALSE(x->reset);
  CHECK(x->acknowledged == 9);
  CHECK(x->carries_data());
  CHECK(x->end - x->payload == 5);
  auto dial = read_tcp(tcp_packet({{1, 1}, {2, 2}, flag_syn, 5, 0, ""}));
  REQUIRE(dial);
  CHECK(dial->opens());
  CHECK_FALSE(dial->carries_data());
}

TEST_CASE("what is no whole TCP segment is not read") {
  const auto whole = tcp_packet({{1, 1}, {2, 2}, flag_ack, 5, 9, "hello"});
  REQUIRE(read_tcp(whole));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    auto cut = whole;
    cut.resize(size);
    CHECK_MESSAGE(!read_tcp(cut), size);
  }
  auto changed = [&](std::size_t at, std::uint8_t to) {
    auto x = whole;
    x[at] = to;
    return x;
  };
  CHECK_FALSE(read_tcp(changed(0, 0x65)));  // IPv6.
  CHECK_FALSE(read_tcp(changed(0, 0x41)));  // A header of one word.
  CHECK_FALSE(read_tcp(changed(7, 1)));     // A later fragment.
  CHECK_FALSE(read_tcp(changed(9, 17)));    // UDP.
  CHECK_FALSE(read_tcp(changed(32, 0x10))); // TCP's header of one word.
  CHECK_FALSE(read_tcp(changed(32, 0xf0))); // It goes beyond the end.
}

TEST_CASE("a flipped bit is one bit of the payload, and the checksum fits") {
  for (std::string payload : {"hello", "hello!"}) {
    const auto before = tcp_packet({{1, 1}, {2, 2}, flag_ack, 5, 9, payload});
    REQUIRE(checksums_fit(before));
    const auto segment = read_tcp(before);
    REQUIRE(segment);
    for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
      auto after = before;
      flip_payload_bit(after, *segment, bit);
      CHECK(checksums_fit(after));
      for (std::size_t i = segment->payload; i < segment->end; ++i) {
        auto flipped = i == segment->payload + bit / 8 ? 1u << bit % 8 : 0u;
        CHECK((before[i] ^ after[i]) == flipped);
      }
      CHECK(read_tcp(after)->acknowledged == 9);
    }
  }
}

TEST_CASE("a reset is one, with checksums that fit") {
  auto bytes = make_reset({0xc0a80001, 7000}, {0x0a4d0002, 40000}, 0xfffffffe);
  CHECK(checksums_fit(bytes));
  auto x = read_tcp(bytes);
  REQUIRE(x);
  CHECK(x->reset);
  CHECK(x->from == tcp_end{0xc0a80001, 7000});
  CHECK(x->to == tcp_end{0x0a4d0002, 40000});
  CHECK_FALSE(x->carries_data());
  CHECK(sequence_of(bytes) == 0xfffffffe);
}
