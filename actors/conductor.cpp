#include "actors/conductor.hpp"

#include <type_traits>
#include <utility>

#include "actors/behavior.hpp"
#include "runtime/step/step_pace.hpp"

namespace potluck {

namespace {

template <class T, class... Ts>
constexpr bool is_among = (std::is_same_v<T, Ts> || ...);

/// Carries out an action: who gets it, and how.
struct carrier {
  conductor_actor::pointer self;
  const conductor_handles& to;

  template <class Handle, class T>
  void send(const Handle& receiver, T& x) const {
    if (receiver)
      self->send(receiver, std::move(x));
  }

  template <class T>
  void operator()(T& x) const {
    if constexpr (is_among<T, compute_batch, lend_gradient, drop_gradient,
                           set_gradient_aside, take_gradient_back, apply_mean,
                           add_gradient, terms_known>)
      send(to.compute, x);
    else if constexpr (is_among<T, matchmaking_facts, lead_group,
                                gradient_frozen>)
      send(to.matchmaking, x);
    else if constexpr (is_among<T, begin_round, member_withdrew>)
      send(to.averager, x);
    else if constexpr (is_among<T, gather_contributions, contribution_taken,
                                hand_over>)
      send(to.cell, x);
    else if constexpr (is_among<T, fetch_state, go_back, report_heard,
                                mean_applied, save_checkpoint_now,
                                may_be_saved>)
      send(to.state_keeper, x);
    else if constexpr (is_among<T, step_signed>)
      send(to.history_keeper, x);
    else if constexpr (is_among<T, own_report>)
      send(to.roster, x);
    else
      send(to.observer, x); // event, run_status, peer_over
  }

  void operator()(outcome_question& x) const {
    self->delayed_send(to.averager, x.after, x.what);
  }
  void operator()(contributor_pace& x) const {
    if (!to.cell || !to.roster)
      return;
    self->send(to.roster, x);
    self->send(to.cell, x);
  }
  void operator()(look_later& x) const {
    self->delayed_send(self, x.after, tick{});
  }
};

} // namespace

void conductor_state::init(conductor_actor::pointer self,
                           conductor_config config) {
  self_ = self;
  config.first_batch_number = static_cast<std::uint64_t>(self_->id()) << 32;
  machine_.emplace(std::move(config), self_->clock().now());
  self_->send(self_, tick{});
}

void conductor_state::on(const conductor_handles& w) {
  wired_ = w;
  on(surroundings{wired_.cell != nullptr});
}

void conductor_state::on(const tick&) {
  if (wired_.observer)
    on(time_passed{});
  else
    self_->delayed_send(self_, limits::conductor_interval, tick{});
}

void conductor_state::carry_out(step_machine::actions all) {
  for (auto& x : all)
    std::visit(carrier{self_, wired_}, x);
}

conductor_actor::behavior_type
conductor(conductor_actor::stateful_pointer<conductor_state> self,
          conductor_config config) {
  return behave<conductor_actor, conductor_state>(self, std::move(config));
}

} // namespace potluck
