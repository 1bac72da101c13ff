/// A training loop outside of Potluck, as a step counts on it: which parameters
/// it has, how long its batches take, and which of its gradients still count.
///
/// Pure: the time comes in. Who waits for whom is its owner's business.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Compute waits so long for the loop's gradient, then looks whether there is
/// something else to do: others wait for that, so that it is not long; but it
/// is told of on the way, so that it is not short.
constexpr auto loop_patience = 100ms;
/// The same where a gradient is about to come: a leader waits no shorter for an
/// answer (runtime/step/telling.cpp).
constexpr auto loop_wait = 3s;

} // namespace potluck::limits

namespace potluck {

class loop_account {
public:
  /// @param delayed Gradients may be computed with parameters that are one step
  ///     old (actors/README.md, "Delayed updates").
  explicit loop_account(bool delayed = false) : delayed_(delayed) {
  }

  /// Batches read the parameters of this state from here on.
  void shows(std::uint64_t step, const digest& state);
  /// The figures of an account that this one takes the place of.
  void carries(std::uint64_t samples, std::uint64_t stale) {
    samples_ = samples;
    stale_ = stale;
  }

  /// Whether the loop has other parameters than batches read.
  bool is_new() const {
    return newest_ && !(taken_ && *taken_ == *newest_);
  }
  /// The loop has those that batches read, and goes on.
  void takes(time_point now);
  /// It has those that it had, and goes on.
  void goes_on(time_point now) {
    began_ = now;
  }
  /// Whether it has any.
  bool has_parameters() const {
    return taken_.has_value();
  }
  /// The step of those that it has.
  std::uint64_t taken() const {
    return taken_ ? taken_->step : 0;
  }

  /// Whether a gradient counts that the loop has computed with what it has.
  bool counts() const;
  /// It was added. @return Seconds that it took.
  double added(std::uint64_t samples, time_point now);
  /// It was not, for it was too old.
  void dropped(std::uint64_t samples, time_point now);

  std::uint64_t samples() const {
    return samples_;
  }
  std::uint64_t stale() const {
    return stale_;
  }

  /// How long compute waits for a gradient from `now` on: longer where one is
  /// about to come, so that a group gets it.
  duration patience(time_point now) const;

private:
  struct version {
    std::uint64_t step = 0;
    digest state;

    bool operator==(const version& x) const {
      return step == x.step && state == x.state;
    }
  };
  void measure(time_point now);

  bool delayed_;
  std::optional<version> newest_;
  std::optional<version> taken_;
  bool one_behind_ = false; ///< The newest is one step behind the last one.
  version last_;            ///< That was the newest before.
  std::uint64_t samples_ = 0;
  std::uint64_t stale_ = 0;
  std::optional<time_point> began_; ///< The batch that the loop is at.
  double usual_ = 0;                ///< Seconds of its batches; 0: unknown.
};

} // namespace potluck
