/// The peer that a fetch asks for all pieces while it can. For means: one that
/// fetches the same mean, the one before this peer in a chain
/// (runtime/ways/cells/mean_chain), or a donor whose uplink is for this peer.
/// For a state: a hub that keeps it for many (`state_shelf`).
///
/// What it lists has no vote; it counts where donors name the same list. While
/// it does its work, donors are asked for lists only. Pure.
#pragma once

#include <map>
#include <utility>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/blob_key.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

class preferred_relay {
public:
  preferred_relay() = default;
  /// @param is_donor It reports the state that is to be fetched.
  preferred_relay(const peer_id& id, bool is_donor, bool is_hub = false)
      : id_(id), alone_(!id.empty()), is_donor_(is_donor), is_hub_(is_hub) {
  }

  /// Empty: nobody is preferred.
  const peer_id& id() const {
    return id_;
  }
  void forget() {
    id_ = {};
  }
  /// Whether nobody else has been asked for pieces so far.
  bool alone() const {
    return alone_;
  }
  /// Others are, from here on. @returns Whether that is new.
  bool share() {
    return std::exchange(alone_, false);
  }
  bool is_hub() const {
    return is_hub_ && !id_.empty();
  }
  /// A piece came from it.
  void sent(time_point now) {
    sent_ = now;
  }
  /// It was too slow with a piece: it is one of several from here on. A hub,
  /// which may be waiting for the piece itself, is when none has come for long.
  void was_late(time_point now) {
    late_ = late_ || !is_hub_ || now - sent_ > limits::piece_cap;
  }
  bool late() const {
    return late_;
  }
  /// It reports what is fetched: so it could be asked as a donor.
  void reports() {
    is_donor_ = true;
  }
  bool is_donor() const {
    return is_donor_;
  }

  void lists(const blob_key& key, const digest& listing) {
    if (listed_.size() < limits::joiner_means)
      listed_[key] = listing;
  }
  bool has_listed(const blob_key& key, const digest& listing) const {
    auto at = listed_.find(key);
    return !id_.empty() && at != listed_.end() && at->second == listing;
  }
  /// Whether this blob's pieces are waited for: it lists what is believed, or
  /// may be about to.
  /// @param listing What is believed, @param since since when.
  bool keeps_others_away(const blob_key& key, const digest& listing,
                         time_point since, time_point now) const {
    return !id_.empty() && !late_
           && (has_listed(key, listing)
               || now - since <= limits::chain_patience);
  }

private:
  peer_id id_;
  bool alone_ = false;
  bool late_ = false;
  bool is_donor_ = false;
  bool is_hub_ = false;
  time_point sent_{};
  std::map<blob_key, digest> listed_;
};

} // namespace potluck
