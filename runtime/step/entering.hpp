/// Who is about to take part, and how long a step is put off for it.
///
/// A newcomer that fetches a state while steps pass has more to fetch each
/// time: where steps are short it would never get in. So room is made for it.
/// Anybody can say to be about to enter, and keys cost nothing: what all
/// together can cost is bounded, whatever they say. Who was in the last step is
/// about to be in this one, too, where others have applied it sooner; what
/// waiting for such *laggards* can cost is bounded as well.
///
/// Pure: the time comes in.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/ways/way.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A group waits for who is so many steps behind or less, or as many as are
/// made in `entering_reach`: those that pass while a mean is on its way keep it
/// behind for ever otherwise.
constexpr std::uint64_t entering_steps = 16;
constexpr auto entering_reach = 1s;
/// Who would make its step alone waits so long for one that fetches charter and
/// state: 19 MB at 10 Mbit/s. As often for several, since they share its line.
constexpr auto entering_alone = 15s;
/// What waiting costs at once at most, and then a tenth of the time: for who
/// enters, and for laggards beyond `lagging_free`.
constexpr auto entering_credit = 20s;
/// Likewise for who would make its step alone: that keeps nobody else.
constexpr auto entering_credit_alone = 60s;
constexpr int entering_share = 10;
/// With less than this left nobody is waited for: it would not get in.
constexpr auto entering_least = 1s;
/// Who made the last step with this peer says within so long that it has; or in
/// what a round takes, if that is less.
constexpr auto entering_with_others = 2s;
/// Of that so much costs no credit if it comes: slow lines and busy machines
/// are as late as that at every step.
constexpr auto lagging_free = 500ms;
/// Who did not come is not waited for again so soon; doubled each time. Of a
/// laggard that has come for as long since nothing is remembered.
constexpr auto entering_again = 60s;

} // namespace potluck::limits

namespace potluck {

class entering {
public:
  /// Remembered at most.
  static constexpr std::size_t most = 1024;

  /// A trainer has connected that has not said where it stands.
  void joined(const peer_id& who) {
    if (unheard_.size() < most)
      unheard_.insert(who);
  }
  /// It says so, and has the run's charter.
  void heard(const peer_id& who) {
    unheard_.erase(who);
  }
  void left(const peer_id& who, time_point now);
  /// This peer has made a step with these. @param left_out As in `round_over`.
  void made(const peer_id& self, const group_contract& x,
            const std::vector<std::uint8_t>& left_out);
  /// No step is put off any more.
  void rest() {
    waiting_ = lagging_ = false;
  }
  void stop(time_point now) {
    account(now);
    rest();
  }

  /// Whether the step that is due is to wait.
  /// @param alone It would be made without anybody else.
  /// @param step What the last one took. @param patience That a round is given.
  bool put_off(const outlook& at, bool alone, duration step, duration patience);
  /// What was answered last.
  bool puts_off() const {
    return waiting_ || lagging_;
  }

private:
  struct entrance {
    std::optional<time_point> since;      ///< Waited for,
    time_point until = time_point::min(); ///< at most so long.
    time_point again = time_point::min(); ///< Not before.
    unsigned in_vain = 0;
  };
  using entrances = std::map<peer_id, entrance>;

  void account(time_point now);
  /// Whether the step waits for those that made the last one and still say that
  /// they are behind it.
  bool waits_for_laggards(const outlook& at, duration patience);
  std::vector<peer_id> laggards(const outlook& at) const;
  bool enters(const progress_report& x, const outlook& at, bool alone,
              std::uint64_t reach) const;
  bool waits_for(const peer_id& who, bool enters, duration longest,
                 time_point now);
  static void did_not_come(entrance& x, time_point now);
  /// Its place; of too many somebody else loses its own.
  static entrance& place_of(const peer_id& who, entrances& in);

  std::set<peer_id> unheard_;
  entrances entrances_;
  bool waiting_ = false;
  bool alone_ = true;
  duration credit_ = limits::entering_credit_alone;

  std::set<peer_id> with_;                  ///< The last step was made.
  std::optional<time_point> lagging_since_; ///< One of them lags.
  bool lagging_ = false;
  entrances late_; ///< Laggards that did not come.
  duration late_credit_ = limits::entering_credit;

  std::optional<time_point> accounted_;
};

} // namespace potluck
