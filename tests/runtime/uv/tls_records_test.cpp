#include "runtime/uv/tls_records.hpp"

#include <algorithm>
#include <stdexcept>

#include <doctest/doctest.h>

#include "tests/runtime/uv/tls_forge.hpp"

using namespace potluck;
using namespace potluck::forge;
using verdict = record_opener::verdict;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};
constexpr auto aes = tls_cipher::aes_128_gcm;
const bytes ticket{4, 0, 0, 3, 1, 2, 3};

/// What comes of `wire`: how it ends, with which alert, after which bytes.
struct opened {
  explicit opened(const bytes& wire, bool tickets = true) {
    record_opener x{aes, secret_of(1), tickets};
    content = open_all(x, wire, last);
    alert = x.alert();
    wants_update = x.take_update_request();
    CHECK_FALSE(x.take_update_request());
  }
  bool refused(tls_alert with) const {
    return last == verdict::refused && alert == with && content.empty();
  }
  bytes content;
  verdict last;
  tls_alert alert;
  bool wants_update;
};

} // namespace

TEST_CASE("what is sealed is opened, whatever the sizes, cuts and rooms") {
  for (auto which : {aes, tls_cipher::chacha20_poly1305})
    for (std::size_t cut : {1, 7, 1400, 16405, 65536, 10'000'000})
      for (std::size_t room : {1, 100, 16383, 16384, 100'000}) {
        record_sealer out{which, secret_of(1), 5};
        record_opener in{which, secret_of(1), false};
        bytes all, wire;
        for (std::size_t size : {1, 20, 4096, 16384, 16385, 50000}) {
          if ((cut == 1 || room == 1) && size > 5000)
            continue;
          const auto part = noise(size, size + cut);
          out.seal(part.data(), part.size(), wire);
          all.insert(all.end(), part.begin(), part.end());
        }
        auto last = verdict::closed;
        CHECK(open_all(in, wire, last, cut, room) == all);
        CHECK(last == verdict::more);
      }
}

TEST_CASE("a key is replaced when it is used up, or is to be") {
  record_sealer x{aes, secret_of(1), 3};
  bytes one(100), wire;
  for (int i = 0; i < 3; ++i)
    x.seal(one.data(), one.size(), wire);
  CHECK(wire.size() == 3 * 122);
  x.seal(one.data(), one.size(), wire);
  CHECK(wire.size() == 4 * 122 + 27); // The update, under the old key.
  x.replace_soon();
  CHECK(wire.size() == 4 * 122 + 27);
  x.seal(one.data(), one.size(), wire);
  x.seal(one.data(), one.size(), wire);
  CHECK(wire.size() == 6 * 122 + 2 * 27);
  CHECK(opened{wire}.content.size() == 600);
  CHECK_FALSE(opened{wire}.wants_update);
}

TEST_CASE("a changed bit in any byte of a record is refused") {
  forger x;
  const auto first = x.data(noise(50, 1)), second = x.data(noise(40, 2));
  for (std::size_t i = 0; i < second.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = second;
      changed[i] ^= static_cast<std::uint8_t>(1 << bit);
      // If it is longer now, the rest comes, and does not help.
      const opened got{join({first, changed, bytes(20'000)})};
      CAPTURE(i);
      CAPTURE(bit);
      CHECK(got.content == noise(50, 1));
      REQUIRE(got.last == verdict::refused);
      const auto size_says = record_header_bytes + carried_bytes(&changed[0]);
      CHECK(got.alert
            == (i == 0                           ? tls_alert::unexpected_message
                : i <= 2                         ? tls_alert::decode_error
                : size_says > whole_record_bytes ? tls_alert::record_overflow
                                                 : tls_alert::bad_record_mac));
    }
}

TEST_CASE("records that are lost, repeated or swapped are refused") {
  forger x;
  const auto a = x.data({1}), b = x.data({2}), c = x.data({3});
  CHECK(opened{join({a, b, c})}.content == bytes{1, 2, 3});
  for (auto& wire :
       {join({b, c}), join({a, c}), join({a, a, b}), join({b, a, c})}) {
    const opened got{wire};
    CHECK(got.last == verdict::refused);
    CHECK(got.alert == tls_alert::bad_record_mac);
    CHECK(got.content.size() <= 1);
  }
}

TEST_CASE("nothing is given out before a record's last byte has come") {
  forger x;
  const auto wire = x.data(noise(1000, 1));
  for (std::size_t size = 0; size < wire.size(); ++size)
    CHECK(opened{bytes(wire.data(), wire.data() + size)}.content.empty());
  CHECK(opened{wire}.content == noise(1000, 1));
}

TEST_CASE("padding is taken off") {
  forger x;
  const auto most = record_bytes - 10;
  CHECK(opened{join({x.data({1, 0, 0}, 1), x.data({2}, 100),
                     x.data(noise(10, 1), most)})}
            .content
        == join({{1, 0, 0, 2}, noise(10, 1)}));
  forger y; // What is padding alone has no type.
  CHECK(opened{y.record(0, {})}.refused(tls_alert::unexpected_message));
  forger z;
  CHECK(opened{z.record(0, bytes(100))}.refused(tls_alert::unexpected_message));
  forger padded_alert;
  CHECK(opened{padded_alert.record(21, {1, 0}, 30)}.last == verdict::closed);
}

TEST_CASE("a record that is too long or too short is refused by its header") {
  for (std::size_t carried : {0, 16, 17, 16401, 16402, 16640, 16641, 65535}) {
    const bytes header{23, 3, 3, static_cast<std::uint8_t>(carried >> 8),
                       static_cast<std::uint8_t>(carried)};
    const opened got{header};
    CAPTURE(carried);
    if (carried < 17)
      CHECK(got.refused(tls_alert::bad_record_mac));
    else if (carried <= 16401)
      CHECK(got.last == verdict::more);
    else
      CHECK(got.refused(tls_alert::record_overflow));
  }
  forger x;
  CHECK(opened{x.data(noise(record_bytes, 1))}.content
        == noise(record_bytes, 1));
  forger y;
  CHECK(opened{y.data(noise(record_bytes + 1, 1))}.refused(
      tls_alert::record_overflow));
}

TEST_CASE("only encrypted records of TLS 1.3 are taken") {
  for (std::uint8_t type : {0, 20, 21, 22, 24, 255})
    CHECK(opened{bytes{type, 3, 3, 0, 2, 2, 40}}.refused(
        tls_alert::unexpected_message));
  CHECK(opened{bytes{23, 3, 4, 0, 20}}.refused(tls_alert::decode_error));
  CHECK(opened{bytes{23, 2, 3, 0, 20}}.refused(tls_alert::decode_error));
  for (std::uint8_t type : {1, 20, 24, 255}) { // And what is in them.
    forger x;
    CHECK(opened{x.record(type, {1})}.refused(tls_alert::unexpected_message));
  }
}

TEST_CASE("alerts end it, whatever level they claim") {
  forger x;
  const auto wire = join({x.data({7}), x.alert(1, 0), x.data({8})});
  const opened bye{join({wire, bytes(100)})}; // What follows is ignored.
  CHECK(bye.content == bytes{7});
  CHECK(bye.last == verdict::closed);
  for (std::uint8_t level : {1, 2}) {
    forger y;
    const opened got{join({y.alert(level, 42), y.data({8})})};
    CHECK(got.last == verdict::alerted);
    CHECK(static_cast<int>(got.alert) == 42);
    CHECK(got.content.empty());
  }
  forger z; // Only says why a goodbye will follow.
  CHECK(opened{join({z.alert(1, 90), z.alert(1, 0)})}.last == verdict::closed);
  for (std::size_t size : {0, 1, 3, 4}) {
    forger y;
    CHECK(
        opened{y.record(21, bytes(size, 1))}.refused(tls_alert::decode_error));
  }
}

TEST_CASE("empty records, but not any number of them") {
  auto in_a_row = [](auto make) {
    forger x;
    bytes wire;
    for (unsigned i = 0; i < idle_records; ++i)
      wire = join({wire, make(x)});
    wire = join({wire, x.data({1})});
    for (unsigned i = 0; i < idle_records; ++i)
      wire = join({wire, make(x)});
    const opened some{wire};
    CHECK(some.content == bytes{1});
    CHECK(some.last == verdict::more);
    const opened more{join({wire, make(x), x.data({2})})};
    CHECK(more.content == bytes{1});
    CHECK(more.last == verdict::refused);
    CHECK(more.alert == tls_alert::unexpected_message);
  };
  in_a_row([](forger& x) { return x.data({}); });
  in_a_row([](forger& x) { return x.data({}, 5); });
  in_a_row([](forger& x) { return x.update(1); });
  in_a_row([](forger& x) { return x.handshake(ticket); });
  in_a_row([](forger& x) { return x.alert(1, 90); });
}

TEST_CASE("a key update is obeyed, and its request told once") {
  for (std::uint8_t requested : {0, 1}) {
    forger x;
    const opened got{join({x.data({1}), x.update(requested), x.data({2}),
                           x.update(0), x.data({3})})};
    CHECK(got.content == bytes{1, 2, 3});
    CHECK(got.wants_update == (requested == 1));
  }
  forger x; // Cut into records.
  const auto wire
      = join({x.handshake({24, 0}), x.handshake({0, 1}), x.handshake({1})});
  CHECK(opened{wire}.wants_update);
  CHECK(opened{wire}.last == verdict::more);
}

TEST_CASE("other handshake messages are refused, but for tickets") {
  auto after = [](const bytes& content, tls_alert alert, bool tickets = true) {
    forger x;
    return opened{x.handshake(content), tickets}.refused(alert);
  };
  constexpr auto unexpected = tls_alert::unexpected_message;
  for (std::uint8_t type : {0, 1, 2, 5, 8, 11, 13, 15, 20, 254})
    CHECK(after({type, 0, 0, 1, 0}, unexpected));
  CHECK(after({}, unexpected));
  CHECK(after(ticket, unexpected, false)); // We are who accepted.
  CHECK(after({4, 1, 0, 0}, tls_alert::illegal_parameter));
  CHECK(after({24, 0, 0, 0}, tls_alert::decode_error));
  CHECK(after({24, 0, 0, 2, 0, 0}, tls_alert::decode_error));
  CHECK(after({24, 0, 0, 1, 2}, tls_alert::illegal_parameter));
  // It has to be a record's last message.
  CHECK(after(join({{24, 0, 0, 1, 0}, ticket}), unexpected));
  forger x;
  const opened got{x.handshake(join({ticket, ticket, {24, 0, 0, 1, 1}}))};
  CHECK(got.last == verdict::more);
  CHECK(got.wants_update);
}

TEST_CASE("nothing may stand within a handshake message that was cut") {
  for (auto& begin : {bytes{24}, bytes{24, 0, 0, 1}, bytes{4, 0, 0, 3, 9}}) {
    forger x;
    const auto cut = x.handshake(begin);
    CHECK(opened{cut}.last == verdict::more);
    CHECK(opened{join({cut, x.data({1})})}.refused(
        tls_alert::unexpected_message));
    forger y;
    CHECK(opened{join({y.handshake(begin), y.alert(1, 0)})}.refused(
        tls_alert::unexpected_message));
  }
  forger x;
  const auto wire
      = join({x.handshake({4, 0, 0, 3, 9}), x.handshake({9, 9}), x.data({1})});
  CHECK(opened{wire}.content == bytes{1});
}

TEST_CASE("a failure is for good") {
  forger x;
  record_opener in{aes, secret_of(1), false};
  const auto first = x.data({1}), second = x.data({2});
  auto last = verdict::more;
  CHECK(open_all(in, second, last).empty());
  CHECK(last == verdict::refused);
  CHECK(open_all(in, join({first, second}), last).empty());
  CHECK(last == verdict::refused);
  CHECK(in.alert() == tls_alert::bad_record_mac);
}

TEST_CASE("what was fed is used up before more is") {
  record_opener in{aes, secret_of(1), false};
  const bytes some(10, 23);
  in.feed(some.data(), some.size());
  CHECK_THROWS_AS(in.feed(some.data(), 1), std::logic_error);
}
