/// Who leads, when several could, and whether that is this peer now.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "messages/progress.hpp"

namespace potluck::limits {

/// Rounds in a row in which a connected member kept silent, after which groups
/// form without it for as long: one may be a machine that stood still.
constexpr unsigned silent_rounds = 2;
/// Who wrote a contract that counts other samples than were shown is passed
/// over for the rest of that step, twice as many steps the next time, and so
/// on; after this many more without another one it is as good as new. An honest
/// leader that has just come errs once; one that lies holds up one step in 64.
constexpr unsigned most_passed_over = 64;
constexpr unsigned miscount_memory = 1024;
/// Of whom that is remembered.
constexpr std::size_t most_miscounters = 256;

} // namespace potluck::limits

namespace potluck {

/// Who led the step that all hold leads the next one. Without it the first by
/// id of those whose gradients are in that step, and without these the first of
/// all: an id costs nothing, a gradient does, and a new leader comes only where
/// the last one is gone or lets its turn pass. Those that made the step know
/// all of that alike.
///
/// But one whose rounds of this step have come to nothing again and again comes
/// behind those with fewer such. So nobody leads the others into vain rounds
/// for ever, and all members of a round see how it ended and agree on the next
/// leader. An honest leader of a silent member needs `silent_rounds` to find it
/// out, and one more to go on without it. One that miscounts comes behind all
/// others; of several such the order is the same, so no step waits for ever.
class leader_order {
public:
  /// Whose invitations this peer follows.
  enum class followed {
    all,    ///< It does not know better, or the turn of the first has passed.
    makers, ///< Who is in the step that is held: a group is due.
    first,  ///< No group is due: who invites others now freezes their gradients
            ///< for nothing.
  };

  /// Its round was called off, or nobody came to an end, in all of the time
  /// that it had.
  void came_to_nothing(const peer_id& leader) {
    ++failures_[leader];
  }
  /// It wrote a contract that counts other samples than members have shown.
  void miscounts(const peer_id& leader) {
    auto& x = miscounters_[leader];
    if (x.steps == 0)
      return; // In this step it has been passed over already.
    x = {std::min(2 * x.passed_over, limits::most_passed_over), 0};
    x.passed_over = std::max(x.passed_over, 1u);
    if (miscounters_.size() > limits::most_miscounters)
      miscounters_.erase(std::max_element(
          miscounters_.begin(), miscounters_.end(),
          [](auto& a, auto& b) { return a.second.steps < b.second.steps; }));
  }
  /// Its rounds of this step are nobody's business.
  bool is_passed_over(const peer_id& leader) const {
    auto known = miscounters_.find(leader);
    return known != miscounters_.end()
           && known->second.steps < known->second.passed_over;
  }
  /// Another step, another chance.
  void begin_step() {
    failures_.clear();
    for (auto i = miscounters_.begin(); i != miscounters_.end();)
      i = ++i->second.steps < limits::miscount_memory ? std::next(i)
                                                      : miscounters_.erase(i);
  }
  /// Whose gradients are in the step that is held.
  /// @param leader Who led it; empty: this peer does not know.
  void made_by(std::set<peer_id> makers, const peer_id& leader) {
    makers_ = std::move(makers);
    leader_ = leader;
  }
  /// @param first Who comes before all others that are there, this peer
  ///     included.
  void follow(followed whom, const peer_id& first) {
    followed_ = whom;
    first_ = first;
  }

  /// Empty: as `follow` has never said.
  const peer_id& first() const {
    return first_;
  }
  /// Whether `a` is followed rather than `b`.
  bool before(const peer_id& a, const peer_id& b) const {
    return place(a) < place(b);
  }
  bool made(const peer_id& who) const {
    return makers_.count(who) != 0;
  }
  /// Whether this peer follows its invitation, if nobody else has invited it.
  bool follows(const peer_id& who) const {
    return followed_ == followed::all
           || (followed_ == followed::makers ? made(who)
                                             : !before(first_, who));
  }

  friend bool operator==(const leader_order& a, const leader_order& b) {
    return a.failures_ == b.failures_ && a.makers_ == b.makers_
           && a.leader_ == b.leader_ && a.followed_ == b.followed_
           && a.first_ == b.first_ && a.miscounters_ == b.miscounters_;
  }

private:
  static constexpr unsigned leaders_rounds = limits::silent_rounds + 1;

  std::tuple<bool, unsigned, bool, bool, peer_id>
  place(const peer_id& id) const {
    return {is_passed_over(id), failures(id), id != leader_ || leader_.empty(),
            !made(id), id};
  }
  unsigned failures(const peer_id& id) const {
    auto known = failures_.find(id);
    return known == failures_.end() ? 0 : known->second / leaders_rounds;
  }

  struct miscounter {
    unsigned passed_over = 0; ///< For so many steps,
    unsigned steps = 1;       ///< since so many.

    friend bool operator==(const miscounter& a, const miscounter& b) {
      return a.passed_over == b.passed_over && a.steps == b.steps;
    }
  };

  std::map<peer_id, unsigned> failures_;
  std::set<peer_id> makers_;
  peer_id leader_;
  followed followed_ = followed::all;
  peer_id first_;
  std::map<peer_id, miscounter> miscounters_;
};

/// Whether this peer is the one to lead: a trainer, ready, and no other ready
/// trainer at the same step and state comes before it.
/// @param fresh Reports of other peers that are recent enough to count.
/// @param passed_over How many before it may have missed their turn.
inline bool should_lead(const progress_report& self,
                        const std::vector<progress_report>& fresh,
                        const leader_order& order = {},
                        std::size_t passed_over = 0) {
  auto ready = [&](const progress_report& x) {
    return x.role == role::trainer && x.step == self.step
           && x.state == self.state
           && (x.phase == phase::accumulating || x.phase == phase::waiting
               || x.phase == phase::matchmaking);
  };
  if (!ready(self))
    return false;
  auto before = std::count_if(fresh.begin(), fresh.end(), [&](const auto& x) {
    return ready(x) && order.before(x.id, self.id);
  });
  return static_cast<std::size_t>(before) <= passed_over;
}

} // namespace potluck
