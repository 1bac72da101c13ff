#include "runtime/averaging/round/round_healing.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"

using namespace potluck;

namespace {

using report = round_healing::report;

const group_id group = [] {
  group_id x;
  x.bytes[0] = 7;
  return x;
}();

chunk_map map_of(const std::vector<std::uint32_t>& chunks) {
  std::uint32_t total = 0;
  for (auto x : chunks)
    total += x;
  return {total, 1, chunks};
}

} // namespace

TEST_CASE("a mean that somebody holds counts, the highest version first") {
  round_healing healing{map_of({1, 1, 1}), {1, 1, 1}, 1};
  auto x = healing.rule(group, 4,
                        {report{{{0, 2}, {1, 3}, {3, 2}}},
                         report{{{1, 3}, {1, 3}, {2, 3}}}, std::nullopt});
  REQUIRE(x);
  CHECK(x->group == group);
  CHECK(x->epoch == 4);
  CHECK(x->alive == std::vector<std::uint8_t>{0, 1});
  CHECK(x->chunks == std::vector<chunk_source>{{1, 1}, {0, 1}, {0, 3}});
}

TEST_CASE("a mean that nobody holds is made where most of its parts are") {
  round_healing healing{map_of({1, 1, 1}), {1, 1, 1}, 1};
  // The planned reducer has one part, another has two; in a tie it goes first.
  auto x = healing.rule(group, 4,
                        {report{{{0, 1}, {0, 1}, {0, 0}}},
                         report{{{0, 2}, {0, 1}, {0, 0}}},
                         report{{{0, 0}, {0, 0}, {0, 0}}}});
  REQUIRE(x);
  CHECK(x->chunks == std::vector<chunk_source>{{1, 6}, {1, 6}, {2, 6}});
}

TEST_CASE("chunks of a lost reducer are spread as the plan spread its own") {
  round_healing healing{map_of({2, 1, 0, 6}), {1, 1, 1, 1}, 1};
  report nothing{std::vector<chunk_standing>(9)};
  auto x = healing.rule(group, 0, {nothing, nothing, nothing, std::nullopt});
  REQUIRE(x);
  std::vector<int> given(4, 0);
  for (std::size_t i = 0; i < 9; ++i) {
    CHECK(x->chunks[i].version == 2);
    ++given[x->chunks[i].member];
  }
  CHECK(given == std::vector<int>{6, 3, 0, 0});
  SUBCASE("and equally when the plan spared all that are left") {
    auto y = healing.rule(group, 0,
                          {std::nullopt, std::nullopt, nothing, std::nullopt});
    REQUIRE(y);
    for (auto& chunk : y->chunks)
      CHECK(chunk.member == 2);
  }
}

TEST_CASE("a round is lost when some chunk would count too few samples") {
  auto rule = [](std::uint64_t least, const chunk_standing& one) {
    round_healing healing{map_of({1, 1, 0}), {2, 3, 5}, least};
    report x{std::vector<chunk_standing>{{0, 0}, one}};
    return healing.rule(group, 0, {x, x, std::nullopt}).has_value();
  };
  CHECK(rule(5, {0, 0}));
  CHECK_FALSE(rule(6, {0, 0}));
  CHECK_FALSE(rule(6, {1, 5})); // Held, over too few.
  // Who knows whose parts are at the reducer: the reports will tell.
  round_healing healing{map_of({1, 0, 0}), {2, 3, 5}, 6};
  CHECK(healing.rule(group, 0,
                     {report{{{0, 5}}}, report{{{0, 0}}}, std::nullopt}));
  CHECK_FALSE(healing.rule(group, 0,
                           {report{{{0, 0}}}, report{{{0, 0}}}, std::nullopt}));
  CHECK_FALSE(
      healing.rule(group, 0, {std::nullopt, std::nullopt, std::nullopt}));
}

TEST_CASE("a member that says nothing of its chunks has none") {
  round_healing healing{map_of({1, 1}), {1, 1}, 1};
  auto x = healing.rule(
      group, 1, {report{{{1, 2}}}, report{std::vector<chunk_standing>{}}});
  REQUIRE(x);
  CHECK(x->chunks == std::vector<chunk_source>{{0, 1}, {1, 3}});
}

TEST_CASE("more chunks than can be spoken of cannot be healed") {
  auto chunks = static_cast<std::uint32_t>(max_heal_chunks);
  round_healing fits{map_of({chunks}), {1}, 1};
  CHECK(fits.rule(group, 0, {report{std::vector<chunk_standing>{}}}));
  round_healing large{map_of({chunks + 1}), {1}, 1};
  CHECK_FALSE(large.rule(group, 0, {report{std::vector<chunk_standing>{}}}));
}

TEST_CASE("who gives a mean has a line to all trainers that are left") {
  group_contract contract;
  contract.members.resize(4);
  for (std::uint8_t i = 0; i < 4; ++i)
    contract.members[i].who.id.bytes[0] = static_cast<std::uint8_t>(i + 1);
  contract.members[3].role = role::auxiliary;
  // Members 0 and 1 reach each other by a relay only.
  contract.members[0].relayed = {contract.members[1].who.id};
  round_healing healing{
      map_of({0, 0, 1, 1}), {1, 1, 1, 0}, 1, direct_lines{contract}};
  report nothing{std::vector<chunk_standing>(2)};
  report holds{{{1, 3}, {0, 2}}};
  // Member 0 has a mean and more parts, but cannot give them to member 1.
  auto x = healing.rule(group, 0, {holds, nothing, nothing, std::nullopt});
  REQUIRE(x);
  CHECK(x->chunks == std::vector<chunk_source>{{2, 2}, {2, 2}});
  // When member 1 is lost, too, it can.
  x = healing.rule(group, 0, {holds, std::nullopt, nothing, std::nullopt});
  REQUIRE(x);
  CHECK(x->chunks == std::vector<chunk_source>{{0, 1}, {0, 2}});
  // Without both in the middle nobody can.
  CHECK_FALSE(
      healing.rule(group, 0, {holds, nothing, std::nullopt, std::nullopt}));
}
