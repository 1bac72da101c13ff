#include "runtime/membership/misconduct.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

peer_id peer(std::uint16_t n) {
  peer_id id;
  id.bytes[0] = static_cast<std::uint8_t>(n);
  id.bytes[1] = static_cast<std::uint8_t>(n >> 8);
  id.bytes[2] = 1;
  return id;
}

constexpr auto most = misconduct::witness::majority;
constexpr auto second = std::chrono::seconds{1};

} // namespace

TEST_CASE("offences in three rounds make a ban, with the evidence") {
  misconduct book;
  time_point now{};
  CHECK_FALSE(book.note(peer(1), most, "round a", "a NaN", now));
  CHECK_FALSE(book.note(peer(1), most, "round b", "another NaN", now + second));
  CHECK(book.offences(peer(1), now + second) == 2);
  auto proof
      = book.note(peer(1), most, "round c", "a huge part", now + 2 * second);
  REQUIRE(proof);
  CHECK(*proof
        == "a NaN (round a); another NaN (round b); a huge part (round "
           "c)");
  CHECK(book.offences(peer(1), now + 2 * second) == 0);
}

TEST_CASE("many wrong parts of one round are one offence") {
  misconduct book;
  for (int i = 0; i < 100; ++i)
    CHECK_FALSE(book.note(peer(1), most, "round a", "a NaN", time_point{}));
  CHECK(book.offences(peer(1), time_point{}) == 1);
}

TEST_CASE("offences are forgotten in time, and are nobody else's") {
  misconduct book;
  time_point now{};
  book.note(peer(1), most, "round a", "a NaN", now);
  book.note(peer(1), most, "round b", "a NaN", now);
  book.note(peer(2), most, "round b", "a NaN", now);
  CHECK(book.offences(peer(2), now) == 1);
  now += misconduct::memory + second;
  CHECK(book.offences(peer(1), now) == 0);
  CHECK_FALSE(book.note(peer(1), most, "round c", "a NaN", now));
  CHECK_FALSE(book.note(peer(1), most, "round d", "a NaN", now));
}

TEST_CASE("the book stays small, and so does its evidence") {
  misconduct book;
  time_point now{};
  for (std::uint16_t i = 0; i <= misconduct::most_peers; ++i)
    book.note(peer(i), most, "round a", std::string(100000, 'x'),
              now + i * second);
  auto later = now + misconduct::most_peers * second;
  CHECK(book.offences(peer(0), now) == 0); // Gave way.
  CHECK(book.offences(peer(misconduct::most_peers), later) == 1);
  book.note(peer(misconduct::most_peers), most, "round b", "a NaN", later);
  auto proof = book.note(peer(misconduct::most_peers), most, "round c", "a NaN",
                         later);
  REQUIRE(proof);
  CHECK(proof->size() < 2 * misconduct::longest_evidence);
}

TEST_CASE("what this peer alone has seen weighs a third, and once a round") {
  misconduct book;
  time_point now{};
  auto alone = misconduct::witness::alone;
  for (int i = 0; i < 8; ++i)
    CHECK_FALSE(
        book.note(peer(1), alone, "round " + std::to_string(i), "a NaN", now));
  SUBCASE("a ninth round is enough") {
    CHECK(book.note(peer(1), alone, "round 8", "a NaN", now));
  }
  SUBCASE("so is that most confirm one of them") {
    CHECK(book.note(peer(1), most, "round 7", "seen by most", now));
  }
  SUBCASE("the same round again is not") {
    CHECK_FALSE(book.note(peer(1), alone, "round 7", "a NaN", now));
  }
}
