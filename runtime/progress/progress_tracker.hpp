/// What the reports of others say about the collaboration: how far the target
/// batch is, and who stands where this peer stands.
///
/// Pure: the time comes in with every question. Reports are claims of their
/// senders; figures that cannot be true count as zero, and nobody counts for
/// more than `speed_book` and `past_steps` allow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/progress/past_steps.hpp"
#include "runtime/progress/speed_book.hpp"

namespace potluck {

/// It says that it is a trainer that averages, wherever it stands: contributors
/// get their states from members.
bool averages(const progress_report& x);

class progress_tracker {
public:
  /// Peers remembered at most; beyond, the one heard longest ago is forgotten.
  static constexpr std::size_t most_peers = 4096;

  /// @param target_batch Samples to collect for one step. Not zero.
  /// @param self Reports of this peer that come back are ignored.
  /// @param silent_after Older reports count for nothing.
  progress_tracker(std::uint64_t target_batch, const peer_id& self,
                   duration silent_after);

  /// A report of another peer that arrived at `at`; replaces its last one
  /// unless that one arrived later.
  void hear(const progress_report& report, time_point at);

  /// From here on older reports count for nothing.
  void silent_after(duration age) {
    silent_after_ = age;
  }

  /// This peer's own state, as it would report it at `now`.
  void update_self(const progress_report& report, time_point now);

  /// A group for this peer's step has formed; its round has made the step: from
  /// here on, what its members brought bounds what is believed of them.
  void formed(time_point now);
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out);
  /// It holds a history that others made, or has forgotten how it made it.
  void forget_steps();
  /// Groups are redrawn: no contract says who is in the next one.
  void remembers_nothing();
  /// What its members have brought. Never null; never changed.
  const std::shared_ptr<const past_steps>& past() const {
    return past_;
  }
  /// Since this peer holds its state.
  duration computing(time_point now) const {
    return now - held_since_;
  }

  /// The peer has left: its samples are deducted at once.
  void forget(const peer_id& peer);

  /// Reports that are recent enough, of the same charter, by id.
  std::vector<progress_report> fresh(time_point now) const;

  /// Fresh trainers with this peer's step and state that can average.
  std::vector<progress_report> companions(time_point now) const;

  /// Fresh auxiliaries that can average; they hold no state, so they go with
  /// any step.
  std::vector<progress_report> auxiliaries(time_point now) const;

  /// Fresh trainers that average, wherever they stand: those whose states can
  /// be taken over. Contributors get theirs from members, too. Valid until the
  /// next report.
  std::vector<const progress_report*> averaging(time_point now) const;

  /// What others can have, at most.
  speed_book speeds(time_point now) const {
    return speeds_since(computing(now), now);
  }
  /// What one member may bring to a group of this step.
  std::uint64_t believable_samples(time_point now) const;

  /// Samples reported for the next step, own ones included.
  std::uint64_t total_samples(time_point now) const;

  /// The same, assuming that those who accumulate went on at their speed.
  double estimated_samples(time_point now) const;

  /// Of all that accumulate for the next step, own speed included.
  double samples_per_second(time_point now) const;

  /// Only reported samples count, since a group needs real ones.
  bool target_reached(time_point now) const {
    return total_samples(now) >= target_batch_;
  }

  /// Estimated; zero when enough samples are estimated, none when nobody
  /// computes. At most `longest_estimate`.
  std::optional<duration> time_to_target(time_point now) const;

  /// How many samples this peer should compute before it asks again: its fair
  /// part of what is missing, ceil(missing * own speed / total speed), at least
  /// 1 and at most the target batch.
  std::uint64_t my_quota(time_point now) const;

  static constexpr duration longest_estimate = std::chrono::hours{24 * 365};

private:
  struct heard {
    progress_report report;
    time_point at;
    /// It has said first then what it says of its samples: a report that is
    /// said again is no older for that.
    time_point since;
  };

  /// @param elapsed Since the step began.
  speed_book speeds_since(duration elapsed, time_point now) const;
  bool counts(const heard& x, time_point now) const;
  bool accompanies(const progress_report& x) const;
  double speed_of(const progress_report& x) const;
  /// What is believed of companions at a time.
  struct belief {
    std::uint64_t most_samples;
    double most_speed;
    duration elapsed;
    past_steps::bounds counted; ///< In a contract.
  };
  belief belief_at(time_point now) const;
  double samples_of(const progress_report& x, const belief& all) const;
  double speed_of(const progress_report& x, const belief& all) const;
  std::uint64_t own_samples(const belief& all) const;

  std::uint64_t target_batch_;
  peer_id id_;
  duration silent_after_;
  progress_report self_;
  time_point held_since_; ///< The state of `self_`.
  std::shared_ptr<const past_steps> past_;
  std::map<peer_id, heard> others_;
};

} // namespace potluck
