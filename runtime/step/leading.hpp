/// When this peer leads a group for the next step, and whom it waits for
/// before: others whose turn it is, peers that are about to connect or to
/// enter, and a round of the same step that runs without it.
///
/// Pure. Of whom a group is made, and who leads it, the way decides
/// (runtime/ways).
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/matchmaking/leader_order.hpp"
#include "runtime/step/entering.hpp"
#include "runtime/step/slow_leaders.hpp"
#include "runtime/ways/way.hpp"

namespace potluck::limits {

/// Who is to lead, and has not for so many times the patience of a round, is
/// passed over: it may be waiting for somebody whom others avoid.
constexpr int leaders_turn = 2;
/// A group that is due forms within such a part of what computing took, and
/// within the time that invitations and answers take.
constexpr double overdue_part = 0.25;
constexpr auto overdue_floor = std::chrono::milliseconds{250};

} // namespace potluck::limits

namespace potluck {

class leading {
public:
  /// After a group that came to nothing, before this peer leads another one;
  /// doubles each time. Without it, two peers that disagree on how many samples
  /// there are would ask and refuse each other hundreds of times a second.
  static constexpr auto pause = std::chrono::milliseconds{20};
  static constexpr auto pause_cap = std::chrono::milliseconds{1000};

  /// Another step.
  void begin_step();
  /// This peer has made a step with these, and holds this state.
  void made(const digest& state, const group_contract& x,
            const std::vector<std::uint8_t>& left_out);
  const std::set<peer_id>& makers() const {
    return makers_;
  }
  /// The contract of that leader came so long after this peer's answer.
  void waited(const peer_id& leader, duration how_long, duration computing,
              time_point now) {
    slow_.waited(leader, how_long, computing, now);
  }
  /// Looks who may lead. @param due Samples enough are there, or nearly.
  /// @return Whether that has changed.
  bool look(const way& how, const outlook& at, bool due, duration patience);
  /// No group is due.
  void not_due() {
    due_since_.reset();
    entering_.rest();
  }
  /// A group came to nothing.
  void dissolved(time_point now);
  /// A group has formed.
  void formed() {
    dissolved_ = 0;
  }
  /// Groups of this step have come to nothing: the others have fewer samples
  /// than they reported, and somebody must go on.
  bool in_vain() const {
    return dissolved_ > 0;
  }
  /// One has been due for a good part of what computing took, and does not
  /// form: whoever is to lead knows of fewer samples than this peer.
  /// @param since The step began so long ago.
  bool overdue(time_point now, duration since) const;
  /// The round of a group that this peer led, or followed, came to nothing.
  void came_to_nothing(const peer_id& leader) {
    order_.came_to_nothing(leader);
  }
  /// It wrote a contract that counts other samples than members have shown.
  void miscounts(const peer_id& leader) {
    order_.miscounts(leader);
  }
  const leader_order& order() const {
    return order_;
  }
  /// Who is about to take part.
  entering& newcomers() {
    return entering_;
  }

  /// Whether this peer leads a group of these now; the group is due.
  /// @param doubted Others may doubt this peer and lead without it.
  /// @param step What the last one took.
  /// @param patience That a round is given.
  bool leads(way& how, const outlook& at, const way::reports& partners,
             bool doubted, duration step, duration patience);

private:
  /// Partners whose rounds of this step may count.
  std::size_t averaging(const way::reports& partners) const;
  /// Whether as many average as do not, this peer among these: what they are
  /// about to complete is the step that counts. Those with whom this peer forms
  /// no groups for a while count among the first. To one that has just come
  /// those count that made the step that it holds.
  bool most_average(const way& how, const outlook& at,
                    const way::reports& partners) const;
  /// Whether a group averages our very step without us and may be waited for: a
  /// peer that has just fetched a state comes into the middle of a step.
  bool others_average(const way& how, const outlook& at,
                      const way::reports& partners, duration patience);
  /// How many before this peer may have missed their turn.
  std::size_t missed(duration patience, time_point now) const;

  leader_order order_; ///< Of groups for this step.
  digest made_;        ///< What this peer has made with `makers_`, last.
  std::set<peer_id> makers_;
  peer_id led_by_;
  slow_leaders slow_;
  std::optional<time_point> due_since_; ///< The target batch is there.
  time_point not_before_ = time_point::min();
  unsigned dissolved_ = 0; ///< Groups in a row that came to nothing.
  /// Since when this peer would lead, if it did not believe itself doubted.
  std::optional<time_point> shunned_since_;
  std::optional<time_point> others_average_since_; ///< Waited for.
  time_point others_looked_at_;                    ///< The last time.
  entering entering_;
};

} // namespace potluck
