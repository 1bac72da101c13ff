/// The means of the last steps, as a donor keeps them for those who missed
/// them.
///
/// Bounded: `limits::means_kept` and `means_kept_bytes` when nobody joins, and
/// for joiners under way all from their version on, up to `journal_bytes` and
/// `journal_steps`.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "runtime/state/limits.hpp"
#include "runtime/state/pieces.hpp"

namespace potluck {

class mean_journal {
public:
  struct bounds {
    std::size_t idle_means; ///< Kept when nobody needs them.
    std::size_t means;
    std::uint64_t bytes;
    /// Of idle means. Of more one is kept that others may have missed.
    std::uint64_t idle_bytes = limits::means_kept_bytes;
  };
  explicit mean_journal(bounds most);

  /// The mean of the newest step. When it does not follow the last one (another
  /// history was taken over), those before are forgotten.
  void add(passed_mean mean);

  /// This state is held from here on: means that came after it, or led
  /// elsewhere, are of no use to anybody.
  void back_to(std::uint64_t step, const digest& state);

  /// Keeps the means behind this step, if the bounds let it; none: nobody needs
  /// more than the newest.
  void keep_after(std::optional<std::uint64_t> step);

  /// Null when the mean that completed `step` is not here.
  const passed_mean* completing(std::uint64_t step) const;
  /// Null when no mean here led to this state.
  const passed_mean* leading_to(const digest& state) const;
  /// Its list of pieces, made when first asked for. The step is here.
  const state_manifest& manifest(std::uint64_t step);

  /// The first step whose mean is here; 0 when none is.
  std::uint64_t oldest() const {
    return means_.empty() ? 0 : means_.front().mean.step;
  }
  std::size_t size() const {
    return means_.size();
  }

private:
  struct entry {
    passed_mean mean;
    std::optional<state_manifest> listed;
  };
  bool is_kept(const passed_mean& oldest) const;
  void shrink();

  bounds most_;
  std::optional<std::uint64_t> needed_after_;
  std::deque<entry> means_; ///< Consecutive steps, newest last.
  std::uint64_t bytes_ = 0;
};

} // namespace potluck
