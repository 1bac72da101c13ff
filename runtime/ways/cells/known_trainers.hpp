/// The other trainers of a run, as far as this one has heard of them lately:
/// what each said, whether it is connected, and how many members there are.
///
/// Pure. What follows for this trainer is `cell_choice`'s to decide.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/ways/cells/absences.hpp"

namespace potluck {

class known_trainers {
public:
  /// Trainers remembered; beyond, the one heard longest ago is forgotten.
  static constexpr std::size_t most = 4096;
  /// On a line full of gradients the reports of somebody connected come late,
  /// so they count for so many times as long.
  static constexpr int patience_with_connected = 4;
  /// Of two out of each other's reach the one that knows so many times fewer
  /// members gives way; else the one with the larger id.
  static constexpr std::size_t far_fewer = 2;
  /// A member has to have taken part for so long, or those that hand it
  /// gradients may give them to a newcomer that will be asked for its state.
  static constexpr std::chrono::seconds settling{5};

  struct trainer {
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
    /// Connected, or, as far as a contributor goes, known to a member that it
    /// hears. Newcomers, who have not decided yet, are none: in a rush there
    /// are more of them than members.
    std::size_t members = 0;
    std::size_t open = 0; ///< Of these, connected with us and settled, whom
                          ///< others can connect to.
    bool apart = false;   ///< One is out of our reach, and stays.
    /// Before this peer in the order of ids, and as sure to be members; or,
    /// with the newcomers, who will decide by the same order.
    std::size_t before_us = 0;
    std::size_t before_us_with_newcomers = 0;
    double contributors = 0;
    std::size_t told = 0; ///< Members that anybody knows of, contributors too.
  };

  /// @param silent_after Older reports count for nothing.
  known_trainers(const peer_id& self, duration silent_after);

  /// It is connected from now on, until it is `lost`. @param relayed By no line
  /// of its own.
  /// @return Whether it has a line of its own that it had not.
  bool met(const peer_id& who, bool relayed);
  /// It is not connected, and could not be dialled.
  void missed(const peer_id& who, time_point now);
  /// A report of a trainer. @param connected It comes from itself, not from the
  /// DHT.
  void heard(const progress_report& x, time_point now, bool connected);
  /// It is gone, or cannot be reached.
  void lost(const peer_id& who);
  /// Forgets those silent for too long. @param anew Those that are out of
  /// reach are tried again.
  void forget_silent(time_point now, bool anew);

  /// In the order of their ids.
  const std::vector<trainer>& all() const {
    return all_;
  }
  /// Null when nothing is known of it.
  const trainer* find(const peer_id& id) const;
  /// Whether it is, or will be, a member, as far as it was heard lately.
  bool counts(const trainer& x, time_point now) const {
    return !x.contributes && fresh(x, now);
  }
  /// Whether it is there, and out of our reach.
  bool estranged(const peer_id& id) const {
    return absences_.estranged(id);
  }
  /// Whether it is connected, by no line of its own.
  bool relayed(const peer_id& id) const {
    return relayed_.count(id) != 0;
  }
  /// @param contributes Whether this peer does: then others know the members.
  census count(time_point now, bool contributes) const;

private:
  bool fresh(const trainer& x, time_point now) const {
    auto patience = x.here ? patience_with_connected : 1;
    return now - x.at <= patience * silent_after_;
  }
  /// Where it is in `all_`, or belongs.
  std::size_t place_of(const peer_id& id) const;
  bool is_at(std::size_t place, const peer_id& id) const {
    return place < all_.size() && all_[place].id == id;
  }

  peer_id self_;
  duration silent_after_;
  std::vector<trainer> all_;  ///< By id.
  std::set<peer_id> here_;    ///< Connected by a line of their own,
  std::set<peer_id> relayed_; ///< and by none.
  absences absences_;
};

} // namespace potluck
