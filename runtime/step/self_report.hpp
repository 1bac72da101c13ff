/// What this peer says of itself: where it stands, its line, and how it takes
/// part; and when it is worth saying again.
///
/// Pure. Others' samples that are counted through this peer the way adds
/// (`way::reported`).
#pragma once

#include <optional>

#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/step/facts.hpp"

namespace potluck {

class self_report {
public:
  /// @param stated Id, role and charter; the line as its user states it, where
  ///     a figure is not zero.
  explicit self_report(const progress_report& stated);

  const progress_report& own() const {
    return own_;
  }
  /// The digest of the state that this peer holds; it may report another.
  const digest& held() const {
    return held_;
  }

  /// Samples that are counted for the next step.
  void count(std::uint64_t samples) {
    own_.samples = samples;
  }
  /// Another state is held, of which `reported` is said.
  void hold(const state_changed& x, const digest& reported);
  /// What it has signed of the step that led there.
  void sign(const step_signature& x) {
    own_.step_proof = x;
  }
  /// A peer without a model stands where the history does that counts.
  /// @param holders That hold its state; none: it stays where it is.
  /// @return Whether it has moved.
  bool follow(const std::vector<progress_report>& holders);
  /// The run goes on from a state of earlier. What others report counts for
  /// this peer, and the other way round, where this is the same.
  void enter_era(const digest& charter);
  /// The line was measured; what the user states counts more.
  void measure(const line_measured& x);

  // ---- taking part --------------------------------------------------------

  /// Whether this peer averages in groups itself, as far as is decided yet.
  bool averages() const {
    return placed_ && !own_.contributes;
  }
  /// Somebody is going to say how this peer takes part.
  void await_place(bool yes) {
    placed_ = !yes || told_place_;
  }
  /// How this peer takes part. A change waits while the peer is `busy` for a
  /// group: `postponed` tells it again.
  /// @return Whether it counts now.
  bool stand(const cell_standing& x, bool busy);
  const std::optional<cell_standing>& postponed() const {
    return postponed_;
  }

  // ---- saying so ----------------------------------------------------------

  /// The figures that are said with the next report.
  void update(phase what, double samples_per_second, double loss);
  /// Whether `what` is worth saying now. Others hear of more samples of a
  /// contributor only every `pause`.
  bool is_news(bool urgent, duration pause, time_point now);
  /// What is told of `report`: a peer that does not know how it takes part is
  /// still joining.
  progress_report told(progress_report report) const;

private:
  progress_report own_;
  digest held_;
  bool states_upload_;   ///< The user does.
  bool states_download_; ///< Likewise.
  bool placed_ = true;
  bool told_place_ = false;
  std::optional<cell_standing> postponed_;
  phase announced_ = phase::joining;
  time_point announced_at_;
};

} // namespace potluck
