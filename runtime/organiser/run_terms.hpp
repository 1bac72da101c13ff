/// What holds in a run at a step: its charter, as its amendments change it.
///
/// Pure. Of amendments that say different things the one with the highest
/// number counts, from the step on from which it holds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/organiser/amendment.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

class run_terms {
public:
  /// @param all In the order of their numbers.
  run_terms(const run_settings& settings, std::vector<amendment> all);

  /// The run's last step, for whoever holds the state after step `held`.
  std::uint64_t steps(std::uint64_t held) const;

  /// The learning rate of a step, counted from 1; as the optimizer has it where
  /// no amendment says otherwise, and with the same bits everywhere.
  double rate(std::uint64_t step) const;

  /// Whether whoever holds the state after step `held` is to make no further
  /// one for now.
  bool paused(std::uint64_t held) const;

  /// What a step is made by, beside the charter: whoever has another one must
  /// not make it together with us. Empty: the charter alone.
  digest shape(std::uint64_t step) const;

  /// Whom all refuse.
  const std::set<peer_id>& banned() const {
    return banned_;
  }
  /// Nothing: as the manifest has it.
  const std::optional<admission_mode>& admission() const {
    return admission_;
  }

  /// The last roll-back, if there was any, and its amendment's number.
  struct turn {
    std::uint64_t number = 0;
    roll_back to;
  };
  const std::optional<turn>& rolled_back() const {
    return rolled_back_;
  }

private:
  /// From a step on the rate is `rate`, then goes by the run's schedule; or, if
  /// `tail` is not 0, falls to zero over so many steps before `steps` is over.
  struct piece {
    std::uint64_t from = 1;
    double rate = 0;
    std::uint64_t steps = 1;
    std::uint64_t tail = 1;
  };
  void bend(const amendment& x);

  run_settings settings_;
  std::vector<amendment> all_;
  std::vector<piece> pieces_; ///< Of two for a step the later one counts.
  std::set<peer_id> banned_;
  std::optional<admission_mode> admission_;
  std::optional<turn> rolled_back_;
};

using shared_terms = std::shared_ptr<const run_terms>;

} // namespace potluck
