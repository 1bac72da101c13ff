/// The learning rate of each step: a linear warm-up to the peak, then a tail.
///
/// Rates have the same bits everywhere: only + - * / and the square root.
/// Adding a tail is a file beside this, and its line in schedule.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/state/charter.hpp"

namespace potluck {

struct schedule {
  const char* name;
  const char* meaning; ///< For people.
  bool ends_at_zero;   ///< It would be there one step after the last.
  /// The rate of `step`, from `begin` + 1 to `end`, where `begin` is the step
  /// that had the `peak`, or 0, and `end` the run's last.
  double (*rate)(double peak, std::uint64_t begin, std::uint64_t end,
                 std::uint64_t step);
};

/// In the order of the help.
const std::vector<const schedule*>& schedules();

/// Null when there is none of that name.
const schedule* find_schedule(const std::string& name);

/// A straight fall to zero: what an organiser's tail is where the run's own has
/// no end.
const schedule& linear_schedule();

/// That of the run. Throws std::logic_error when its name, or the optimizer's,
/// is unknown, as it is in no charter.
const schedule& schedule_of(const run_settings& settings);

/// The rate of update number `step`, counted from 1: rises linearly to the peak
/// at `warmup_steps`, then goes by the tail. Zero for step 0 and behind the
/// run's end.
double learning_rate_at(const run_settings& settings, std::uint64_t step);

} // namespace potluck
