/// The way from one state to the present, mean by mean.
///
/// The trainer applies one mean at a time, in the order of their steps, and
/// after each must hold the state that the mean's list names. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "messages/ids.hpp"

namespace potluck {

class mean_course {
public:
  mean_course() = default;
  /// The way begins behind this step.
  /// @param with_trainer It holds that state; else that is being fetched.
  mean_course(std::uint64_t step, bool with_trainer)
      : at_(step), with_trainer_(with_trainer) {
  }
  /// It has a job that leads there.
  void await(std::uint64_t step, const digest& state) {
    with_trainer_ = true;
    awaited_ = {step, state};
  }
  enum class verdict {
    unasked, ///< No job leads to that step.
    wrong,   ///< The job did not lead to the state that it should.
    arrived,
  };
  /// The trainer holds this now.
  verdict applied(std::uint64_t step, const digest& state) {
    if (!awaited_ || step != awaited_->first)
      return verdict::unasked;
    if (state != awaited_->second)
      return verdict::wrong;
    *this = {step, true};
    return verdict::arrived;
  }

  /// Where the trainer is, or the state that comes.
  std::uint64_t at() const {
    return at_;
  }
  bool with_trainer() const {
    return with_trainer_;
  }
  bool waits_for_trainer() const {
    return awaited_.has_value();
  }

  enum class turn {
    wait,
    apply, ///< The mean after `at()`.
    stuck, ///< It can no longer be had, and later ones need it.
    level, ///< There is none: the joiner is where the run is.
  };
  struct view {
    bool listed = false;   ///< Somebody has named the mean after `at()`.
    bool complete = false; ///< It is here.
    bool later = false;    ///< Means behind it are known of.
    bool asked = false;    ///< Somebody may yet say what it has.
    bool expected = false; ///< The goal is not reached: there must be more.
  };
  turn look(const view& x) const {
    if (x.later && !x.asked && !x.listed)
      return turn::stuck;
    if (!with_trainer_ || awaited_)
      return turn::wait;
    if (x.complete)
      return turn::apply;
    return x.later || x.listed || x.expected ? turn::wait : turn::level;
  }

private:
  std::uint64_t at_ = 0;
  bool with_trainer_ = false;
  std::optional<std::pair<std::uint64_t, digest>> awaited_;
};

} // namespace potluck
