/// Whether a trainer averages in groups itself (a *member*) or hands its
/// gradients to a member (a *contributor*), and to which: so that a
/// collaboration of thousands averages in one group of `group_size`.
///
/// Pure: told of reports and of peers that are gone, and asked about once a
/// second. README.md states the rules and why they settle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"
#include "runtime/ways/cells/known_trainers.hpp"

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

  /// For so long a trainer contributes because a member is out of its reach, or
  /// because of its lines; then it tries again.
  static constexpr std::chrono::minutes estrangement{10};
  /// Those who cannot reach the same one do not leave at once, but each by this
  /// chance at a look, and see how many are left.
  static constexpr double giving_way = 0.1;

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
  void heard(const progress_report& x, time_point now, bool connected = true) {
    others_.heard(x, now, connected);
  }
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
  using trainer = known_trainers::trainer;
  using census = known_trainers::census;

  census count(time_point now) const {
    return others_.count(now, contributes_);
  }
  /// It sponsors this peer no more, if it did.
  void leave(const peer_id& sponsor);
  /// Whether it would be in the way as a member, and somebody averages for it.
  bool stands_back(const census& there, time_point now) const;
  bool enough(std::size_t members) const;
  /// The fewer, the better; between equals, everybody has another order.
  std::pair<std::uint32_t, std::uint64_t> burden(const trainer& x) const;

  known_trainers others_;
  std::size_t group_size_;
  std::uint64_t order_;
  random_stream chance_;
  bool decided_ = false;
  std::size_t published_ = 0; ///< By the last look-up.
  bool hidden_ = false;
  bool all_average_;
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
