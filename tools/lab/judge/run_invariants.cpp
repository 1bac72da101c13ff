#include "tools/lab/judge/run_invariants.hpp"

#include <algorithm>
#include <cmath>

#include "tools/lab/scenario/scenario.hpp"
#include "tools/lab/sim/simulated_model.hpp"

namespace potluck {

namespace {

/// Enough to see what is wrong; a broken run would fill the memory.
constexpr std::size_t most_violations = 100;

std::string name_of(std::size_t peer) {
  return "peer " + std::to_string(peer);
}

} // namespace

void run_invariants::check(bool holds, duration at,
                           const std::string& sentence) {
  ++checks_;
  if (!holds && violations_.size() < most_violations)
    violations_.push_back("at " + std::to_string(to_seconds(at))
                          + " s: " + sentence);
}

void run_invariants::process_ended(std::size_t peer) {
  auto gone = peers_.find(peer);
  if (gone == peers_.end())
    return;
  bool held = gone->second.step.has_value();
  peers_.erase(gone);
  for (auto& [step, x] : held_)
    x.erase(peer);
  bool others = std::any_of(peers_.begin(), peers_.end(), [](const auto& x) {
    return x.second.step.has_value();
  });
  if (held && !others)
    begin_history();
}

void run_invariants::resumed(std::size_t peer, duration at, std::uint64_t step,
                             std::uint64_t history_samples,
                             const std::string& digest) {
  auto& known = peers_[peer];
  known = {};
  known.step = step;
  known.history = history_samples;
  auto then = ever_.find(step);
  check(then == ever_.end() || then->second.count(digest) != 0, at,
        name_of(peer) + " continues from a checkpoint of step "
            + std::to_string(step) + " with parameters that nobody had");
}

void run_invariants::begin_history() {
  for (auto& [step, x] : tries_) {
    committed_before_ += x.committed;
    at_once_before_ += x.committed && x.groups.size() == 1;
  }
  tries_.clear();
  states_.clear();
  held_.clear();
  reached_ = 0;
}

void run_invariants::told(std::size_t peer, duration at, const event& x) {
  auto& known = peers_[peer];
  if (x.name == "step") {
    step_applied(peer, at, x);
  } else if (x.name == "round") {
    auto group = field_of<std::string>(x, "group");
    auto step = field_of<std::uint64_t>(x, "step");
    auto committed = field_of<std::string>(x, "outcome") == "committed";
    if (committed) {
      known.group = group;
      known.group_step = step;
    }
    auto& all = tries_[step];
    // Redrawn groups make a step side by side.
    all.groups.insert(committed && field_of<bool>(x, "redrawn") ? "committed"
                                                                : group);
    all.committed = all.committed || committed;
  } else if (x.name == "state_download") {
    known = {};
    known.step = field_of<std::uint64_t>(x, "step");
    known.group.clear();
  } else if (x.name == "fault"
             && field_of<std::string>(x, "what") == "mean refused") {
    auto why = field_of<std::string>(x, "detail");
    check(why.find("not finite") == std::string::npos, at,
          name_of(peer) + " committed a round whose mean is not finite");
  } else if (x.name == "ban") {
    auto who = field_of<std::string>(x, "peer");
    check(!rules_.honest.count(who), at,
          name_of(peer) + " banned the honest peer " + who + ": "
              + field_of<std::string>(x, "detail"));
  } else if (x.name == "fault"
             && field_of<std::string>(x, "what") == "bad data") {
    auto who = field_of<std::string>(x, "peer");
    check(!rules_.honest.count(who), at,
          name_of(peer) + " found bad data in what the honest peer " + who
              + " sent: " + field_of<std::string>(x, "detail"));
  } else if (x.name == "fault"
             && field_of<std::string>(x, "what") == "bad donor") {
    // Who is slow or gone may be given up; who served the truth is no liar.
    auto who = field_of<std::string>(x, "peer");
    auto detail = field_of<std::string>(x, "detail");
    check(!rules_.honest.count(who)
              || detail.find("its pieces do not make") == std::string::npos,
          at,
          name_of(peer) + " says of the honest donor " + who + ": " + detail);
  }
}

void run_invariants::step_applied(std::size_t peer, duration at,
                                  const event& x) {
  auto step = field_of<std::uint64_t>(x, "step");
  auto digest = field_of<std::string>(x, "digest");
  auto samples = field_of<std::uint64_t>(x, "samples");
  auto history = field_of<std::uint64_t>(x, "history_samples");
  auto where = name_of(peer) + ", step " + std::to_string(step);
  auto& known = peers_[peer];
  const auto averaged = field_of<std::string>(x, "averaged");
  const auto redrawn = !averaged.empty();
  check(!redrawn || rules_.most_drift > 0, at,
        where + ": its group was redrawn, in a run that does not do that");

  // Of the target batch a redrawn group has its part, a step all of it.
  check(samples >= (redrawn ? 1 : rules_.target_batch), at,
        where + ": only " + std::to_string(samples)
            + " samples are behind it, of a target batch of "
            + std::to_string(rules_.target_batch));
  if (redrawn)
    samples = rules_.target_batch;
  check(!known.step || step == *known.step + 1, at,
        where + " follows step " + std::to_string(known.step.value_or(0)));
  check(!known.history || history == *known.history + samples, at,
        where + ": its history grew by "
            + std::to_string(history - known.history.value_or(0))
            + " samples instead of " + std::to_string(samples));
  known.step = step;
  known.history = history;

  ever_[step].insert(digest);
  if (redrawn)
    digest = averaged;
  auto [state, fresh] = states_[step].emplace(digest, peer);
  if (fresh && states_[step].size() > 1 && !redrawn) {
    splits_.insert(step);
    check(rules_.may_split, at,
          where + ": " + name_of(states_[step].begin()->second)
              + " holds other parameters");
  } else {
    check(true, at, {});
  }
  if (!known.group.empty() && known.group_step == step) {
    auto [round, first]
        = rounds_.emplace(known.group, std::make_pair(digest, peer));
    check(first || round->second.first == digest, at,
          where + ": after the same round " + name_of(round->second.second)
              + " holds other parameters");
  }

  longest_ = std::max(longest_, history);
  if (history > reached_) {
    reached_ = history;
    last_progress_ = at;
    last_loss_ = field_of<double>(x, "loss");
  }
  highest_step_ = std::max(highest_step_, step);
}

void run_invariants::parameters_seen(std::size_t peer, duration at,
                                     std::uint64_t step,
                                     std::vector<float> values) {
  if (rules_.most_drift <= 0)
    return;
  const auto length = [](const std::vector<float>& x) {
    double squares = 0;
    for (double value : x)
      squares += value * value;
    return std::sqrt(squares);
  };
  const auto own = length(values);
  double furthest = 0;
  std::size_t from = peer;
  for (auto& [other, theirs] : held_[step]) {
    if (other == peer || theirs.size() != values.size())
      continue;
    double squares = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double apart = values[i] - theirs[i];
      squares += apart * apart;
    }
    const auto longest = std::max(own, length(theirs));
    const auto part = longest > 0 ? std::sqrt(squares) / longest : 0;
    if (part > furthest)
      from = other;
    furthest = std::max(furthest, part);
  }
  drift_ = std::max(drift_, furthest);
  check(furthest <= rules_.most_drift, at, [&] {
    return name_of(peer) + ", step " + std::to_string(step) + ": "
           + name_of(from) + "'s parameters are "
           + std::to_string(furthest * 100) + " % of their length apart, of "
           + std::to_string(rules_.most_drift * 100) + " % at most";
  });
  held_[step][peer] = std::move(values);
  while (held_.size() > steps_compared)
    held_.erase(held_.begin());
}

void run_invariants::tally_seen(std::size_t peer, duration at, float mean) {
  check(tally_is_right(mean, rules_.rounded), at,
        name_of(peer) + " sent a mean that counts samples "
            + std::to_string(mean) + " times instead of once");
}

double run_invariants::first_try() const {
  auto committed = committed_before_;
  auto at_once = at_once_before_;
  for (auto& [step, x] : tries_) {
    committed += x.committed;
    at_once += x.committed && x.groups.size() == 1;
  }
  return committed == 0
             ? 1
             : static_cast<double>(at_once) / static_cast<double>(committed);
}

} // namespace potluck
