/// Matchmaking: runtime/matchmaking between the mailbox and the sessions.
///
/// Adds what the pure matchmaker lacks: deadlines, random group ids, and the
/// share plan that every member derives from the contract.
#pragma once

#include <set>

#include "actors/interfaces.hpp"
#include "runtime/config.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/planning/claims_check.hpp"
#include "runtime/planning/collaboration.hpp"
#include "runtime/random.hpp"

namespace potluck {

struct matchmaking_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  run_settings settings;
  std::uint64_t seed = 0; ///< Of group ids.
};

class matchmaking_state {
public:
  void init(matchmaking_actor::pointer self, matchmaking_config config);

  void on(const wiring& w);
  void on(const letter& x);
  void on(const peer_joined&) {
  }
  void on(const peer_left& x);
  void on(const matchmaking_facts& x);
  void on(const lead_group& x);
  void on(const gradient_frozen& x);
  void on(const round_over& x);
  void on(const deadline_passed& x);

private:
  void carry_out(const matchmaker::actions& actions);
  void carry_out(const send_to_peer& x);
  void carry_out(const freeze_gradient& x);
  void carry_out(const release_gradient& x);
  void carry_out(const start_round& x);
  void carry_out(const member_declined& x);
  void arm();
  plan_rules rules() const; ///< The run's.
  /// Planned once: members compare its digest before they start, and what a
  /// round begins with should not wait for the same again.
  const share_plan& plan_of(const group_contract& contract);
  /// For the slowest answer, from what the invited took lately.
  std::chrono::milliseconds answer_patience(const lead_group& x) const;
  void answered(const peer_id& from, const group_answer& x);
  /// Holds the plan of a round against what it took.
  void check_claims(const round_over& x);
  /// This peer will not start the group's round, whoever has begun it.
  void stay_out(const group_id& group);
  /// Tells the members of the round that this peer is out of it.
  void withdraw();

  matchmaking_actor::pointer self_ = nullptr;
  matchmaking_config config_;
  wiring wired_;
  random_stream random_{0};
  /// Made when the gradient's length is known.
  std::optional<matchmaker> matchmaker_;
  std::vector<peer_id> members_; ///< Of the round that began last.
  matchmaking_facts facts_;
  claims_check claims_;
  group_id planned_; ///< The round that began last, and what its plan says.
  double planned_seconds_ = 0;
  /// With the digest of what it follows from.
  std::optional<std::pair<digest, share_plan>> last_plan_;
  std::chrono::milliseconds patience_;
  duration gathering_{0}; ///< What a sponsor may take longer to answer.
  deadline_estimator answers_{
      {limits::answer_floor, limits::answer_cap, limits::answer_cap}};
  /// From leading to the own frozen gradient: no measure for anybody else.
  deadline_estimator freezes_{
      {limits::answer_floor, limits::answer_cap, limits::answer_cap}};
  /// Since when this peer leads, and who has not answered.
  group_id led_;
  caf::actor_clock::time_point invited_at_;
  std::set<peer_id> unanswered_;
  /// Since when most others will not be in this peer's groups, at this step.
  std::optional<caf::actor_clock::time_point> outnumbered_since_;
  std::uint64_t deadline_ = 0;
};

matchmaking_actor::behavior_type
matchmaking(matchmaking_actor::stateful_pointer<matchmaking_state> self,
            matchmaking_config config);

} // namespace potluck
