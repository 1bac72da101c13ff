#include "runtime/averaging/means_inquiry.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;

namespace {

using pairs = std::vector<std::pair<std::size_t, std::size_t>>;

digest mark(std::uint8_t x) {
  digest result;
  result.bytes[0] = x;
  return result;
}

/// Five members that all average; everybody got the truth of everybody.
std::vector<std::vector<digest>> honest(std::size_t members = 5) {
  std::vector<digest> all;
  for (std::size_t i = 0; i < members; ++i)
    all.push_back(mark(static_cast<std::uint8_t>(100 + i)));
  return std::vector<std::vector<digest>>(members, all);
}

judgement judged(const std::vector<std::vector<digest>>& found) {
  means_inquiry x{found.front().size()};
  for (std::size_t i = 0; i < found.size(); ++i)
    x.heard(i, found[i]);
  return x.judge();
}

} // namespace

TEST_CASE("what a heal has made anew is no finding about its reducer") {
  // Three members that average a chunk each; a round in which one was lost
  // after some had all means, and others healed theirs (seed 139229490 of
  // hostile.json: everybody named everybody, and trained alone).
  testing::round_setting setting;
  setting.trainers = 3;
  setting.chunks = {1, 1, 1};
  const auto contract = testing::contract_of(setting);
  const auto map = setting.map();
  auto findings
      = [&](std::vector<mean_version> versions, std::vector<float> means) {
          chunk_ledger ledger{contract, map, 0};
          for (std::uint32_t chunk = 0; chunk < 3; ++chunk) {
            chunk_mean mean;
            mean.chunk = chunk;
            mean.version = versions[chunk];
            mean.samples = 3;
            ledger.mean_here(mean);
          }
          REQUIRE(ledger.complete());
          return findings_of(ledger, map, means);
        };
  auto planned = findings({1, 1, 1}, {1, 2, 3});
  CHECK(findings({1, 1, 1}, {1, 2, 3}) == planned);
  auto other = findings({1, 1, 1}, {1, 2, 4});
  CHECK(other[0] == planned[0]);
  CHECK(other[2] != planned[2]);
  auto healed = findings({1, 1, 5}, {1, 2, 4});
  CHECK(healed[0] == planned[0]);
  CHECK(healed[2].empty());
  auto x = judged({planned, healed, findings({5, 5, 6}, {7, 8, 9})});
  CHECK(x.named.empty());
  CHECK(x.apart.empty());
}

TEST_CASE("where all got the same, nobody is named") {
  auto x = judged(honest());
  CHECK(x.named.empty());
  CHECK(x.apart.empty());
}

TEST_CASE("a reducer that tells everybody something else is named") {
  auto found = honest();
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i][2] = mark(static_cast<std::uint8_t>(i + 1));
  auto x = judged(found);
  CHECK(x.named == std::vector<std::size_t>{2});
  CHECK(x.apart.empty());
}

TEST_CASE("a reducer that does not hold what it told all others is named") {
  auto found = honest();
  found[3][3] = mark(1);
  CHECK(judged(found).named == std::vector<std::size_t>{3});
}

TEST_CASE("one member's word against one reducer names neither") {
  auto found = honest();
  found[1][4] = mark(1);
  auto x = judged(found);
  CHECK(x.named.empty());
  CHECK(x.apart == pairs{{1, 4}});
}

TEST_CASE("who accuses most reducers is named, and they are not") {
  auto found = honest();
  for (std::size_t i = 0; i < 3; ++i)
    found[4][i] = mark(1);
  auto x = judged(found);
  CHECK(x.named == std::vector<std::size_t>{4});
  CHECK(x.apart.empty());
}

TEST_CASE("two members that differ are kept apart, since neither is believed") {
  auto found = honest(2);
  found[1][0] = mark(1);
  auto x = judged(found);
  CHECK(x.named.empty());
  CHECK(x.apart == pairs{{0, 1}});
}

TEST_CASE("members that average nothing, or say nothing, are no evidence") {
  auto found = honest();
  for (auto& x : found)
    x[0] = {};
  found[2].clear(); // Speaks of another number of members: not heard.
  found[1] = {mark(1)};
  auto x = judged(found);
  CHECK(x.named.empty());
  CHECK(x.apart.empty());
}

TEST_CASE("the first word counts") {
  means_inquiry x{3};
  auto found = honest(3);
  for (std::size_t i = 0; i < 3; ++i)
    x.heard(i, found[i]);
  x.heard(1, {mark(1), mark(2), mark(3)});
  CHECK(x.judge().named.empty());
  CHECK(x.judge().apart.empty());
  CHECK(x.has_heard(1));
  CHECK_FALSE(x.has_heard(3));
}

TEST_CASE("no honest member is named, whatever a minority of liars says") {
  // Liars may send any of three digests for any reducer, and as reducers any to
  // any member; honest reducers tell all honest members the same.
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    CAPTURE(seed);
    auto next = [state = seed * 0x9e3779b97f4a7c15]() mutable {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      return state;
    };
    std::size_t members = 3 + next() % 8;
    auto liars = (members - 1) / 2;
    auto found = honest(members);
    for (std::size_t i = 0; i < members; ++i)
      for (std::size_t owner = 0; owner < members; ++owner)
        if ((i < liars || owner < liars) && next() % 2 == 0)
          found[i][owner] = mark(static_cast<std::uint8_t>(next() % 3));
    auto x = judged(found);
    for (auto i : x.named)
      CHECK(i < liars);
    for (auto& [a, b] : x.apart)
      CHECK((a < liars || b < liars));
  }
}
