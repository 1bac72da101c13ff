/// Artifacts: how many donors, how long, how much.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace potluck::limits {

using namespace std::chrono_literals;

/// The part of a stated upload that fetchers of artifacts get: with the half
/// that joiners' states may take, a quarter is left for training.
constexpr double artifacts_upload_share = 0.25;
/// A donor that was asked and sends nothing for so long is done without for a
/// while: a piece through a 64 kbit/s line takes 8 s.
constexpr auto artifact_patience = 20s;
constexpr auto artifact_donor_rest = 30s;
/// One that does not have what is asked for is asked again after this, then
/// after twice as long each time: it may be fetching it.
constexpr auto artifact_retry = 1s;
constexpr auto longest_artifact_retry = 30s;
/// While others wait to be asked, the donor that has brought least in such a
/// time makes room for one of them.
constexpr auto artifact_turn = 30s;
/// Liars that are remembered; beyond, the first is forgotten. One that has made
/// room for so many costs a piece more.
constexpr std::size_t artifact_liars = 1024;

} // namespace potluck::limits
