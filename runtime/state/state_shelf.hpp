/// A hub's side of downloads: gets what joiners ask for from members, once,
/// keeps its pieces in a store, and gives them to many joiners at a time.
///
/// It keeps one version of the state and the means behind it. Which version
/// that is, joiners and the reports of members decide; which pieces it has, the
/// list that most members name, as for any joiner (`blob_download`). A joiner
/// believes no list because it comes from here: it asks members for theirs. So
/// a hub that lies costs time, and no more. Pure: facts and the time come in,
/// actions go out.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "runtime/state/donor_swarm.hpp"
#include "runtime/state/serving_budget.hpp"

namespace potluck {

class state_shelf {
public:
  struct bounds {
    serving_budget::bounds serving;
    download_plan::bounds plan;
    std::size_t donors; ///< That are asked at once.
  };
  /// @param store Null: it keeps nothing, and says so to everybody.
  state_shelf(const peer_id& self, bounds most, piece_store* store);

  // ---- members

  /// A trainer that trains reports this state.
  state_actions heard(const peer_id& member, std::uint64_t step,
                      const digest& state, time_point now);
  state_actions read(const peer_id& from, const state_manifest& x,
                     time_point now);
  state_actions read(const peer_id& from, const state_piece& x,
                     const shared_bytes& body, time_point now);

  // ---- joiners

  state_actions read(const peer_id& from, const state_request& x,
                     time_point now);
  state_actions read(const peer_id& from, const piece_request& x,
                     time_point now);
  state_actions read(const peer_id& from, const state_done& x, time_point now);

  /// How letters get to the peer (`serving_budget`).
  void reach(const peer_id& peer, bool relayed, const std::string& host) {
    budget_.reach(peer, relayed, host);
  }
  void parted(const peer_id& peer) {
    budget_.parted(peer);
  }

  /// A member or a joiner has gone.
  state_actions lost(const peer_id& who, time_point now);
  /// Looks at deadlines.
  state_actions look(time_point now);

private:
  struct holding {
    std::uint64_t step = 0;
    digest state;
  };
  struct joiner {
    state_request wish;
    std::map<blob_key, digest> told; ///< The listings that it knows.
  };

  const piece_lists& lists() const {
    return swarm_.download().lists();
  }
  bool is_wanted(const state_request& x) const;
  bool is_vouched_for(const state_request& x) const;
  bool may_replace(const state_request& x) const;
  void settle(const peer_id& who, time_point now);
  void begin(const holding& what, time_point now);
  void end_version();
  void ask(const peer_id& member, time_point now);
  void judge(time_point now);
  bool has_room() const;
  void tell_lists();
  bool admit(const peer_id& from, time_point now);
  void decline(const peer_id& who, const state_request& x);
  void give_up(const peer_id& who);
  void forget_wish(const peer_id& who);
  void queue(const peer_id& to, const piece_request& x, time_point now);
  /// Null when no list that is believed names such a piece.
  const state_manifest* list_with(const piece_request& x) const;
  /// The piece's; null likewise.
  const digest* name_of(const piece_request& x) const;
  void note(state_actions xs);
  void say(const peer_id& to, message what, shared_bytes body = {});
  state_actions done(time_point now);

  peer_id self_;
  piece_store* store_;
  donor_swarm swarm_;
  serving_budget budget_;
  std::map<peer_id, holding> members_; ///< As they reported last.
  std::optional<holding> version_;
  time_point since_{};                 ///< The version is fetched,
  std::optional<time_point> idle_{};   ///< nobody wants it,
  std::optional<time_point> unwell_{}; ///< the store takes nothing.
  std::map<peer_id, joiner> joiners_;
  /// Pieces that have not come yet, and who waits for them.
  std::map<digest, std::map<peer_id, piece_request>> awaited_;
  state_actions actions_;
};

} // namespace potluck
