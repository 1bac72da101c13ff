#include "runtime/averaging/mean_room.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

peer_id id(int n) {
  peer_id result;
  result.bytes[0] = static_cast<std::uint8_t>(n);
  return result;
}

/// Two trainers and an auxiliary peer, of 10 chunks of 10 values.
group_contract contract() {
  group_contract x;
  x.gradient_values = 100;
  x.chunk_values = 10;
  for (int i = 1; i <= 3; ++i) {
    group_member m;
    m.who.id = id(i);
    m.role = i < 3 ? role::trainer : role::auxiliary;
    m.samples = i < 3 ? 10 : 0;
    x.members.push_back(m);
  }
  return x;
}

share_plan shares(std::vector<std::uint32_t> chunks) {
  share_plan x;
  x.chunks = std::move(chunks);
  return x;
}

/// Values that wait in the pool when so many come back.
std::size_t kept_of(value_pool& pool, std::size_t values) {
  pool.take(values).reset();
  return pool.idle();
}

} // namespace

TEST_CASE("a trainer's room keeps the mean of this round and of the last") {
  mean_room x;
  auto& pool = x.prepare(contract(), shares({5, 5, 0}), id(1));
  CHECK(kept_of(pool, 201) == 0);
  CHECK(kept_of(pool, 200) == 200);
}

TEST_CASE("an auxiliary peer's room keeps what it averages by the plan") {
  mean_room x;
  auto& pool = x.prepare(contract(), shares({3, 3, 4}), id(3));
  CHECK(kept_of(pool, 41) == 0);
  CHECK(kept_of(pool, 40) == 40);
}

TEST_CASE("the next round makes its means in the memory of the last") {
  mean_room x;
  x.prepare(contract(), shares({5, 5, 0}), id(1)).take(100).reset();
  CHECK(x.pool().idle() == 100);
  // Whatever a trainer averages.
  x.prepare(contract(), shares({9, 1, 0}), id(1));
  CHECK(x.pool().idle() == 100);
}

TEST_CASE("a round that needs another amount gets other memory, and what was "
          "lent stays") {
  mean_room x;
  auto lent = x.prepare(contract(), shares({3, 3, 4}), id(3)).take(40);
  lent->back() = 7;
  CHECK(kept_of(x.prepare(contract(), shares({3, 2, 5}), id(3)), 50) == 50);
  CHECK(lent->back() == 7);
  lent.reset(); // To nobody: its pool is gone.
  CHECK(x.pool().idle() == 50);
}
