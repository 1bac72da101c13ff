/// Groups that are drawn anew for every step, many side by side (README.md,
/// "Moshpit SGD"): each averages gradients and parameters, so all stay together
/// though nobody ever averages with all.
#pragma once

#include <set>

#include "runtime/ways/way.hpp"

namespace potluck {

class redrawn_groups : public way {
public:
  /// A trainer that does not reach all of a group leaves it so long to others
  /// to lead it: a round trip and a look around of theirs.
  static constexpr auto hampered_pause = std::chrono::milliseconds{1000};

  struct settings {
    digest charter;         ///< Of the run.
    std::uint64_t seed = 0; ///< Of the run.
    std::size_t group_size = 2;
  };

  explicit redrawn_groups(settings how) : how_(how) {
  }

  bool one_history() const override {
    return false;
  }
  reports partners(const outlook& at) override;
  bool awaits(const outlook& at, const peer_id& who) override;
  bool can_lead(const outlook& at, const reports& partners) override;
  bool others_lead(const outlook& at, const reports& partners,
                   const leader_order& order, std::size_t passed_over,
                   duration due) override;
  reports donors(const outlook& at, reports ahead, duration patience) override;

  bool due(const outlook& at) const override;
  /// Half of what they have now. Not their part of the target batch: a group of
  /// slow machines has less, and would never make a step.
  std::uint64_t least_samples(const outlook& at,
                              const reports& partners) const override;

  progress_report reported(const outlook& at) const override {
    return at.own;
  }
  /// All who are at one step report the same, whatever they hold.
  digest reported_state(std::uint64_t step, const digest& held) const override;
  void tell(const outlook& at, matchmaking_facts& facts) override;
  std::pair<std::string, std::string>
  explain(const outlook& at, const group_contract& contract) override;

  std::uint64_t round_values(std::uint64_t parameters) const override;
  bool lends_parameters() const override {
    return true;
  }
  void formed(const group_contract& contract) override;
  void lost(const peer_id& who) override {
    hampered_.erase(who);
  }
  void begin_step() override {
    behind_since_.reset();
  }

private:
  /// With whom this peer is to average the next step; itself included.
  const std::set<peer_id>& group(const outlook& at);
  /// Whether this peer's group may still make the step that others have made.
  bool may_still_form(const outlook& at, std::uint64_t step_ahead,
                      duration patience);

  settings how_;
  std::vector<peer_id> drawn_from_;
  std::uint64_t drawn_for_ = 0; ///< Step held.
  std::set<peer_id> drawn_;     ///< Of these, for the step after that.
  std::set<peer_id> hampered_;  ///< Did not reach all of some group of ours.
  std::optional<time_point> behind_since_; ///< By one step.
  std::uint64_t fetches_ = 0;
};

} // namespace potluck
