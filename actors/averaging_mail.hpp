/// What the averager, its reducers and the thread that receives say to each
/// other (actors/mailbox.hpp has the other messages).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/message.hpp"

namespace potluck {

/// The round that an averager has begun: its successor, should it crash, has to
/// tell the other members that this peer is out of it.
struct round_begun {
  group_id group;
  std::vector<peer_id> members;
};
/// Averager to itself: it has been out of touch with all others of its round
/// for as long as a line takes to come back.
struct out_of_touch {
  group_id group;
};
/// To a reducer: one member's part of its chunk.
struct part_arrived {
  std::size_t member = 0; ///< Index in the contract.
  chunk_part head;
  shared_bytes body;
};
/// To a reducer: these members' parts will not come.
struct part_given_up {
  std::vector<std::uint8_t> members; ///< Indices in the contract.
};
/// To a reducer, from the thread that added to its sum: this member's part is
/// no good, and was left out.
struct part_unfit {
  std::size_t member = 0;
  std::string why;
};
/// Likewise: every part is in the sum that it waited for.
struct parts_complete {};
/// From a reducer, once, when every part is in that it waited for.
struct mean_ready {
  group_id group;
  std::uint32_t chunk = 0;
  std::shared_ptr<const std::vector<float>> values;
  std::vector<std::uint8_t> left_out; ///< Members whose part is not in it.
  /// Of each member's part; empty where there is none.
  std::vector<digest> parts;
};
/// The averager to itself: the findings, or the parts of a chunk that it
/// checks, have been waited for.
struct inquiry_due {
  group_id group;
  std::optional<std::uint32_t> chunk; ///< None: the findings.
};
/// From a reducer: a member sent something that cannot be summed.
struct part_refused {
  group_id group;
  std::uint32_t chunk = 0;
  std::size_t member = 0;
  std::string why;
};
/// From a reducer: no part has come for as long as a member is waited for.
struct parts_overdue {
  group_id group;
  std::uint32_t chunk = 0;
};
/// To the averager, from the thread that received: every mean of the round is
/// in its place that comes by this way.
struct means_placed {
  group_id group;
};

} // namespace potluck
