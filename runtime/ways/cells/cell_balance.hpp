/// Which contributors should go to other members, so that no sponsor has many
/// more than the others: a step waits for the fullest cell.
///
/// Pure. README.md says how that becomes known, and why it settles.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"

namespace potluck {

/// A cell is left alone up to so many times the mean number of contributors,
/// and so many more: what reports say is some seconds old.
constexpr double full_cell = 1.25;
constexpr double spare_contributors = 2;

/// Of those beyond the mean half move at a time, to members that have fewer, by
/// chance in proportion to how many fewer: all full sponsors do this at once,
/// and without knowing of each other.
/// @param contributors Of this member, all.
/// @param members The others, by what they report. Who cannot be dialled counts
/// for the mean only.
/// @param seed Of the chance.
/// @return Whom each of those that should go should go to.
std::map<peer_id, contact>
better_sponsors(const std::vector<peer_id>& contributors,
                const std::vector<progress_report>& members,
                std::uint64_t seed);

} // namespace potluck
