/// A donor's side: which versions and means it keeps, for whom, and what it
/// answers.
///
/// Pure: facts and the time come in, actions go out. Training never waits for
/// it: it serves shared, unchanging snapshots and means. Its parts:
/// `joiner_wishes` who wants what, `serving_budget` who gets how much,
/// `served_versions`, `mean_journal` and `coming_means` what is here to give.
#pragma once

#include <functional>

#include "messages/message.hpp"
#include "runtime/state/coming_means.hpp"
#include "runtime/state/joiner_wishes.hpp"
#include "runtime/state/mean_journal.hpp"
#include "runtime/state/served_versions.hpp"
#include "runtime/state/serving_budget.hpp"
#include "runtime/state/state_action.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

class state_donor {
public:
  struct bounds {
    serving_budget::bounds serving;
    mean_journal::bounds journal;
    std::size_t snapshots;
  };
  explicit state_donor(bounds most);

  /// What is kept of earlier, for whoever asks which state that is: it is told
  /// the digest, and gets nothing.
  void keeps(std::function<digest(std::uint64_t step)> what) {
    kept_ = std::move(what);
  }

  // What this peer holds.
  state_actions holds(std::uint64_t step, const digest& state, time_point now);
  state_actions passed(passed_mean mean, time_point now);
  state_actions copied(std::shared_ptr<const training_state> state,
                       time_point now);

  // What it fetches: whoever holds the state before gets its pieces as they
  // come, those asked for earlier included.
  state_actions expects(coming_mean mean, time_point now);
  state_actions placed(const coming_piece& x, time_point now);
  /// Nothing more comes of what this peer has not applied by now.
  state_actions expects_no_more(time_point now);

  // What joiners say.
  state_actions read(const peer_id& from, const state_request& x,
                     time_point now);
  state_actions read(const peer_id& from, const piece_request& x,
                     time_point now);
  state_actions read(const peer_id& from, const state_done& x, time_point now);
  state_actions lost(const peer_id& joiner, time_point now);
  /// How letters get to the peer (`serving_budget`).
  void reach(const peer_id& peer, bool relayed, const std::string& host) {
    budget_.reach(peer, relayed, host);
  }
  /// It has none any more.
  void parted(const peer_id& peer) {
    budget_.parted(peer);
  }
  /// Gives up silent joiners and sends what the line has room for.
  state_actions look(time_point now);

  const serving_budget& budget() const {
    return budget_;
  }

private:
  using joiner = joiner_wishes::joiner;

  void say_gone(const peer_id& to, const piece_request& x);
  void say_gone(const coming_means::early_requests& xs);
  void queue(const peer_id& from, const piece_request& x, std::size_t bytes,
             time_point now);
  bool answer(const peer_id& id, const state_request& wish, time_point now);
  bool has_room_for(const state_request& wish, time_point now);
  bool admit(const peer_id& from, const state_request& x, time_point now);
  void say_busy(const peer_id& to, const state_request& x);
  void answer_waiting(time_point now);
  void decline(const peer_id& id, const state_request& wish);
  void tell_means(const peer_id& id, const joiner& x);
  void give_up(const peer_id& id);
  void forget_wish(const peer_id& id);
  state_actions done(time_point now);
  void tidy();
  bool has_means_for(const state_request& x) const;
  /// Of joiners that fetch as little as this one; 0: it fetches much.
  std::size_t places_for(const state_request& x) const;
  shared_bytes piece(const piece_request& x) const;

  serving_budget budget_;
  mean_journal journal_;
  served_versions versions_;
  coming_means coming_; ///< The last one as long as somebody is here for it.
  joiner_wishes joiners_;
  std::uint64_t step_ = 0;
  digest state_; ///< Empty: the trainer holds none yet.
  state_actions actions_;
  std::function<digest(std::uint64_t step)> kept_;
};

} // namespace potluck
