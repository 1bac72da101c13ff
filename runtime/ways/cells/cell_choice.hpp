/// Whether a trainer averages in groups itself (a *member*) or hands its
/// gradients to a member (a *contributor*), and to which: so that a
/// collaboration of thousands averages in one group of `group_size`.
///
/// Pure: told of reports and of peers that are gone, and asked about once a
/// second. README.md states the rules and why they settle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

class cell_choice {
public:
  /// Members that a contributor stays connected with: its sponsor, and one that
  /// takes over.
  static constexpr std::size_t links = 2;
  /// Whether it wants so many, and is connected with all of them.
  /// @param connected A set or a map by id.
  template <class Connected>
  static bool linked(const std::vector<peer_id>& wanted,
                     const Connected& connected) {
    return wanted.size() >= links
           && std::all_of(wanted.begin(), wanted.end(),
                          [&](auto& id) { return connected.count(id) != 0; });
  }
  /// A contributor becomes a member when fewer than these parts of the group's
  /// size are left.
  static constexpr double enough_parts = 0.75;
  /// A member gives way when more than so many times the group's size are
  /// there.
  static constexpr double too_many_members = 1.25;
  /// Of the missing members, how many come forward at one look: news of those
  /// who did is late.
  static constexpr double hurry = 0.2;

  /// A contributor that hears no member at all knows nothing of how many there
  /// are: for so long it only looks for some. And who has come forward says for
  /// as long what it was told before, until it has met the others.
  static constexpr std::chrono::seconds acquaintance{15};

  /// On a line full of gradients the reports of somebody connected come late,
  /// so they count for so many times as long.
  static constexpr int patience_with_connected = 4;

  /// Who is heard of so long after it could not be dialled is there; until then
  /// its last report may be going round. If it cannot be dialled then either,
  /// it is out of our reach.
  static constexpr std::chrono::seconds estranged_after{45};
  /// For so long a trainer contributes because of that, or of its lines; then
  /// it tries again.
  static constexpr std::chrono::minutes estrangement{10};
  /// Those who cannot reach the same one do not leave at once, but each by this
  /// chance at a look, and see how many are left.
  static constexpr double giving_way = 0.1;
  /// Of two out of each other's reach the one that knows so many times fewer
  /// members gives way; else the one with the larger id.
  static constexpr std::size_t far_fewer = 2;
  /// A member has to have taken part for so long, or who hands it gradients may
  /// give them to a newcomer that will be asked for its state.
  static constexpr std::chrono::seconds settling{5};

  /// @param silent_after Older reports count for nothing.
  /// @param all_average Nobody contributes, for groups are redrawn
  /// (runtime/ways/moshpit).
  cell_choice(const peer_id& self, std::size_t group_size,
              duration silent_after, std::uint64_t seed,
              bool all_average = false);

  /// The peer is connected from now on, until it is `lost`. @param relayed By
  /// no line of its own, so that neither can sponsor the other.
  void met(const peer_id& who, bool relayed = false);
  /// It is not connected, and could not be dialled.
  void missed(const peer_id& who, time_point now);
  /// A report of another trainer, by itself or (not `connected`) in the DHT:
  /// then it is one to connect with, but nobody gives way to it as a member.
  void heard(const progress_report& x, time_point now, bool connected = true);
  /// The peer is gone, or cannot be reached.
  void lost(const peer_id& who);

  /// There are so many records of the run in the DHT, of whom few were told:
  /// members, newcomers that may be some, and some that are no trainers.
  void looked_up(std::size_t published) {
    published_ = published;
  }

  /// Whether nobody can connect to this peer. Then it contributes as long as it
  /// is connected with a member that others can connect to.
  void hide(bool yes) {
    hidden_ = yes;
  }

  /// These trainers average without this peer, which has too few lines: it
  /// contributes until it has one more, through one of them if it has a line.
  void left_out(const std::vector<peer_id>& members, time_point now);

  /// Looks again. The first time it decides at once.
  void reconsider(time_point now);
  bool contributes() const {
    return contributes_;
  }
  /// Of a contributor: the member to hand gradients to, among the `connected`;
  /// empty when there is none. Stays the same while it can.
  peer_id sponsor(const std::set<peer_id>& connected, time_point now);

  /// Of a contributor: its sponsor would rather see it with this member, whom
  /// it goes to once that is connected; empty: it is welcome where it is.
  void advised(const peer_id& better) {
    advised_ = better;
  }

  /// Of a contributor: the members to be connected with, at most `links`; those
  /// that are `connected` first, then those with the fewest contributors.
  std::vector<peer_id> wanted(const std::set<peer_id>& connected,
                              time_point now) const;

  /// Members that are there, this peer not included: connected, or, as far as a
  /// contributor goes, known to a member that it hears. Newcomers, who have not
  /// decided yet, are none: in a rush there are more of them than members.
  std::size_t members(time_point now) const;
  /// Whether no contributor has to come forward.
  bool enough_members(time_point now) const;

private:
  struct row {
    peer_id id;
    bool contributes = false;
    bool settled = false; ///< Takes part.
    bool decided = false; ///< Member or contributor; a newcomer has not.
    std::uint32_t contributors = 0;
    std::uint32_t knows = 0; ///< Members that it knows of.
    bool here = false;       ///< Connected by a line of its own.
    bool hidden = false;     ///< Cannot be connected to.
    bool hearsay = false;    ///< A record alone says all that.
    time_point settled_since;
    time_point at;
  };
  /// Of those that do not contribute, and were heard lately.
  struct census {
    std::size_t members = 0; ///< As in `members`.
    std::size_t open = 0;    ///< Of these, connected with us and settled, whom
                             ///< others can connect to.
    bool apart = false;      ///< One is out of our reach, and stays.
    /// Before this peer in the order of ids, and as sure to be members; or,
    /// with the newcomers, who will decide by the same order.
    std::size_t before_us = 0;
    std::size_t before_us_with_newcomers = 0;
    double contributors = 0;
    std::size_t told = 0; ///< Members that anybody knows of, contributors too.
  };

  bool fresh(const row& x, time_point now) const {
    auto patience = x.here ? patience_with_connected : 1;
    return now - x.at <= patience * silent_after_;
  }
  bool counts(const row& x, time_point now) const {
    return !x.contributes && fresh(x, now);
  }
  /// Whether it would be in the way as a member, and somebody averages for it.
  bool stands_back(const census& there, time_point now) const;
  /// Where it is in `others_`, or belongs.
  std::vector<row>::iterator place_of(const peer_id& id);
  row* find(const peer_id& id);
  bool estranged(const peer_id& id) const;
  bool enough(std::size_t members) const;
  census count(time_point now) const;
  /// The fewer, the better; between equals, everybody has another order.
  std::pair<std::uint32_t, std::uint64_t> burden(const row& x) const;

  peer_id self_;
  std::size_t group_size_;
  duration silent_after_;
  std::uint64_t order_;
  random_stream chance_;
  std::vector<row> others_;   ///< By id.
  std::set<peer_id> here_;    ///< Connected by a line of their own,
  std::set<peer_id> relayed_; ///< and by none.
  bool decided_ = false;
  std::size_t published_ = 0; ///< By the last look-up.
  bool hidden_ = false;
  bool all_average_;
  struct absence {
    time_point since;                ///< Could not be dialled.
    std::optional<time_point> heard; ///< Last, since then.
    bool estranged = false;          ///< And could not be dialled then.
  };
  std::map<peer_id, absence> missed_; ///< Not connected since.
  time_point apart_until_ = time_point::min();
  time_point left_out_until_ = time_point::min();
  bool contributes_ = false;
  peer_id sponsor_;
  peer_id advised_;
  double crowd_ = 1; ///< Contributors there were when members last said.
  std::optional<time_point> alone_since_; ///< A contributor without members.
  std::optional<time_point> came_forward_;
  std::size_t members_before_ = 0; ///< That it was told of until then.
};

} // namespace potluck
