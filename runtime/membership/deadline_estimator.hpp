/// How long to wait for whom: one phase's deadlines, peer by peer.
///
/// Pure: told how long each peer took, and when one let a deadline pass, it
/// says how long to wait for it next time. What is waited for is the owner's:
/// one estimator a phase, since an answer and a round have nothing in common.
///
/// The deadline of a peer is
///
///     clamp(median + max(6 * 1.4826 * spread, margin), floor, cap)
///         * 2^expiries, up to cap
///
/// over its own last observations (`observed_durations`); while it has fewer
/// than four, over those of everybody, and three times its own median where
/// that is more (RFC 6298, 2.2, with R/2 for the deviation); while nobody was
/// observed, `start`. An expiry doubles it (RFC 6298, 5.5), since a deadline
/// that passed may have been too short; the next observation ends that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/observed_durations.hpp"

namespace potluck {

class deadline_estimator {
public:
  /// Peers remembered: 450 KiB. The one that was used longest ago goes.
  static constexpr std::size_t max_peers = 1024;
  /// Doublings counted; any cap is reached before.
  static constexpr unsigned max_expiries = 16;

  struct settings {
    /// No wait is shorter, whatever was observed.
    duration floor;
    /// None is longer: what one peer may cost the others.
    duration cap;
    /// Before anybody was observed.
    duration start;
    /// A deadline is at least so long after the median, however regular all
    /// was.
    duration margin = duration::zero();
  };

  /// Throws std::invalid_argument unless 0 < floor <= start <= cap.
  explicit deadline_estimator(settings how);

  /// `who` took so long. Give it no answer to a question that was repeated: it
  /// may be the answer to either (Karn). Ends its doubling.
  void observed(const peer_id& who, duration taken);

  /// The deadline of `who` passed.
  void expired(const peer_id& who);

  /// How long to wait for `who`, who may be new.
  duration patience(const peer_id& who) const {
    return patience(who, how_.start);
  }
  /// The same with another guess in place of `start`, for an owner that knows
  /// better than a constant; it is brought between floor and cap.
  duration patience(const peer_id& who, duration start) const;

  /// For whom nothing is known about but what the others took.
  duration patience_for_a_stranger() const;

  void forget(const peer_id& who);

  /// Observations of `who` in the window.
  std::size_t count(const peer_id& who) const;

  /// Peers remembered.
  std::size_t size() const {
    return rows_.size();
  }

private:
  struct row {
    observed_durations own;
    unsigned expiries = 0; ///< Since the last observation.
    std::uint64_t used = 0;
  };

  row& row_of(const peer_id& who);
  duration prior(duration start) const;

  settings how_;
  observed_durations all_;
  std::map<peer_id, row> rows_;
  std::map<std::uint64_t, peer_id> by_use_; ///< `used` of each row.
  std::uint64_t uses_ = 0;
};

} // namespace potluck
