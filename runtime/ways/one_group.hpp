/// All trainers of the run average every step together, in one group.
#pragma once

#include "runtime/ways/way.hpp"

namespace potluck {

class one_group : public way {
public:
  /// @param size Trainers in it at most.
  explicit one_group(std::size_t size) : size_(size) {
  }

  bool one_history() const override {
    return true;
  }
  reports partners(const outlook& at) override;
  bool awaits(const outlook&, const peer_id&) override {
    return true;
  }
  bool can_lead(const outlook&, const reports&) override {
    return true;
  }
  bool others_lead(const outlook& at, const reports& partners,
                   const leader_order& order, std::size_t passed_over,
                   duration due) override;
  reports donors(const outlook&, reports ahead, duration) override {
    return ahead;
  }
  bool due(const outlook& at) const override;
  std::uint64_t least_samples(const outlook&, const reports&) const override {
    return 0;
  }
  progress_report reported(const outlook& at) const override {
    return at.own;
  }
  digest reported_state(std::uint64_t, const digest& held) const override {
    return held;
  }
  void tell(const outlook& at, matchmaking_facts& facts) override;
  std::pair<std::string, std::string>
  explain(const outlook& at, const group_contract& contract) override;
  std::uint64_t round_values(std::uint64_t parameters) const override {
    return parameters;
  }
  bool lends_parameters() const override {
    return false;
  }

private:
  std::size_t size_;
};

} // namespace potluck
