#include "runtime/averaging/round_memory.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

peer_id id(int n) {
  peer_id result;
  result.bytes[0] = static_cast<std::uint8_t>(n);
  return result;
}

/// Two trainers and an auxiliary peer, of 10 chunks of a million values.
group_contract contract() {
  group_contract x;
  x.gradient_values = 10'000'000;
  x.chunk_values = 1'000'000;
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

} // namespace

TEST_CASE("what a round holds grows with the share that is averaged") {
  const auto none = round_memory(contract(), shares({5, 5, 0}), 2, {});
  const auto half = round_memory(contract(), shares({3, 2, 5}), 2, {});
  const auto all = round_memory(contract(), shares({0, 0, 10}), 2, {});
  CHECK(planned_values(contract(), shares({3, 2, 5}), 2) == 5'000'000);
  CHECK(none < 16'000'000); // Of the connections.
  CHECK(half - none >= 3 * 4 * 5'000'000);
  CHECK(all - half >= 16 * 5'000'000);
  CHECK(all - half < 16 * 5'000'000 + 5 * 5000);
}

TEST_CASE("chunks cost something, however short they are") {
  auto fine = contract();
  fine.chunk_values = 1;
  const auto n = static_cast<std::uint32_t>(fine.gradient_values);
  // Nothing is averaged here, and the ledger knows all.
  CHECK(round_memory(fine, shares({n, 0, 0}), 2, {}) > n * 20ull);
  CHECK(round_memory(fine, shares({0, 0, n}), 2, {}) > n * 4000ull);
}

TEST_CASE("a robust rule keeps every trainer's part") {
  averaging_rule median;
  median.how = aggregator::median;
  const auto plan = shares({0, 0, 10});
  CHECK(round_memory(contract(), plan, 2, median)
        == round_memory(contract(), plan, 2, {}) + 2 * 4 * 10'000'000);
}

TEST_CASE("an allowance is shared by those that take of it") {
  memory_allowance x{100};
  CHECK(x.take(id(1), 60));
  CHECK_FALSE(x.take(id(2), 50));
  CHECK(x.take(id(1), 50)); // Instead of the 60.
  CHECK(x.take(id(2), 50));
  CHECK_FALSE(x.take(id(1), 51));
  x.release(id(2));
  CHECK(x.take(id(1), 100));
  CHECK_FALSE(x.take(id(3), UINT64_MAX));
}

TEST_CASE("one alone does not take a whole allowance, unless it is favoured") {
  memory_allowance x{100, 25};
  CHECK_FALSE(x.take(id(1), 26));
  CHECK(x.take(id(1), 25));
  x.favour(id(2));
  CHECK_FALSE(x.take(id(2), 76));
  CHECK(x.take(id(2), 75));
}
