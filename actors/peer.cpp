#include "actors/peer.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "actors/network_staff.hpp"
#include "actors/training_staff.hpp"
#include "runtime/experts/replication_plan.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/state/artifact_list.hpp"

namespace potluck {

namespace {

/// Of the deadline behind which children are killed; leaving's is 0.
constexpr std::uint64_t grace_is_over = 1;
/// Of the one by which a host's experts must be with others.
constexpr std::uint64_t hand_over_is_over = 2;

class peer_state {
public:
  void init(supervisor_actor::pointer self,
            std::pair<peer_config, observer_actor> config);

  void on(const gateway_ready& x);
  void on(const charter_agreed& x);
  void on(const run_entered&) {
    enter();
  }
  void on(const terms_known& x);
  void on(const artifacts_here&);
  void on(const round_begun& x);
  void on(const leave_run& x);
  void on(const hand_over_done&);
  void on(const deadline_passed& x);
  void on_down(const caf::down_msg& x);

private:
  /// Begins to train, once the charter is there, this peer admitted, and all
  /// artifacts that a trainer needs on this machine.
  void enter();
  void wire();
  void say_goodbye();
  void end();

  supervisor_actor::pointer self_ = nullptr;
  peer_estate has_;
  std::unique_ptr<supervisor> children_;
  std::optional<network_staff> network_;
  std::optional<training_staff> training_staff_;
  bool has_artifacts_ = false; ///< As many as it needs.
  bool training_ = false;
  bool leaving_ = false;
  bool goodbye_said_ = false;
  std::string leaving_reason_;
  bool stopping_ = false; ///< The children were asked to end.
};

supervisor_actor::behavior_type
peer(supervisor_actor::stateful_pointer<peer_state> self,
     std::pair<peer_config, observer_actor> config) {
  return behave<supervisor_actor, peer_state>(self, std::move(config));
}

} // namespace

peer_actor spawn_peer(caf::actor_system& system, peer_config config,
                      observer_actor observer) {
  return system.spawn(peer,
                      std::make_pair(std::move(config), std::move(observer)));
}

void peer_state::init(supervisor_actor::pointer self,
                      std::pair<peer_config, observer_actor> config) {
  self_ = self;
  has_.config = std::move(config.first);
  has_.wired.observer = std::move(config.second);
  has_.wired.beside = has_.config.beside;
  has_.wired.supervisor = caf::actor_cast<supervisor_actor>(self);
  has_.wired.guests = std::make_shared<guest_list>();
  if (has_.config.vault)
    has_.vault = has_.config.vault;
  has_.vault->state = std::exchange(has_.config.state, nullptr);
  if (auto own = has_.config.manifests.find(has_.config.run);
      own != has_.config.manifests.end())
    *has_.manifest = own->second;
  has_.gate
      = open_gate(has_.config, *has_.manifest, self_->home_system().clock());
  children_ = std::make_unique<supervisor>(self_, has_.config.child_started);
  network_.emplace(self_, has_, *children_);
  training_staff_.emplace(self_, has_, *children_);
  network_->start();
  wire();
}

void peer_state::wire() {
  hand_out(has_.wired, [this](const auto& actor, const auto& handles) {
    self_->send(actor, handles);
  });
}

void peer_state::on(const gateway_ready& x) {
  // A restarted gateway must be found where the first one was.
  has_.config.listen = x.bound;
  if (has_.config.keeping)
    has_.config.keeping->known.listens(x.bound.port);
  if (has_.wired.address_keeper)
    self_->send(has_.wired.address_keeper, x);
  self_->send(has_.wired.observer,
              event{"listening",
                    {{"address", to_string(x.bound)},
                     {"peer", short_name(has_.config.self)},
                     {"id", to_string(has_.config.self)},
                     {"role", to_string(has_.config.role)}}});
}

void peer_state::on(const charter_agreed& x) {
  if (leaving_ || !has_.agreed.digest().empty())
    return;
  has_.agreed = x.agreed;
  self_->send(has_.wired.observer,
              event{"charter",
                    {{"run", has_.agreed.settings().run},
                     {"founded", x.founded},
                     {"digest", to_string(has_.agreed.digest())},
                     {"steps", has_.agreed.settings().steps}}});
  lay_down(*has_.gate, *has_.manifest, has_.agreed.settings());
  if (id_in(has_.agreed.settings().run).empty())
    return on(terms_known{});
  // It answers with what the organiser has said since.
  self_->send(
      has_.wired.amendment_keeper,
      manifest_known{has_.config.run,
                     std::make_shared<const std::string>(*has_.manifest)});
}

void peer_state::on(const terms_known& x) {
  if (leaving_ || stopping_ || has_.agreed.digest().empty())
    return;
  has_.terms = x.terms;
  has_.amended = true;
  if (has_.terms && has_.terms->admission()) {
    // Both have open, token and list in this order.
    has_.gate->amend(
        static_cast<admission_rules::mode>(*has_.terms->admission()));
  }
  if (has_.wired.admission_keeper)
    self_->send(has_.wired.admission_keeper,
                charter_agreed{has_.agreed, false});
  if (has_.wired.conductor)
    self_->send(has_.wired.conductor, x);
  enter();
}

void peer_state::enter() {
  if (leaving_ || stopping_ || training_ || !has_.amended
      || !has_.gate->is_inside())
    return;
  const bool lists_some = !has_.agreed.file(artifacts_file).empty();
  if (lists_some && !has_.wired.artifact_keeper) {
    training_staff_->start_artifact_keeper();
    wire();
  }
  if (lists_some && !has_artifacts_ && has_.config.role == role::trainer)
    return;
  training_ = true;
  network_->start_history_keeper();
  training_staff_->start();
  wire();
}

void peer_state::on(const artifacts_here&) {
  has_artifacts_ = true;
  enter();
}

void peer_state::on_down(const caf::down_msg& x) {
  if (leaving_ || stopping_) {
    children_->forget(x);
    if (!stopping_ && has_.wired.expert_host
        && x.source == has_.wired.expert_host.address())
      say_goodbye();
    if (!stopping_ && x.source == has_.wired.gateway.address())
      end();
    else if (stopping_ && children_->childless())
      self_->quit();
    return;
  }
  std::string name;
  auto reason = caf::actor_system_config::render(x.reason);
  switch (children_->on_down(x, self_->clock().now(), name)) {
    case supervisor::verdict::unrelated:
      break;
    case supervisor::verdict::restarted:
      self_->send(has_.wired.observer, fault_news("restarted " + name, reason));
      wire();
      break;
    case supervisor::verdict::exhausted:
      self_->send(has_.wired.observer,
                  peer_over{"The peer's " + name
                                + " failed too often, last with: " + reason,
                            false});
      end();
      break;
  }
}

void peer_state::on(const round_begun& x) {
  has_.last_round = x;
}

void peer_state::on(const leave_run& x) {
  if (leaving_ || stopping_)
    return;
  leaving_ = true;
  // To an averager that sees all connections end, everybody else is lost: it
  // would complete the round alone.
  auto end = [this](const auto& child) {
    if (child)
      self_->send_exit(child, caf::exit_reason::user_shutdown);
  };
  end(has_.wired.conductor);
  end(has_.wired.averager);
  leaving_reason_ = x.reason;
  if (!has_.wired.expert_host) {
    say_goodbye();
    return;
  }
  // Saves what its experts have learnt, and finds them other hosts.
  self_->send(has_.wired.expert_host, x);
  self_->delayed_send(self_, limits::hand_over_patience,
                      deadline_passed{hand_over_is_over});
}

void peer_state::on(const hand_over_done&) {
  if (leaving_)
    say_goodbye();
}

void peer_state::say_goodbye() {
  if (goodbye_said_ || stopping_)
    return;
  goodbye_said_ = true;
  // The gateway says goodbye and ends by itself; it may hang, so not for long.
  self_->send(has_.wired.gateway, leave_run{leaving_reason_});
  self_->delayed_send(self_, limits::leave_patience, deadline_passed{});
}

void peer_state::on(const deadline_passed& x) {
  if (x.number == hand_over_is_over) {
    say_goodbye();
  } else if (!stopping_) {
    end();
  } else if (x.number == grace_is_over) {
    children_->kill();
    self_->quit();
  }
}

void peer_state::end() {
  stopping_ = true;
  children_->stop();
  has_.wired = {};
  if (children_->childless())
    self_->quit();
  else
    self_->delayed_send(self_, limits::shutdown_grace,
                        deadline_passed{grace_is_over});
}

} // namespace potluck
