/// The one judge: all promises of a run, told the same events.
///
/// Simulation, chaos and the demonstration each tell it what their peers log,
/// in the order in which it happens, and what they alone can look at. README.md
/// has the table of promises.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tools/lab/judge/conduct_promises.hpp"
#include "tools/lab/judge/expert_promises.hpp"
#include "tools/lab/judge/outcome_promises.hpp"
#include "tools/lab/judge/state_promises.hpp"
#include "tools/lab/judge/step_promises.hpp"
#include "tools/lab/judge/value_promises.hpp"

namespace potluck {

/// What became of one promise.
struct finding {
  std::string demand;  ///< A sentence that should be true.
  std::string problem; ///< Empty: it is.
  std::string seen;    ///< For a person.
};

class run_judge {
public:
  explicit run_judge(const terms& run);

  /// The promise of that type, for what is not in events.
  template <class Promise>
  Promise& of() {
    return std::get<Promise>(promises_);
  }
  template <class Promise>
  const Promise& of() const {
    return std::get<Promise>(promises_);
  }

  /// A peer that is not hostile told its user this.
  void told(const teller& who, duration at, const event& x);

  /// A new process of the peer continues from a checkpoint.
  void resumed(std::size_t peer, duration at, std::uint64_t step,
               std::uint64_t history_samples, const std::string& digest);

  /// The peer's process ended; what comes from that number is another one.
  void ended(const teller& who);

  /// There is no more to tell: judges what shows only in the end.
  void close(duration at);

  const course& how_far() const {
    return course_;
  }
  const ledger& all() const {
    return ledger_;
  }
  /// Of every promise that looked at anything.
  std::vector<finding> findings() const;

private:
  using promises = std::tuple<
      looked_at<ends_well>, equal_states, equal_rounds, all_finish,
      full_batches, steps_in_order, sound_checkpoints, near_parameters,
      counted_once, finite_means, fair_blame, sound_experts, looked_at<goes_on>,
      looked_at<commits_at_once>, looked_at<learns>, looked_at<stays_in_bounds>,
      looked_at<leaves_nothing>, looked_at<stays_inside>>;

  terms run_;
  ledger ledger_;
  promises promises_;
  course course_;
  std::set<std::size_t> holders_; ///< Peers that hold a step.
};

} // namespace potluck
