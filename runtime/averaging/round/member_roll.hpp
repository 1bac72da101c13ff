/// The members of a round, and which of them can be talked to.
///
/// It also says whose turn to lead is: epoch `e` is led by member `e` modulo
/// their number, and a member believes in the lowest epoch, not below the one
/// that it answered last, whose leader is a trainer believed alive.
///
/// Pure: it is told of losses, and does not know the protocol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "messages/matchmaking.hpp"

namespace potluck {

class member_roll {
public:
  struct entry {
    peer_id id;
    bool trains = true;
    std::uint64_t samples = 0; ///< As in the contract.
    bool down = false;         ///< Its session ended: for good.
    bool returned = false;     ///< Down, but it lives.
    bool suspected = false; ///< Was silent for too long; a message clears it.
    bool gave_up = false;   ///< Has left the round of itself: for good.

    bool lost() const {
      return down || suspected || gave_up;
    }
  };

  /// @param contract Trainers before auxiliaries, the first a trainer, no id
  /// twice. Throws std::invalid_argument otherwise, or when `self` is missing.
  member_roll(const group_contract& contract, const peer_id& self);

  std::size_t size() const {
    return members_.size();
  }
  std::size_t self() const {
    return self_;
  }
  const entry& operator[](std::size_t member) const {
    return members_[member];
  }
  const entry& own() const {
    return members_[self_];
  }
  /// Place in the contract, or `size()` for strangers.
  std::size_t index_of(const peer_id& id) const;
  /// Another member, with whom nothing is over.
  bool in_touch(std::size_t member) const {
    return member < size() && member != self_ && !members_[member].down;
  }

  void lose(std::size_t member) {
    members_[member].down = true;
  }
  void give_back(std::size_t member) {
    members_[member].returned = true;
  }
  void release(std::size_t member) {
    members_[member].gave_up = true;
  }
  void suspect(std::size_t member) {
    members_[member].suspected = true;
  }
  void trust(std::size_t member) {
    members_[member].suspected = false;
  }
  /// Of each member: its session ended.
  std::vector<bool> down() const;

  std::size_t leader_of(std::int64_t epoch) const {
    return static_cast<std::size_t>(epoch) % size();
  }
  /// The epoch to believe in; none when no trainer is left.
  /// @param answered The one answered last; -1: none.
  std::optional<std::int64_t> acting_epoch(std::int64_t answered) const;

  /// Most trainers that live are out of touch; of two halves, the one without
  /// the first trainer.
  bool outnumbered() const;
  /// Without that member, more than half of the trainers are believed alive.
  bool most_without(std::size_t member) const;
  /// Of those believed alive, this member included.
  std::uint64_t samples_alive() const;
  /// The first trainer that can be talked to, this member and that one aside.
  std::optional<std::size_t> first_but(std::size_t member) const;

  /// Everything that the future depends on, as bytes.
  void fingerprint(std::string& out) const;

private:
  std::vector<entry> members_;
  std::size_t self_;
};

} // namespace potluck
