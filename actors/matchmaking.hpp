/// Matchmaking: runtime/matchmaking between the mailbox and the sessions.
///
/// Adds what the pure matchmaker lacks: deadlines, random group ids, and the
/// share plan that every member derives from the contract.
#pragma once

#include <functional>
#include <optional>

#include "actors/handles.hpp"
#include "runtime/averaging/round/awaited_group.hpp"
#include "runtime/averaging/round_memory.hpp"
#include "runtime/config.hpp"
#include "runtime/matchmaking/answer_patience.hpp"
#include "runtime/matchmaking/contract_plans.hpp"
#include "runtime/matchmaking/last_trainers.hpp"
#include "runtime/matchmaking/line_book.hpp"
#include "runtime/matchmaking/matchmaker.hpp"
#include "runtime/random.hpp"
#include "runtime/safeguards.hpp"

namespace potluck::limits {

/// How long a peer declines after a share that it could not hold: a group that
/// loses it then heals, which costs more than to do without.
constexpr auto too_large_rest = 5min;

} // namespace potluck::limits

namespace potluck {

struct matchmaking_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  run_settings settings;
  std::uint64_t seed = 0; ///< Of group ids.
  /// What rounds may hold; null: as much as they need.
  std::shared_ptr<memory_allowance> memory = {};
  /// Told before anybody else which group it is. The averager's, too.
  std::shared_ptr<awaited_group> awaited = std::make_shared<awaited_group>();
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
  /// See `peer_config::bend_contract`.
  std::function<void(group_contract&)> bend_contract = {};
};

class matchmaking_state {
public:
  void init(matchmaking_actor::pointer self, matchmaking_config config);

  void on(const matchmaking_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
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
  void carry_out(const member_lied& x);
  void carry_out(const answers_over& x);
  void carry_out(const leader_failed& x);
  void arm();
  void make_matchmaker();
  /// The next answer says with whom this peer has no line of its own.
  void tell_lines();
  /// Whether the round would hold too much here: then this peer stays out of
  /// groups for a while. A sentence, or empty.
  std::string too_large(const group_contract& x);
  /// This peer will not start the group's round, whoever has begun it.
  void stay_out(const group_id& group);
  /// Why no invitation of this peer's is followed now; empty: it may be.
  std::string declines(const peer_id& leader) const;
  /// Tells the members of the round that this peer is out of it.
  void withdraw();

  matchmaking_actor::pointer self_ = nullptr;
  matchmaking_config config_;
  matchmaking_handles wired_;
  random_stream random_{0};
  /// Made when the gradient's length is known.
  std::optional<matchmaker> matchmaker_;
  std::vector<peer_id> members_; ///< Of the round that began last.
  matchmaking_facts facts_;
  line_book lines_;
  std::optional<contract_plans> plans_;
  std::optional<answer_patience> answers_;
  last_trainers averages_for_; ///< Of an auxiliary.
  duration computing_{0};      ///< Of the step that this peer leads.
  std::chrono::milliseconds patience_ = limits::first_round_patience;
  /// Since when most others will not be in this peer's groups, at this step.
  std::optional<time_point> outnumbered_since_;
  std::optional<time_point> rests_until_; ///< After a share that was too large.
  std::uint64_t deadline_ = 0;
};

matchmaking_actor::behavior_type
matchmaking(matchmaking_actor::stateful_pointer<matchmaking_state> self,
            matchmaking_config config);

} // namespace potluck
