/// The checkpoints that a peer writes: the newest at one path, older ones
/// beside it, as PATH.STEP.
///
/// At every moment PATH is a whole file: an older one gets its second name (a
/// hard link) before PATH is replaced. Where the file system has none, the
/// newest alone is kept. Blocking and thread-safe: one writes at a time.
///
/// What an earlier start of the peer left counts as any older file once a later
/// step was written here, as is usual: others have the run's state. Until then
/// it stays, since this start may have begun anew.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/history.hpp"
#include "messages/ids.hpp"
#include "runtime/ports/disk.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

class checkpoint_files {
public:
  struct places {
    std::string path;
    /// Where the run's last state goes when that fails; empty: nowhere.
    std::string fallback = {};
    /// The newest so many, 1 at least. More than one is for this machine's
    /// disk.
    std::size_t keep = 1;
    disk* where = &local_disk(); ///< Outlives this.
  };

  struct outcome {
    std::string path;    ///< Where it lies.
    std::string problem; ///< Why it is not at `places::path`; empty: it is.
  };

  explicit checkpoint_files(places at) : at_(std::move(at)) {
  }

  const std::string& path() const {
    return at_.path;
  }

  /// Training goes on from this file: it is never removed, and what it holds
  /// need not be written. Before all else.
  void resumes(const std::string& file, const training_state& state);

  /// What an earlier start of the peer left.
  struct left_behind {
    std::string path; ///< Empty: nothing.
    std::uint64_t step = 0;
  };

  /// Training goes on from no file. If PATH holds a later step than the first
  /// of this run, that file is PATH.STEP from now on, and is never removed; it
  /// takes the place of an older one of that step. Fails with a sentence where
  /// it cannot get that name. Before all else.
  expected<left_behind> spare(const std::string& run);

  /// What the checkpoints are of.
  void begin(const charter& agreed);

  /// What proves the run's history, as far as it is known by now: the newest
  /// step last.
  void proves(std::vector<signed_step> history);

  outcome save(const training_state& state);

  /// The state with this digest may take the place of an older one, also when
  /// this peer leaves.
  void may_be_saved(const digest& state);

  /// Whether that is to be written when the peer leaves: it may be, or was made
  /// from one that may, and is not here yet.
  bool lacks(const training_state& state) const;

private:
  struct file_number {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
  };

  bool is_pinned(const std::string& file) const;
  std::string older_name(std::uint64_t step) const;
  /// Gives PATH its second name; without effect where that cannot be.
  void keep_newest(std::uint64_t next_step) const;
  void remove_oldest(const std::string& run) const;

  const places at_;
  std::mutex writing_;                ///< Held while files are written.
  std::uint64_t farthest_ = 0;        ///< Of the steps that were written here.
  std::optional<file_number> pinned_; ///< Never removed; set before all else.
  mutable std::mutex mutex_;          ///< Of what follows.
  std::shared_ptr<const charter> agreed_;
  digest done_;    ///< Of the state that was written, or tried, or resumed.
  digest allowed_; ///< Of the newest that may be saved.
  std::vector<signed_step> history_;
};

} // namespace potluck
