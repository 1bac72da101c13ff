#include "runtime/planning/who_rests.hpp"

#include <algorithm>
#include <functional>

#include "runtime/planning/planner.hpp"
#include "runtime/planning/planning_limits.hpp"

namespace potluck {

namespace {

/// Times that each member is added or removed.
constexpr int most_rounds = 4;

class resting_search {
public:
  resting_search(const group_contract& contract, const plan_rules& rules,
                 const std::set<peer_id>& unwilling)
      : contract_(contract), input_(collaboration_of(contract, rules)),
        limits_(input_.limits), best_(input_.peers.size(), false) {
    // A pair's limit takes a matching for each look, and moves little.
    input_.limits.clear();
    if (!rules.packs_thin_lines)
      input_.gradient_bytes
          = packed_bytes(rules.packs, contract.gradient_values);
    for (std::size_t i = 0; i < best_.size(); ++i) {
      all_ += samples(i);
      most_ += samples(i) > 0;
      if (samples(i) > 0 && unwilling.count(contract.members[i].who.id) == 0)
        open_.push_back(i);
    }
    most_ /= 2;
    best_seconds_ = seconds_of(best_);
  }

  resting_choice run() {
    const auto lines = believed_lines(input_);
    auto uplink = [&](std::size_t i) { return lines[i].upload; };
    auto few = [&](std::size_t i) { return samples(i); };
    along(uplink);
    along(few);
    along([&](std::size_t i) { return uplink(i) * few(i); });
    improve();
    resting_choice result;
    input_.limits = limits_;
    result.seconds_all = seconds_of(std::vector<bool>(best_.size(), false));
    result.seconds = seconds_of(best_);
    if (result.seconds * worth_resting <= result.seconds_all)
      result.rests = best_;
    else
      result.seconds = result.seconds_all;
    result.rests.resize(best_.size(), false);
    return result;
  }

private:
  double samples(std::size_t i) const {
    return static_cast<double>(contract_.members[i].samples);
  }

  double seconds_of(const std::vector<bool>& rests) {
    double left = 0;
    for (std::size_t i = 0; i < rests.size(); ++i) {
      input_.peers[i].computes = samples(i) > 0 && !rests[i];
      left += input_.peers[i].computes * samples(i);
    }
    input_.computing_seconds = contract_.computing_ms / 1e3 * all_ / left;
    const auto exchange = plan(input_).predicted_seconds;
    return input_.overlaps ? std::max(input_.computing_seconds, exchange)
                           : input_.computing_seconds + exchange;
  }

  void consider(const std::vector<bool>& rests) {
    const auto seconds = seconds_of(rests);
    if (seconds >= best_seconds_ * (1 - limits::planned_hair))
      return;
    best_seconds_ = seconds;
    best_ = rests;
  }

  /// The first few of them rest, those with the least `worth` first.
  void along(const std::function<double(std::size_t)>& worth) {
    auto order = open_;
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return worth(a) < worth(b); });
    std::vector<bool> rests(best_.size(), false);
    for (std::size_t k = 0; k < std::min(most_, order.size()); ++k) {
      rests[order[k]] = true;
      consider(rests);
    }
  }

  void improve() {
    auto before = best_seconds_ + 1;
    for (int i = 0; i < most_rounds && best_seconds_ < before; ++i) {
      before = best_seconds_;
      for (auto k : open_) {
        auto rests = best_;
        rests[k] = !rests[k];
        const auto resting = std::count(rests.begin(), rests.end(), true);
        if (static_cast<std::size_t>(resting) <= most_)
          consider(rests);
      }
    }
  }

  const group_contract& contract_;
  collaboration input_;
  std::vector<planned_limit> limits_;
  double all_ = 0;                ///< Samples.
  std::vector<std::size_t> open_; ///< Who may rest.
  std::size_t most_ = 0;          ///< That may.
  std::vector<bool> best_;
  double best_seconds_ = 0;
};

} // namespace

resting_choice choose_resting(const group_contract& contract,
                              const plan_rules& rules,
                              const std::set<peer_id>& unwilling) {
  bool lines = false;
  bool speeds = contract.computing_ms > 0;
  for (const auto& x : contract.members) {
    lines = lines || x.upload_bytes_per_second > 0;
    speeds = speeds && (x.role != role::trainer || x.samples > 0);
  }
  if (rules.shares != share_rule::planned || !lines || !speeds)
    return {std::vector<bool>(contract.members.size(), false), 0, 0};
  return resting_search{contract, rules, unwilling}.run();
}

} // namespace potluck
