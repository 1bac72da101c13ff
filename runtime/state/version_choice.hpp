/// Which version of the state a joiner fetches, and how long it tries.
///
/// The state is fetched as it was after one step. A version is good when the
/// donors hold it, or come to it, and have the means behind it. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/state/donor_panel.hpp"
#include "runtime/state/vouchers.hpp"

namespace potluck {

class version_choice {
public:
  /// Versions asked for in one fetch.
  static constexpr unsigned most_tries = 12;
  /// So often a version that few have is left for one that most have.
  static constexpr unsigned choosy_tries = 4;
  /// A single donor makes no step before its joiner is there (runtime/step,
  /// `entering`): so often it is asked for what it holds now.
  static constexpr unsigned tries_alone = 3;
  /// Nobody gets further for so long, and for so many times what asking took:
  /// they wait for this joiner, and do not come to a version that is ahead.
  static constexpr duration standstill = std::chrono::seconds{1};
  static constexpr int standstill_times = 4;

  /// @param last_step Of the run: no version lies behind it.
  explicit version_choice(std::uint64_t last_step) : last_step_(last_step) {
  }

  enum class way {
    resumed, ///< On with the version that was put aside.
    means,   ///< Those that follow the state that this peer holds.
    state,   ///< As it is after the goal's step.
  };
  /// A fetch begins: in which way.
  way begin(const fetch_goal& goal, time_point now);
  /// A part of this state of the version is here, and kept for the next fetch.
  void put_aside(const digest& state, time_point now);
  /// Nothing of the version is here any more.
  void forget();

  std::uint64_t step() const {
    return step_;
  }
  const digest& state() const {
    return state_;
  }
  bool means_only() const {
    return means_only_;
  }
  /// Whether this is what is fetched.
  bool is(std::uint64_t step, const digest& state) const {
    return step == step_ && (state_.empty() || state == state_);
  }
  /// Somebody is at that step: it may be ours, which can be had then.
  void heard_of(std::uint64_t step, time_point now);
  /// Since when the version can be had.
  std::optional<time_point> reached() const {
    return reached_;
  }

  /// A hub keeps the version of that step, and the means behind it: that is
  /// fetched from here on. @returns False: it is of no use.
  bool follow(std::uint64_t offered, const fetch_goal& goal,
              const vouchers& claims, time_point now);

  struct situation {
    donor_panel::tally donors;
    bool loading = true;      ///< The trainer has no state of this fetch yet.
    bool pieces_here = false; ///< Of the state.
    bool lied = false;        ///< All that reported this state did.
  };
  enum class advice {
    go_on,
    change,    ///< It is another version from here on.
    fail,      ///< The fetch cannot go on.
    set_aside, ///< Likewise, but what is here is worth keeping.
  };
  struct judgement {
    advice what = advice::go_on;
    std::string reason = {}; ///< Of an end.
  };
  /// Whether this version, and what follows it, can still be had; else it is
  /// another one from here on.
  /// @param goal Fetched as a whole when its means cannot be had.
  judgement judge(const situation& x, const fetch_goal& goal,
                  const vouchers& claims, time_point now);

private:
  /// They stand still before that step.
  bool is_out_of_reach(time_point now) const;
  judgement change(const std::vector<donor_panel::refusal>& refusals,
                   const fetch_goal& goal, const vouchers& claims,
                   time_point now);
  void fetch_state(std::uint64_t step, const digest& state, bool alone,
                   time_point now);

  std::uint64_t last_step_;
  std::uint64_t step_ = 0;
  digest state_; ///< Empty: nobody has said.
  bool means_only_ = false;
  bool resumed_ = false;
  std::set<std::uint64_t> tried_;
  unsigned tries_ = 0;
  std::uint64_t known_step_ = 0;
  std::uint64_t newest_ = 0;  ///< Heard of,
  time_point newest_since_{}; ///< since when.
  duration asking_{};         ///< Took so long the last time.
  time_point began_{};
  std::optional<time_point> reached_;   ///< When somebody was there.
  std::optional<time_point> donorless_; ///< Since when.
  std::optional<time_point> unserved_;  ///< Since when all were busy.
  std::optional<time_point> put_aside_at_;
};

} // namespace potluck
