/// The peers that this one knows: the connected ones with what they report,
/// those that are only heard of, and those that are gone.
///
/// Pure. It knows no group and no step of its own; `progress_tracker` draws the
/// conclusions from reports.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/membership/split_watch.hpp"
#include "runtime/progress/progress_tracker.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A peer in the run that we know of but are not connected to is waited for so
/// long before a group forms without it, while nobody's connecting was
/// observed; then as long as connecting takes. The floor is two dials by the
/// ledger; more than the cap nobody waits for hearsay.
constexpr auto connecting_patience = 3s;
constexpr auto connecting_floor = 1s;
constexpr auto connecting_cap = 15s;
/// A trainer that has lost all others without a goodbye, by a router that came
/// up anew, say, makes no step alone before, unless none of them can be dialled
/// again: that takes 10 s at most.
constexpr auto reunion_patience = 15s;

} // namespace potluck::limits

namespace potluck {

class acquaintances {
public:
  /// Peers remembered as gone.
  static constexpr std::size_t most_gone = 4096;
  /// And as partners.
  static constexpr std::size_t most_partners = 4096;

  /// @param target_batch Samples of a step, the reserve included.
  /// @param counts_unconnected Trainers that are only heard of count as well,
  ///     as long as they are: a way of averaging may draw groups of all.
  acquaintances(const peer_id& self, std::uint64_t target_batch,
                bool counts_unconnected);

  /// @return Whether half of those that were lost in a split are back with it.
  bool joined(const peer_id& who, time_point now);
  /// The session is over, or the peer could not be dialled.
  /// @return What it reported last, if it had reported anything.
  std::optional<progress_report> left(const peer_id& who);
  /// A trainer was lost without a goodbye.
  /// @return The split that shows by it, once.
  std::optional<split_watch::split> lost(const peer_id& who, time_point now);

  /// A trainer that averages was lost without a goodbye; or this peer, as a
  /// contributor, has lost its sponsor: `self`.
  void lost_company(const peer_id& who, time_point now);
  /// Whether no other trainer is known, though one that was lost just now may
  /// be back.
  bool deserted(time_point now) const;
  /// This peer averages with it, or through it: from here on its word counts
  /// when it is not connected, too.
  /// @return Whether it is the first one.
  bool averages_with(const peer_id& who);
  /// Whether what it says of the run's end counts: it has averaged with this
  /// peer; or this peer has averaged with nobody yet, and is connected with it.
  bool is_believed(const peer_id& who) const {
    return partners_.count(who) != 0
           || (partners_.empty() && connected_.count(who) != 0);
  }

  /// It has averaged with this peer, as far as that is remembered.
  bool has_averaged_with(const peer_id& who) const {
    return partners_.count(who) != 0;
  }

  /// A report of a peer without a session. It is worth waiting for the session,
  /// and nothing more, unless unconnected trainers count. A stranger is worth
  /// that only at the beginning, and all strangers together once
  /// `connecting_cap`: their ids cost nothing.
  /// @param expected Whether a session with it is to come.
  void heard_of(const progress_report& x, bool expected, time_point now);
  /// A report of a connected peer. A contributor's samples count through its
  /// sponsor, so it stays out of the tracker.
  void heard(const progress_report& x, time_point now);
  /// Its reports are not to be believed; it stays connected.
  void forget(const peer_id& who);
  /// Its samples were handed over and are counted elsewhere.
  void gave(const peer_id& who);

  const peer_id& self() const {
    return self_;
  }
  bool connected(const peer_id& who) const {
    return connected_.count(who) != 0;
  }
  /// The last report of each connected peer that is believed.
  const std::map<peer_id, progress_report>& reports() const {
    return reports_;
  }
  const progress_report* report(const peer_id& who) const;
  progress_tracker& tracker() {
    return tracker_;
  }
  const progress_tracker& tracker() const {
    return tracker_;
  }

  /// Trainers that are heard of, this peer included and first.
  std::vector<peer_id> known_trainers(time_point now) const;
  /// Whether a peer that is heard of may still connect, and is one of these.
  bool expects(const std::function<bool(const peer_id&)>& one_of,
               time_point now) const;

private:
  bool is_worth_waiting_for(const peer_id& who, time_point now);

  peer_id self_;
  progress_tracker tracker_;
  bool counts_unconnected_;
  std::set<peer_id> connected_;
  std::map<peer_id, progress_report> reports_;
  /// Heard of and not connected, since when.
  std::map<peer_id, time_point> expected_since_;
  /// From hearsay to the session.
  deadline_estimator connecting_;
  std::set<peer_id> partners_;               ///< Have averaged with this peer.
  std::optional<time_point> first_stranger_; ///< Was heard of then.
  std::set<peer_id> gone_;                   ///< Were connected once.
  std::set<peer_id> out_of_touch_;           ///< Could not be dialled.
  split_watch splits_;
  std::set<peer_id> lost_; ///< Without a goodbye, and not dialled since.
  time_point lost_at_{};   ///< The last of them.
};

} // namespace potluck
