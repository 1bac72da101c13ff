/// A member's course through the epochs of a round: whom it has answered last,
/// whether it leads, and what it does when a leader rules.
///
/// An epoch has one leader (`member_roll`). A member answers none below the one
/// that it has answered, and becomes a leader itself by opening a higher one.
///
/// Pure: round_agreement, which owns it, judges which messages and losses count
/// and when patience ends; what is to be done collects until `take`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/averaging/round/member_roll.hpp"
#include "runtime/averaging/round/own_side.hpp"
#include "runtime/averaging/round/round_actions.hpp"
#include "runtime/averaging/round/round_leader.hpp"

namespace potluck {

class round_course {
public:
  /// As for `round_agreement`.
  round_course(const group_contract& contract, const chunk_map& map,
               const peer_id& self, bool keeps_majority);

  member_roll& members() {
    return roll_;
  }
  const member_roll& members() const {
    return roll_;
  }
  const own_side& own() const {
    return own_;
  }
  round_leader& leader() {
    return leader_;
  }
  /// Has opened the present epoch itself.
  bool leading() const {
    return leading_;
  }
  /// It asked all where they stand, and rules when they have answered.
  bool awaits_answers() const {
    return leading_ && !leader_.ruled() && !own_.healing();
  }
  /// Chunks whose means the heal that runs has this member make.
  std::vector<std::uint32_t> to_make() const {
    return own_.ledger().to_make(epoch());
  }
  /// It has ruled in any epoch.
  bool has_ruled() const {
    return leader_.has_ruled();
  }
  /// The highest epoch answered, opened or obeyed; -1: none yet.
  std::int64_t answered() const {
    return answered_;
  }
  /// Has said where it stands, or given it up.
  bool frozen() const {
    return answered_ >= 0 || own_.decided();
  }
  /// Something is still expected of others.
  bool waiting() const;
  std::optional<std::int64_t> acting_epoch() const {
    return roll_.acting_epoch(answered_);
  }

  /// Of an abort of this member's: who said that it had other means.
  const std::vector<std::size_t>& odd_ones() const {
    return odd_ones_;
  }

  // ---- means

  void part_here(std::uint32_t chunk, std::uint64_t samples) {
    own_.part_here(chunk, samples);
  }
  void mean_here(const chunk_mean& x) {
    own_.mean_here(x);
  }
  void averaged(std::uint32_t chunk, std::vector<std::uint8_t> left_out);
  void asked(std::size_t by, const mean_request& x);
  /// Every mean that counts is here, with this digest of them all.
  void whole_vector_here(const digest& mean);

  // ---- members

  void lost(std::size_t member);
  void returned(std::size_t member);
  /// Fewer are believed alive.
  void reconsider();
  /// While this member leads: the patience has passed without progress.
  void expired();
  void call_off() {
    carry_out(round_leader::decide{});
  }
  void tell_where_i_stand(std::size_t to);
  /// Whether the round goes on without a member that gives it up of itself: it
  /// was told of no ruling, this one leads first, and most trainers are left.
  bool may_release(std::size_t member, std::uint32_t its_epoch) const;
  void release(std::size_t member);

  // ---- rulings

  /// A trainer holds every mean.
  void prepared(std::size_t member, std::uint32_t in_epoch, member_stand what);
  /// Another leader asks where this member stands.
  void answer(std::size_t leader, std::uint32_t epoch);
  /// While this member leads the epoch: where another stands.
  void stands(std::size_t member, member_stand what);
  void obey(std::size_t leader, const round_verdict& x);
  void obey(const round_heal& x);
  void settle(std::int64_t epoch);
  /// Opens the next epoch of this member's above another.
  void settle_above(std::int64_t epoch);

  round_actions take();

  /// Everything that the future depends on, as bytes.
  void fingerprint(std::string& out) const;

private:
  void follow(std::int64_t epoch);
  /// Aborts when most trainers alive are out of touch; false when not.
  bool leave_if_outnumbered();
  std::uint32_t epoch() const;
  /// What `member_stand::ruled` is by a ruling of the answered epoch.
  std::uint32_t this_ruling() const {
    return static_cast<std::uint32_t>(answered_ + 1);
  }
  void end_fetch(const vector_mark& has);
  void carry(round_leader::orders orders);
  void carry(own_side::actions wanted);
  void carry_out(const send_to_member& x);
  void carry_out(const round_leader::decide& x);
  void carry_out(const round_leader::fetch& x);
  void carry_out(const round_leader::hold&);
  void carry_out(const round_leader::settle_again& x);
  void carry_out(const round_heal& x);

  group_id group_;
  member_roll roll_;
  own_side own_;
  round_leader leader_;
  std::int64_t answered_ = -1;
  bool leading_ = false;
  std::vector<std::size_t> odd_ones_;
  round_actions out_;
};

} // namespace potluck
