/// From the figures of a collaboration to who averages how much.
///
/// Every member plans for itself from the same contract and compares digests,
/// so a planner must be a pure function: the same input, the same chunks, on
/// every machine.
#pragma once

#include "runtime/planning/collaboration.hpp"
#include "runtime/planning/share_plan.hpp"

namespace potluck {

class planner {
public:
  virtual ~planner() = default;

  /// Throws std::invalid_argument when there are no peers or no chunks; any
  /// other input gives a plan.
  virtual share_plan plan(const collaboration& input) const = 0;
};

/// Peers reach each other directly and every chunk is averaged in one place:
/// then the fastest exchange has a closed form (one_place.hpp, README).
/// It takes who computes as given.
class share_planner : public planner {
public:
  /// Bandwidths beyond these are not believed, in bytes per second.
  static constexpr double slowest_line = 1e3;
  static constexpr double fastest_line = 1e11;
  /// What an exchange is planned with while nobody has measured anything.
  static constexpr double unmeasured_line = 1.25e6;

  share_plan plan(const collaboration& input) const override;
};

/// A line's speeds in bytes per second, both positive.
struct line_speeds {
  double upload = 0;
  double download = 0;
};

/// Each peer's line as `share_planner` reads it: within its bounds, and like
/// the others' where nothing is known of it.
std::vector<line_speeds> believed_lines(const collaboration& input);

/// The same of the pairs that are limited.
std::vector<planned_limit> believed_limits(const collaboration& input);

/// Gradients that one sends another: its part of what the other averages, the
/// mean of what it averages itself.
double gradients_between(const collaboration& input,
                         const std::vector<double>& shares, std::size_t from,
                         std::size_t to);

/// Seconds that an exchange with these shares takes when bandwidth alone limits
/// it, by `share_planner`'s reading of the figures.
double exchange_seconds(const collaboration& input,
                        const std::vector<double>& shares);

/// The plan that this version of Potluck uses.
share_plan plan(const collaboration& input);

} // namespace potluck
