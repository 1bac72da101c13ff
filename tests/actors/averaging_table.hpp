/// Peers whose averagers a test drives: all connected, in one contract.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "actors/averager.hpp"
#include "messages/codec.hpp"
#include "runtime/planning/planner.hpp"
#include "tests/actors/node.hpp"

namespace potluck::averaging {

using namespace std::chrono_literals;

constexpr std::uint64_t values = 1000;
constexpr std::chrono::milliseconds patience = 2s;

inline averager_config config_of(const node& n) {
  averager_config result;
  result.self = n.id;
  result.intake = n.intake;
  // As matchmaking tells it that has accepted an invitation.
  auto awaited = std::make_shared<awaited_group>();
  group_id first;
  first.bytes[0] = 1;
  awaited->set(first);
  result.awaited = awaited;
  return result;
}

/// Nodes 1, 2, ... with averagers, all connected; the last may be auxiliary.
struct table {
  explicit table(std::uint8_t trainers, bool helper = false) {
    for (std::uint8_t i = 1; i <= trainers + helper; ++i) {
      std::vector<std::uint8_t> seeds;
      for (std::uint8_t j = 1; j < i; ++j)
        seeds.push_back(j);
      auto r = i > trainers ? role::auxiliary : role::trainer;
      members.push_back(std::make_unique<node>(world, i, seeds, r));
      auto& n = *members.back();
      n.replace(&wiring::averager, (*n.system).spawn(averager, config_of(n)));
      struct group_member m;
      m.who = contact_of(i);
      m.role = r;
      m.samples = i > trainers ? 0 : i;
      m.loss_sum = i;
      m.upload_bytes_per_second = i > trainers ? 1e8 : 1e6;
      m.download_bytes_per_second = m.upload_bytes_per_second;
      contract.members.push_back(m);
    }
    contract.group.bytes[0] = 1;
    contract.step = 1;
    contract.gradient_values = values;
    contract.least_samples = 1;
    contract.chunk_values = 256;
    contract.patience_ms = static_cast<std::uint32_t>(
        std::chrono::milliseconds{patience}.count());
    REQUIRE(world.run_until(
        [&] {
          return std::all_of(members.begin(), members.end(), [&](auto& n) {
            return n->companions() == members.size() - 1;
          });
        },
        10s));
  }

  float value(std::size_t member, std::size_t i) const {
    return static_cast<float>(member + 1) * 0.5f + static_cast<float>(i % 13);
  }
  std::shared_ptr<std::vector<float>> gradient(std::size_t member) const {
    auto result = std::make_shared<std::vector<float>>(values);
    for (std::size_t i = 0; i < values; ++i)
      (*result)[i] = value(member, i);
    return result;
  }

  void begin(std::size_t member,
             std::shared_ptr<const std::vector<float>> own) {
    begin(member, begin_round{contract, plan(collaboration_of(contract))},
          std::move(own));
  }
  void begin(std::size_t member, const begin_round& order,
             std::shared_ptr<const std::vector<float>> own) {
    const auto& it = members[member]->wired.averager;
    caf::anon_send(it, order);
    if (own)
      caf::anon_send(it, gradient_lent{std::move(own), order.contract.group});
  }
  void begin(std::size_t member) {
    bool trains = contract.members[member].role == role::trainer;
    begin(member, trains ? gradient(member) : nullptr);
  }
  void begin_all() {
    for (std::size_t i = 0; i < members.size(); ++i)
      begin(i);
  }

  /// This member says so to another, whatever its averager does.
  void say(std::size_t from, std::size_t to, message what,
           shared_bytes body = {}) {
    caf::anon_send(members[from]->wired.gateway,
                   parcel{members[to]->id, std::move(what), std::move(body)});
  }

  std::optional<round_over> outcome(std::size_t member) const {
    auto all = members[member]->conductor->all<round_over>();
    CHECK(all.size() <= 1);
    return all.empty() ? std::nullopt : std::optional<round_over>{all.back()};
  }
  bool decided(std::vector<std::size_t> who) const {
    return std::all_of(who.begin(), who.end(),
                       [&](auto i) { return outcome(i).has_value(); });
  }
  /// It has the mean of all members' gradients, or of these members'.
  void check_mean(std::size_t member, std::vector<std::size_t> of = {}) const {
    if (of.empty())
      for (std::size_t i = 0; i < members.size(); ++i)
        of.push_back(i);
    auto over = outcome(member);
    REQUIRE(over);
    CHECK(over->committed);
    REQUIRE(over->mean);
    double samples = 0;
    for (auto i : of)
      samples += static_cast<double>(contract.members[i].samples);
    CHECK(over->samples == static_cast<std::uint64_t>(samples));
    double worst = 0;
    for (std::size_t i = 0; i < values; ++i) {
      double sum = 0;
      for (auto m : of)
        if (contract.members[m].samples > 0)
          sum += value(m, i);
      worst = std::max(worst, std::abs(sum / samples - (*over->mean)[i]));
    }
    CHECK(worst < 1e-5);
  }
  /// The members at these places went on without the last one.
  void check_healed(const std::vector<std::size_t>& who,
                    std::uint8_t without) const {
    for (auto i : who) {
      check_mean(i, who);
      CHECK(outcome(i)->healed);
      CHECK(outcome(i)->left_out == std::vector<std::uint8_t>{without});
      CHECK(*outcome(i)->mean == *outcome(who[0])->mean);
    }
  }

  test_world world;
  std::vector<std::unique_ptr<node>> members;
  group_contract contract;
};

inline bool is_averaging(const outgoing_frame& frame) {
  auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
  return x
         && (std::holds_alternative<chunk_part>(*x)
             || std::holds_alternative<chunk_mean>(*x)
             || std::holds_alternative<mean_request>(*x)
             || std::holds_alternative<round_prepared>(*x)
             || std::holds_alternative<round_settle>(*x)
             || std::holds_alternative<round_standing>(*x)
             || std::holds_alternative<round_heal>(*x)
             || std::holds_alternative<round_verdict>(*x));
}

} // namespace potluck::averaging
