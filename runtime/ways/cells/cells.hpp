/// One group of members, and cells around them: a trainer that is no member
/// hands its gradient to one (README.md).
#pragma once

#include "runtime/ways/cells/cell_tally.hpp"
#include "runtime/ways/one_group.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A contributor that has handed over computes nothing more for the same step
/// in this time: usually the step is done by then.
constexpr auto contributor_rest = 10s;

} // namespace potluck::limits

namespace potluck {

class cells : public one_group {
public:
  struct settings {
    std::size_t group_size = 2;              ///< Members at most.
    std::optional<potluck::packing> packing; ///< None: by the lines.
    bool overlaps = false;                   ///< Averaging beside computing.
  };

  explicit cells(settings how) : one_group(how.group_size), how_(how) {
  }

  progress_report reported(const outlook& at) const override;

  // ---- as a sponsor -------------------------------------------------------

  std::optional<gather_contributions> gather(const outlook& at,
                                             std::uint64_t parameters,
                                             double computing) override;
  bool gathering() const override {
    return gathering_;
  }
  bool gathered() override;
  void took(const peer_id& who) override {
    tally_.gave(who);
  }

  // ---- as a contributor ---------------------------------------------------

  std::string asked(const outlook& at, const contribution_wanted& x,
                    bool something) override;
  const contribution_wanted* question() const override {
    return question_ ? &*question_ : nullptr;
  }
  void answered(const outlook& at, bool gave) override;
  bool rests(const outlook& at) const override;

  void heard(const outlook& at, const progress_report& x) override;
  void lost(const peer_id& who) override {
    tally_.forget(who);
  }
  void thawed() override {
    told_to_gather_ = false;
  }
  void state_changed() override {
    gathering_ = false;
  }

private:
  std::vector<packing> packings(const outlook& at,
                                const std::vector<peer_id>& contributors,
                                std::uint64_t bytes, double computing) const;

  settings how_;
  cell_tally tally_; ///< Of this peer's contributors.
  bool gathering_ = false;
  bool told_to_gather_ = false; ///< Since the gradient was frozen.
  std::optional<contribution_wanted> question_; ///< Of the sponsor.
  std::uint64_t gave_for_step_ = 0;
  time_point rests_until_;
};

} // namespace potluck
