#include "runtime/averaging/round/chunk_ledger.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

/// Three trainers with a sample each, who average a chunk each.
group_contract three() {
  group_contract c;
  for (std::uint8_t i = 0; i < 3; ++i) {
    group_member m;
    m.who.id.bytes[0] = i + 1;
    m.samples = 1;
    c.members.push_back(m);
  }
  return c;
}

const chunk_map map{3, 1, {1, 1, 1}};

chunk_mean mean_of(std::uint32_t chunk, mean_version version,
                   std::vector<std::uint8_t> left_out = {}) {
  chunk_mean x;
  x.chunk = chunk;
  x.version = version;
  x.samples = 3 - left_out.size();
  x.left_out = std::move(left_out);
  return x;
}

} // namespace

TEST_CASE("a mean that was made without a member has none of its part") {
  chunk_ledger mine{three(), map, 1};
  mine.mean_here(mean_of(0, 1, {0, 1}));
  CHECK(mine.left_out() == std::vector<std::uint8_t>{0, 1});
  // Not even its own reducer could sum it.
  mine.averaged(1, {1});
  mine.publish(1);
  CHECK(mine.describe(1).left_out == std::vector<std::uint8_t>{1});
}

TEST_CASE("after a heal it depends on whose mean counts") {
  chunk_ledger mine{three(), map, 1};
  mine.averaged(1, {});
  mine.publish(1);
  round_heal heal;
  heal.epoch = 3;
  heal.alive = {0, 1};
  // Chunk 0 is averaged anew by its reducer, chunk 1 by another, chunk 2 here.
  heal.chunks = {{0, 5}, {0, 5}, {1, 5}};
  mine.heal(heal, {false, false, true});
  mine.averaged(2, {2});
  mine.publish(2);
  mine.mean_here(mean_of(0, 5, {2}));
  mine.mean_here(mean_of(1, 5, {2}));
  for (std::uint32_t chunk : {0, 1, 2})
    CHECK(mine.version(chunk) == 5);
  CHECK(mine.left_out() == std::vector<std::uint8_t>{2});
  // The own mean counts after all, and comes back from whoever had kept it.
  mine.drop_all();
  mine.mean_here(mean_of(1, 1));
  CHECK(mine.version(1) == 1);
  CHECK(mine.left_out().empty());
}
