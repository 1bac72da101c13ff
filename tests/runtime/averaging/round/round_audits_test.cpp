#include "runtime/averaging/round/round_audits.hpp"

#include <set>

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;

namespace {

chunk_part part_of(std::uint32_t chunk) {
  chunk_part x;
  x.chunk = chunk;
  x.samples = 1;
  return x;
}

shared_bytes body_of_two() {
  auto value = std::make_shared<float>(2.0F);
  return {value, reinterpret_cast<const std::uint8_t*>(value.get()),
          sizeof(float)};
}

/// Member 0 of three trainers with a sample each and a chunk each, of one
/// value.
struct one_member {
  explicit one_member(aggregator how)
      : it(contract_of(setting), setting.map(), 0, averaging_rule{how},
           nullptr) {
    evidence.values = &mean;
    evidence.own = part_source::part{part_of(2), body_of_two()};
  }
  /// The chunks whose means it wants to see in some of many rounds.
  std::set<std::uint32_t> drawn(bool sees_all) {
    random_stream chance{1};
    std::set<std::uint32_t> result;
    for (std::uint64_t round = 0; round < 10000; ++round) {
      it.draw(chance, round, sees_all);
      it.all_here([&](std::uint32_t chunk) -> std::optional<mean_evidence> {
        result.insert(chunk);
        return std::nullopt;
      });
    }
    return result;
  }

  const round_setting setting{3, 0, {1, 1, 1}};
  float mean = 2;
  mean_evidence evidence;
  round_audits it;
};

} // namespace

TEST_CASE("means are looked at by chance where sums cannot be, but for one's "
          "own") {
  one_member x{aggregator::median};
  CHECK(x.drawn(true) == std::set<std::uint32_t>{1, 2});
  // A check needs everybody's parts.
  CHECK(x.drawn(false).empty());
}

TEST_CASE("of a plain mean the sums are checked, and no parts asked for") {
  one_member x{aggregator::mean};
  CHECK(x.drawn(true).empty());
}

TEST_CASE("a part belongs to a check only while its chunk is checked") {
  one_member x{aggregator::median};
  const auto body = body_of_two();
  CHECK_FALSE(x.it.shown(1, part_of(2), body));
  const auto evidence
      = [&](std::uint32_t) { return std::optional<mean_evidence>{x.evidence}; };
  // Somebody calls the mean wrong: this member sees for itself.
  CHECK_FALSE(
      x.it.receive(1, mean_challenge{{}, 2}, evidence, evidence).empty());
  CHECK(x.it.shown(1, part_of(2), body));
  CHECK_FALSE(x.it.shown(1, part_of(1), body));
  x.it.forget(2); // Its parts are for a new mean.
  CHECK_FALSE(x.it.shown(2, part_of(2), body));
}

TEST_CASE("who waited for parts in vain names whom it doubts, once") {
  one_member x{aggregator::median};
  const auto evidence
      = [&](std::uint32_t) { return std::optional<mean_evidence>{x.evidence}; };
  x.it.receive(1, mean_challenge{{}, 2}, evidence, evidence);
  x.it.shown(1, part_of(2), body_of_two());
  CHECK_FALSE(x.it.waited_for(2).empty());
  CHECK(x.it.waited_for(2).empty());
  CHECK(x.it.waited_for(1).empty()); // Nothing was asked for.
}
