/// One download of a longer history after the other: when the next may begin,
/// what this one costs, and what is said of it.
///
/// Pure. From whom to fetch is the way's decision (runtime/ways), how to fetch
/// that of runtime/state.
#pragma once

#include <cstdint>
#include <vector>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/event_log.hpp"
#include "runtime/step/actions.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// After a download of state failed, before the next donor is asked; where
/// nothing of it is left, so many times as long as it took besides, so that
/// whoever promises states in vain costs a peer a third of its time at most.
constexpr auto fetch_backoff = 300ms;
constexpr int fetch_backoff_share = 2;

} // namespace potluck::limits

namespace potluck {

class catching_up {
public:
  /// Whether a download may begin now.
  bool may_begin(time_point now) const {
    return now >= next_;
  }
  /// @param donors At least one; all hold what is to be fetched.
  /// @param own This peer's report: its samples are lost if another state is
  ///     taken over. @param held The state that is to be replaced.
  /// @param alone The donors hold different states, so one gives all of it.
  /// @param next_step Only its mean is to be fetched, and no other state.
  fetch_state begin(const std::vector<progress_report>& donors,
                    const progress_report& own, const digest& held, bool alone,
                    bool next_step, time_point now);
  /// What this peer reported before.
  const progress_report& from() const {
    return from_;
  }
  /// That were asked for it.
  const std::vector<peer_id>& donors() const {
    return donors_;
  }
  /// A batch has ended meanwhile: it is in the gradient, and not counted.
  void batch_ended() {
    uncounted_batch_ = true;
  }

  enum class outcome {
    partly,    ///< Some of the way is gone: another state is held than before.
    in_vain,   ///< What was counted before still counts.
    uncounted, ///< It does not: the gradient holds more than was counted.
  };
  /// @param put_aside What came is kept for the next try, so that comes soon.
  /// @param lied Nothing that its donors say is believed any more: others are
  ///     asked at once.
  outcome failed(const digest& held, bool put_aside, bool lied, time_point now);

  /// The event of a download.
  event news(const fetch_result& x, const digest& held,
             std::uint64_t step) const;
  /// That of one that came only part of the way.
  event news_of_part(const digest& held, std::uint64_t step,
                     time_point now) const;

private:
  time_point next_ = time_point::min();
  time_point began_;
  std::vector<peer_id> donors_;
  digest before_;
  progress_report from_;
  bool uncounted_batch_ = false;
};

} // namespace potluck
