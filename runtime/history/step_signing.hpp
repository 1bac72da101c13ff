/// Signs the steps that this peer makes with others, and collects what these
/// sign: their signatures come with their reports.
///
/// Pure but for the arithmetic of one signature a step. None is checked here:
/// whoever reads a step does that.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "messages/history.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

class step_signing {
public:
  /// Between two steps of the same group that are handed on to be kept.
  static constexpr duration pause = std::chrono::seconds{1};

  /// @param how Null: nothing is signed.
  step_signing(const peer_id& self, shared_signatures how)
      : self_(self), how_(std::move(how)) {
  }

  /// A step was made. @param x Unsigned, and this peer need not be in it.
  /// @return What this peer's reports say of it from here on.
  step_signature made(signed_step x);
  /// It may have signed that step.
  void heard(const progress_report& x);

  /// The newest step, once it is worth keeping: most have signed it, and it is
  /// another group's than the last one, or some time has passed.
  /// @param whole All are to have signed it.
  std::optional<signed_step> worth_keeping(bool whole, time_point now);

private:
  bool is_due(time_point now) const;

  peer_id self_;
  shared_signatures how_;
  signed_step newest_;
  signed_step kept_; ///< Handed on, last.
  time_point kept_at_{};
};

} // namespace potluck
