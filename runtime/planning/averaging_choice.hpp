/// Which way of averaging suits a collaboration: one group, two levels
/// (runtime/cells), or groups that are drawn anew for every step
/// (runtime/moshpit).
///
/// Pure: a function of a round's contract, which all its members hold, and of
/// the run's settings, so they all choose alike and no leader is believed. The
/// figures are claims: middles count, not sums or maxima, so that a lying
/// minority cannot turn the choice. README.md has the model.
#pragma once

#include <string>

#include "messages/matchmaking.hpp"

namespace potluck {

enum class averaging_way {
  one_group,  ///< All trainers are members.
  two_levels, ///< Some contribute through members.
  moshpit,    ///< Many groups side by side, drawn anew for every step.
};

/// "one group", "two levels", "moshpit": as the log says it.
std::string to_string(averaging_way x);

struct averaging_choice {
  averaging_way way = averaging_way::one_group;
  /// The figures were there to compare. If not, `way` is what the contract
  /// shows, and says nothing for or against another.
  bool compared = false;
  /// What averaging a step takes when bandwidth alone limits it, in seconds; 0
  /// where it was not compared. That of one group is what it would be if all
  /// reached each other.
  double one_group_seconds = 0;
  double two_levels_seconds = 0;
  double moshpit_seconds = 0;
  /// Samples that would be computed in vain in redrawn groups, as a part of
  /// all: whose group has nobody that all reach has no mean.
  double lost = 0;
  /// With computing, and with what is lost computed again; 0: not compared.
  double exact_step_seconds = 0;
  double moshpit_step_seconds = 0;
  std::string why; ///< For people: a sentence without its full stop.
};

/// So many times faster a step has to be in redrawn groups: they give up equal
/// bits, and cannot go back.
constexpr double moshpit_is_worth = 1.5;

/// So many times as long as their bytes take on the lines rounds and downloads
/// of redrawn groups took together, where half were behind NAT and averaging
/// took most of the time (README.md): who downloads is missing in its group.
constexpr double moshpit_is_slower = 3;

/// Measured (tools/scenarios/moshpit.json): the steps that are lost to those
/// behind NAT, and to others.
constexpr double lost_steps_apart = 0.45;
constexpr double lost_steps_open = 0.07;

/// @param contract Of a round of the run as one: not of a redrawn group.
/// @param group_size Trainers that average together at most. At least 2.
/// @param obstacle Why groups are not to be redrawn, a part of a sentence;
/// empty: they may.
averaging_choice choose_averaging(const group_contract& contract,
                                  std::size_t group_size,
                                  const std::string& obstacle);

} // namespace potluck
