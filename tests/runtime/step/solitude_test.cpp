#include "runtime/step/solitude.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

progress_report record(std::uint8_t number, std::uint16_t port = 0) {
  progress_report x;
  x.id.bytes[0] = number;
  x.where = {"home", port};
  x.phase = phase::accumulating;
  return x;
}

/// Takes a step a second, with a record of each of these heard every 5 s.
/// @returns What was said.
std::vector<solitude::word> train(solitude& it, time_point& now,
                                  std::chrono::seconds time,
                                  std::vector<progress_report> others,
                                  bool company = false) {
  std::vector<solitude::word> said;
  for (auto s = 0s; s < time; ++s, now += 1s) {
    if (s.count() % 5 == 0)
      for (auto& x : others)
        it.heard_of(x, now);
    if (auto word = it.stepped(company, now))
      said.push_back(*word);
  }
  return said;
}

} // namespace

TEST_CASE("who trains alone because nobody else is there says nothing") {
  solitude it;
  time_point now{1h};
  CHECK(train(it, now, 1h, {}).empty());
  CHECK_FALSE(it.last_word());
  CHECK(it.trouble().empty());
}

TEST_CASE("who trains alone although others do says so, ever more rarely") {
  solitude it;
  time_point now{1h};
  auto said = train(it, now, 10min, {record(7), record(8)});
  REQUIRE(said.size() == 5); // After 5, 35, 95, 215 and 455 s.
  CHECK(said[0].alone);
  CHECK(said[0].sentence.find("1 step was taken alone although others train in "
                              "this run: peer 07000000 and 1 more cannot be "
                              "dialled.")
        == 0);
  CHECK(it.trouble() == "alone: no line to peer 07000000");
  REQUIRE(it.last_word());
  CHECK(it.last_word()->sentence.find("595 steps were") == 0);
  CHECK_FALSE(it.last_word()->met); // Anybody can write records.
  SUBCASE("and when they meet") {
    it.joined(record(7).id);
    auto word = it.stepped(true, now);
    REQUIRE(word);
    CHECK_FALSE(word->alone);
    CHECK_FALSE(it.last_word());
    CHECK(it.trouble().empty());
    CHECK_FALSE(it.stepped(true, now));
  }
  SUBCASE("and when it holds their history") {
    CHECK(it.fetched());
    CHECK_FALSE(it.fetched());
    CHECK_FALSE(it.last_word());
  }
}

TEST_CASE("the records of a peer that is gone prove nothing") {
  solitude it;
  time_point now{1h};
  SUBCASE("of one that was lost, as long as records live") {
    it.joined(record(7).id);
    it.left(record(7).id, now);
    CHECK(train(it, now, 15s, {record(7)}).empty());
    CHECK(train(it, now, 1h, {}).empty());
  }
  SUBCASE("of one that died before it was known") {
    it.heard_of(record(7), now);
    CHECK(train(it, now, 1h, {}).empty());
  }
  SUBCASE("of one that has finished") {
    auto x = record(7);
    x.phase = phase::finished;
    CHECK(train(it, now, 1h, {x}).empty());
  }
  SUBCASE("but those of one that was lost and goes on do") {
    it.joined(record(7).id);
    it.left(record(7).id, now);
    CHECK(train(it, now, 1min, {record(7, 7)}).size() == 2);
    CHECK(it.last_word()->sentence.find("cannot be reached at home:7")
          != std::string::npos);
    CHECK(it.last_word()->met);
  }
  SUBCASE("however many others are made up") {
    for (std::size_t i = 0; i < solitude::most; ++i) {
      auto x = record(8);
      x.id.bytes[1] = static_cast<std::uint8_t>(i);
      it.heard_of(x, now);
    }
    it.joined(record(9).id);
    it.left(record(9).id, now);
    train(it, now, 1min, {record(9)});
    REQUIRE(it.last_word());
    CHECK(it.last_word()->met);
  }
}
