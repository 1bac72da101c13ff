/// Rounds of members that send the largest of their values: what the means
/// hold, and what each member has in them.
#include "actors/averager.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "messages/codec.hpp"
#include "runtime/planning/planner.hpp"
#include "tests/actors/node.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t chunk_values = 256;
constexpr std::size_t chunks = 8;
constexpr std::size_t values = chunks * chunk_values;
constexpr std::size_t trainers = 3;

using floats = std::vector<float>;

/// Three trainers, connected; each averages some of the chunks.
struct sparse_group {
  sparse_group() {
    for (std::uint8_t i = 1; i <= trainers; ++i) {
      std::vector<std::uint8_t> seeds;
      for (std::uint8_t j = 1; j < i; ++j)
        seeds.push_back(j);
      members.push_back(std::make_unique<node>(world, i, seeds));
      auto& n = *members.back();
      averager_config c;
      c.self = n.id;
      c.intake = n.intake;
      c.packing = packing::topk;
      n.replace(&wiring::averager, (*n.system).spawn(averager, c));
      struct group_member m;
      m.who = contact_of(i);
      m.samples = i;
      m.upload_bytes_per_second = m.download_bytes_per_second = 1e6;
      contract.members.push_back(m);
    }
    contract.group.bytes[0] = 1;
    contract.step = 1;
    contract.gradient_values = values;
    contract.least_samples = 1;
    contract.chunk_values = chunk_values;
    contract.patience_ms = 2000;
    shares = plan(collaboration_of(contract));
    REQUIRE(world.run_until(
        [&] {
          return std::all_of(members.begin(), members.end(), [](auto& n) {
            return n->companions() == trainers - 1;
          });
        },
        10s));
    random_stream chance{5};
    for (std::size_t i = 0; i < trainers; ++i) {
      auto gradient = std::make_shared<floats>(values);
      for (auto& x : *gradient)
        x = static_cast<float>(chance.uniform01() * 2 - 1);
      gradients.push_back(gradient);
    }
  }

  void begin(std::size_t member) {
    caf::anon_send(members[member]->wired.averager,
                   begin_round{contract, shares, gradients[member]});
  }
  std::optional<round_over> outcome(std::size_t member) const {
    auto all = members[member]->conductor->all<round_over>();
    return all.empty() ? std::nullopt : std::optional<round_over>{all.back()};
  }
  std::size_t owner(std::uint32_t chunk) const {
    return chunk_map{values, chunk_values, shares.chunks}.owner(chunk);
  }
  /// What a member has in the mean of a chunk, by what it says itself.
  floats counted(std::size_t member, std::uint32_t chunk) const {
    auto at = gradients[member]->begin()
              + static_cast<std::ptrdiff_t>(chunk * chunk_values);
    own_parts part;
    part.offered = std::make_shared<floats>(at, at + chunk_values);
    part.fates = {outcome(member)->own->fates.at(chunk)};
    auto rest = residual_after(part, chunk_values, packing::topk);
    floats result(chunk_values);
    for (std::size_t i = 0; i < chunk_values; ++i)
      result[i] = (*part.offered)[i] - (*rest)[i];
    return result;
  }
  /// By how much a mean differs from that of what members say they have in it,
  /// in halves of what its rounding may do.
  double worst(std::uint32_t chunk, const std::vector<std::size_t>& who) const {
    std::vector<double> sum(chunk_values, 0.0);
    double samples = 0;
    for (auto member : who) {
      auto part = counted(member, chunk);
      for (std::size_t i = 0; i < chunk_values; ++i)
        sum[i] += part[i];
      samples += static_cast<double>(contract.members[member].samples);
    }
    double off = 0;
    double largest = 0;
    for (std::size_t i = 0; i < chunk_values; ++i) {
      auto mean = (*outcome(who.front())->mean)[chunk * chunk_values + i];
      off = std::max(off, std::abs(sum[i] / samples - mean));
      largest = std::max(largest, std::abs(sum[i] / samples));
    }
    return off / (largest / 254 * 1.001 + 1e-6);
  }

  test_world world;
  std::vector<std::unique_ptr<node>> members;
  std::vector<std::shared_ptr<floats>> gradients;
  group_contract contract;
  share_plan shares;
};

} // namespace

TEST_CASE("parts go as their largest values, means as int8, and all hold the "
          "same bits") {
  sparse_group t;
  std::size_t parts = 0;
  std::size_t means = 0;
  t.world.network.judge_frames([&](auto&, auto&, auto& frame) {
    auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (!x)
      return memory_network::fate::arrives;
    if (auto part = std::get_if<chunk_part>(&*x)) {
      ++parts;
      CHECK(part->packing == packing::topk);
      CHECK(frame.body.size == 4 + 3 * chunk_values / 32);
    } else if (auto mean = std::get_if<chunk_mean>(&*x)) {
      ++means;
      CHECK(mean->packing == packing::int8);
    }
    return memory_network::fate::arrives;
  });
  for (std::size_t i = 0; i < trainers; ++i)
    t.begin(i);
  t.world.settle();
  for (std::size_t i = 0; i < trainers; ++i) {
    auto over = t.outcome(i);
    REQUIRE(over);
    REQUIRE(over->committed);
    CHECK(*over->mean == *t.outcome(0)->mean);
    REQUIRE(over->own);
    CHECK((over->own->offered == t.gradients[i]));
    for (std::uint32_t c = 0; c < chunks; ++c)
      CHECK(over->own->fates.at(c)
            == (t.owner(c) == i ? part_fate::whole : part_fate::packed));
  }
  CHECK(parts >= chunks * (trainers - 1)); // Checks ask for some more.
  CHECK(means == chunks * (trainers - 1));
  for (std::uint32_t c = 0; c < chunks; ++c)
    CHECK(t.worst(c, {0, 1, 2}) <= 1);
}

TEST_CASE("who was left out of a chunk hears that its part is not in it") {
  sparse_group t;
  // The second member's part of the last chunk cannot be summed.
  const auto bad = static_cast<std::uint32_t>(chunks - 1);
  REQUIRE(t.owner(bad) != 1);
  (*t.gradients[1])[bad * chunk_values + 3]
      = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t i = 0; i < trainers; ++i)
    t.begin(i);
  t.world.settle();
  auto over = t.outcome(1);
  REQUIRE(over);
  REQUIRE(over->committed);
  CHECK(over->left_out == std::vector<std::uint8_t>{1});
  for (std::uint32_t c = 0; c < chunks; ++c)
    CHECK((over->own->fates.at(c) == part_fate::none) == (c == bad));
  CHECK(t.worst(bad, {0, 2}) <= 1);
  CHECK(t.worst(0, {0, 1, 2}) <= 1);
}

TEST_CASE("what members have in healed means is what they say") {
  // A member is lost at many moments; the others' books must fit the means.
  int healed = 0;
  for (std::size_t victim = 0; victim < trainers; ++victim)
    for (int frames = 0; frames < 60; frames += 3) {
      CAPTURE(victim);
      CAPTURE(frames);
      sparse_group t;
      int left = frames;
      t.world.network.judge_frames([&](auto& from, auto&, auto&) {
        if (from != host(static_cast<std::uint8_t>(victim + 1)))
          return memory_network::fate::arrives;
        return left-- > 0 ? memory_network::fate::arrives
                          : memory_network::fate::lost;
      });
      for (std::size_t i = 0; i < trainers; ++i)
        t.begin(i);
      t.world.run_for(100ms);
      t.members[victim]->crash();
      std::vector<std::size_t> others;
      for (std::size_t i = 0; i < trainers; ++i)
        if (i != victim)
          others.push_back(i);
      REQUIRE(t.world.run_until(
          [&] { return t.outcome(others[0]) && t.outcome(others[1]); }, 60s));
      if (!t.outcome(others[0])->committed)
        continue;
      REQUIRE(t.outcome(others[1])->committed);
      healed += t.outcome(others[0])->healed;
      for (std::uint32_t c = 0; c < chunks; ++c) {
        // With the lost one's part where it had come, without it elsewhere.
        t.members[victim]->conductor->clear();
        auto mean = t.outcome(others[0]);
        auto fit = t.worst(c, others);
        for (auto fate : {part_fate::packed, part_fate::whole}) {
          auto lost = *mean;
          auto own = std::make_shared<own_parts>();
          own->fates.assign(chunks, fate);
          lost.own = own;
          caf::anon_send(t.members[victim]->conductor.handle, lost);
          t.members[victim]->system.run();
          fit = std::min(fit, t.worst(c, {others[0], others[1], victim}));
        }
        CHECK(fit <= 1);
      }
    }
  CHECK(healed > 5);
}
