/// The donors of a fetch together with what they list and bring.
///
/// Keeps two in step: `donor_panel`, which knows who is asked for what, and
/// `blob_download`, which knows what is to come from whom. Whoever leaves, or
/// turns out to have lied, has no place, no say and no piece to bring in
/// either. Knows neither which version is the right one nor the trainer. Pure:
/// what it answers with is to be done, in that order.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "runtime/state/blob_download.hpp"
#include "runtime/state/donor_panel.hpp"
#include "runtime/state/fetch_goal.hpp"

namespace potluck {

class donor_swarm {
public:
  struct bounds {
    download_plan::bounds plan;
    std::size_t donors;       ///< At once.
    std::uint64_t mean_bytes; ///< Kept until they can be applied.
    std::size_t means;
    safeguard_set guards = {};
  };

  /// @param self Decides the order in which donors are asked.
  /// @param store As `blob_download`'s.
  donor_swarm(const peer_id& self, bounds most, piece_store* store = nullptr)
      : most_(most), panel_(self, most.donors),
        download_(most.plan, store, most.guards) {
  }

  // ---- a fetch

  /// A fetch of this begins; nobody has been asked yet. What has come before
  /// stays until `clear`.
  /// @param relay Is asked first, unless it lied lately.
  void begin(const fetch_goal& goal, preferred_relay relay, time_point now);
  /// Nothing that has come, or was listed, is of use any more.
  void clear() {
    download_.clear();
  }
  /// It is over: all that were asked hear of it. What has come stays.
  state_actions dismiss();

  // ---- whom to ask

  /// All are asked for this from here on.
  state_actions ask_for(std::uint64_t step, const digest& state,
                        bool means_only, time_point now);
  /// One more reports that it is so far. @returns The request, if it is wanted.
  state_actions add(const peer_id& candidate, time_point now);
  void lose(const peer_id& who);
  /// Those of `peers` that were asked have lied, as `what` says.
  state_actions ban(const std::set<peer_id>& peers, const std::string& what,
                    time_point now);
  /// Nobody is preferred from here on.
  /// @param as_donor It may be asked again like any other.
  state_actions do_without_relay(bool as_donor = false);
  preferred_relay& relay() {
    return panel_.relay();
  }

  // ---- what they say

  /// It says that this is the state after that step.
  void claim(const peer_id& who, std::uint64_t step, const digest& state) {
    download_.claim(who, step, state);
  }
  /// Null when it has not been asked.
  donor_panel::donor* find(const peer_id& who) {
    return panel_.find(who);
  }
  void declines(const peer_id& who, const donor_panel::refusal& instead) {
    panel_.declines(who, instead);
  }
  /// `from` names this list of a state or mean that is wanted: it counts, and
  /// those that most others contradict by now are left out.
  state_actions name(const peer_id& from, const state_manifest& x,
                     time_point now);
  struct arrival {
    blob_download::verdict what;
    blob_key blob;
    state_actions actions;
  };
  /// One that was asked sends a piece, or says that it has none.
  arrival read(const peer_id& from, const state_piece& x,
               const shared_bytes& body, time_point now);

  // ---- looking around

  /// What is due of the donors, and who may be asked for which pieces by now.
  /// @param age Of the fetch.
  state_actions look(duration age, time_point now);
  /// The pieces that are to be asked for now.
  state_actions request_pieces(time_point now);

  // ---- what has come

  struct outcome {
    std::optional<training_state> state; ///< None: it is not what it should be.
    state_manifest list;                 ///< By which it came.
    state_actions actions;
  };
  /// The whole state, whose pieces must all be here, is handed out or dropped.
  outcome take_state(const blob_key& key, time_point now);
  void drop(const blob_key& key) {
    download_.drop(key);
  }
  /// Of a store: looks anew which pieces of the blob are there.
  void recount(const blob_key& key) {
    download_.recount(key);
  }
  /// What the way goes on with behind this step.
  mean_course::view behind(std::uint64_t step) const;
  /// More means are known of than this peer can keep.
  bool has_too_many_means() const;

  const donor_panel& panel() const {
    return panel_;
  }
  const blob_download& download() const {
    return download_;
  }

private:
  std::size_t votes() const;
  std::optional<peer_id> inventor() const;

  bounds most_;
  std::uint64_t values_ = 0; ///< Of a mean.
  bool means_only_ = false;
  donor_panel panel_;
  blob_download download_;
};

} // namespace potluck
