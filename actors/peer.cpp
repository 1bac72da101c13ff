#include "actors/peer.hpp"

#include <utility>

#include "actors/averager.hpp"
#include "actors/behavior.hpp"
#include "actors/cell.hpp"
#include "actors/conductor.hpp"
#include "actors/gateway.hpp"
#include "actors/guest_list.hpp"
#include "actors/matchmaking.hpp"
#include "actors/registrar.hpp"
#include "actors/roster.hpp"
#include "actors/router.hpp"
#include "runtime/experts/replication_plan.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Tells the streams of one seed apart.
enum random_purpose : std::uint64_t {
  routing_choices = 1,
  redial_jitter = 2,
  group_ids = 3,
  cells = 4,
  audits = 5,
};

/// Of the deadline behind which children are killed; leaving's is 0.
constexpr std::uint64_t grace_is_over = 1;
/// Of the one by which a host's experts must be with others.
constexpr std::uint64_t hand_over_is_over = 2;

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
  config_ = std::move(config.first);
  wired_.observer = std::move(config.second);
  wired_.beside = config_.beside;
  wired_.supervisor = caf::actor_cast<supervisor_actor>(self);
  wired_.guests = std::make_shared<guest_list>();
  if (config_.vault)
    vault_ = config_.vault;
  vault_->state = std::exchange(config_.state, nullptr);
  if (auto own = config_.manifests.find(config_.run);
      own != config_.manifests.end())
    *manifest_ = own->second;
  open_gate();
  children_ = std::make_unique<supervisor>(self_, config_.child_started);
  start_network();
  wire();
}

void peer_state::start_network() {
  children_->add({"gateway", child(wired_.gateway, [this] {
                    gateway_config c;
                    c.introduction.id = config_.self;
                    c.introduction.role = config_.role;
                    c.introduction.run = config_.run;
                    auto known = charter_.digest().empty()
                                     ? config_.known.value_or(charter{})
                                     : charter_;
                    if (!known.digest().empty()) {
                      c.introduction.charter = known.digest();
                      c.introduction.settings = known.table();
                    }
                    c.listen = config_.listen;
                    if (config_.keeping)
                      c.usual_port = config_.keeping->known.port();
                    c.also_listen = config_.also_listen;
                    c.make_transport = config_.make_transport;
                    c.supervisor = wired_.supervisor;
                    c.observer = wired_.observer;
                    c.session_started = config_.child_started;
                    c.intake = intake_;
                    c.wall_clock = config_.wall_clock;
                    c.rests = config_.rests;
                    c.relays_experts = config_.relays_experts;
                    c.guests = wired_.guests;
                    c.gate = gate_;
                    c.probes_line = config_.upload_bytes_per_second == 0
                                    && (config_.role == role::trainer
                                        || config_.role == role::auxiliary);
                    auto g = self_->spawn(gateway, c);
                    gateway_ = g.address();
                    return g;
                  })});
  children_->add({"roster", child(wired_.roster, [this] {
                    roster_config c;
                    c.self = config_.self;
                    c.role = config_.role;
                    c.run = config_.run;
                    c.seeds = config_.seeds;
                    c.pins = config_.pins;
                    if (config_.keeping)
                      c.hints = config_.keeping->known.addresses();
                    c.announce = config_.announce;
                    c.mapper = config_.mapper;
                    c.seed = mix(config_.seed, redial_jitter);
                    return self_->spawn(roster, c);
                  })});
  children_->add(
      {"router",
       child(wired_.router,
             [this] {
               return self_->spawn(
                   router, router_config{config_.self,
                                         mix(config_.seed, routing_choices),
                                         config_.role == role::trainer,
                                         config_.signs, config_.wall_clock});
             }),
       // Whoever asks it looks again, and the roster tells it who is here.
       child_spec::policy::one_for_one});
  start_address_keeper();
  if (config_.role != role::expert)
    start_amendment_keeper();
  if (config_.role == role::bootstrap) {
    start_charter_shelf();
    start_history_keeper();
    start_authority();
    return;
  }
  start_hole_maker();
  start_admission_keeper();
  start_experts();
  if (config_.role == role::expert)
    return;
  children_->add({"registrar",
                  child(wired_.registrar,
                        [this] {
                          registrar_config c;
                          c.self = config_.self;
                          c.role = config_.role;
                          c.run = config_.run;
                          c.manifest = manifest_;
                          c.known = config_.known;
                          if (!charter_.digest().empty())
                            c.known = charter_;
                          c.propose = config_.propose;
                          c.demanded = config_.demanded;
                          c.has_seeds = !config_.seeds.empty();
                          c.has_hints = config_.keeping
                                        && config_.keeping->known.size() > 0;
                          c.shows_status = config_.shows_status;
                          c.mode = config_.workers;
                          return self_->spawn(registrar, c);
                        }),
                  // The others have the charter; it has the rest from the
                  // roster.
                  child_spec::policy::one_for_one});
}

void peer_state::start_experts() {
  // Nobody in this peer waits for these two.
  if (config_.experts)
    children_->add({"expert_host",
                    child(wired_.expert_host,
                          [this] {
                            expert_host_config c;
                            c.self = config_.self;
                            c.run = config_.run;
                            c.hosting = *config_.experts;
                            c.mode = config_.workers;
                            c.expert_started = config_.child_started;
                            return self_->spawn(expert_host, c);
                          }),
                    child_spec::policy::one_for_one});
  if (config_.expert_calls)
    children_->add({"expert_caller",
                    child(wired_.expert_caller,
                          [this] {
                            return self_->spawn(
                                expert_caller,
                                expert_caller_config{config_.self, config_.run,
                                                     config_.expert_calls});
                          }),
                    child_spec::policy::one_for_one});
}

void peer_state::start_training() {
  start_history_keeper();
  start_state_keeper();
  if (config_.role == role::trainer) {
    children_->add({"compute", child(wired_.compute, [this] {
                      compute_config c;
                      c.guards = config_.guards;
                      c.agreed = charter_;
                      c.make_trainer = config_.make_trainer;
                      c.vault = vault_;
                      c.threads = config_.threads;
                      c.mode = config_.workers;
                      c.batch_time = config_.batch_time;
                      c.state_shown = config_.state_shown;
                      return self_->spawn(compute, c);
                    })});
    children_->add({"cell", child(wired_.cell, [this] {
                      cell_config c;
                      c.self = config_.self;
                      c.agreed = charter_;
                      c.seed = mix(config_.seed, cells);
                      return self_->spawn(cell, c);
                    })});
  }
  children_->add({"matchmaking", child(wired_.matchmaking, [this] {
                    matchmaking_config c;
                    c.guards = config_.guards;
                    c.self = config_.self;
                    c.role = config_.role;
                    c.settings = charter_.settings();
                    c.memory = config_.memory;
                    // A successor must not give old ids to new groups.
                    if (config_.guards.has(safeguard::group_ids))
                      ++restarts_;
                    c.seed = mix(mix(config_.seed, group_ids), restarts_);
                    return self_->spawn(matchmaking, c);
                  })});
  children_->add({"averager", child(wired_.averager, [this] {
                    averager_config c;
                    c.guards = config_.guards;
                    c.self = config_.self;
                    c.rule = charter_.settings().averaging();
                    // The settings' check leaves no other names.
                    c.packing = packing_named(charter_.settings().packing)
                                    .value_or(packing::float32);
                    c.abandoned = last_round_;
                    c.bend_mean = config_.bend_mean;
                    c.seed = mix(config_.seed, audits);
                    c.nonce = config_.nonce;
                    c.reducer_started = config_.child_started;
                    c.intake = intake_;
                    c.threads = config_.threads;
                    return self_->spawn(averager, c);
                  })});
  children_->add({"conductor", child(wired_.conductor, [this] {
                    conductor_config c;
                    c.guards = config_.guards;
                    c.terms = terms_;
                    c.era = era_;
                    c.self = config_.self;
                    c.role = config_.role;
                    c.agreed = charter_;
                    c.micro_batch = config_.micro_batch;
                    c.order = config_.order;
                    c.checkpoint_every = config_.checkpoint_every;
                    c.replaces = std::exchange(conducted_, true);
                    c.signs = config_.signs;
                    c.awaits_roots
                        = !c.replaces && !config_.state && !trusted().empty();
                    c.writes_checkpoints = config_.checkpoints != nullptr;
                    c.shows_status = config_.shows_status;
                    c.always_computes = config_.always_computes;
                    c.upload_bytes_per_second = config_.upload_bytes_per_second;
                    c.download_bytes_per_second
                        = config_.download_bytes_per_second;
                    return self_->spawn(conductor, c);
                  })});
}

void peer_state::wire() {
  hand_out(wired_, [this](const auto& actor, const auto& handles) {
    self_->send(actor, handles);
  });
}

void peer_state::on(const gateway_ready& x) {
  // A restarted gateway must be found where the first one was.
  config_.listen = x.bound;
  if (config_.keeping)
    config_.keeping->known.listens(x.bound.port);
  if (wired_.address_keeper)
    self_->send(wired_.address_keeper, x);
  self_->send(wired_.observer, event{"listening",
                                     {{"address", to_string(x.bound)},
                                      {"peer", short_name(config_.self)},
                                      {"id", to_string(config_.self)},
                                      {"role", to_string(config_.role)}}});
}

void peer_state::on(const charter_agreed& x) {
  if (leaving_ || !charter_.digest().empty())
    return;
  charter_ = x.agreed;
  self_->send(wired_.observer, event{"charter",
                                     {{"run", charter_.settings().run},
                                      {"founded", x.founded},
                                      {"digest", to_string(charter_.digest())},
                                      {"steps", charter_.settings().steps}}});
  lay_down(charter_.settings());
  if (id_in(charter_.settings().run).empty())
    return on(terms_known{});
  // It answers with what the organiser has said since.
  self_->send(wired_.amendment_keeper,
              manifest_known{config_.run,
                             std::make_shared<const std::string>(*manifest_)});
}

void peer_state::on(const terms_known& x) {
  if (leaving_ || stopping_ || charter_.digest().empty())
    return;
  terms_ = x.terms;
  amended_ = true;
  if (terms_ && terms_->admission()) {
    // Both have open, token and list in this order.
    gate_->amend(static_cast<admission_rules::mode>(*terms_->admission()));
  }
  if (wired_.admission_keeper)
    self_->send(wired_.admission_keeper, charter_agreed{charter_, false});
  if (wired_.conductor)
    self_->send(wired_.conductor, x);
  enter();
}

void peer_state::enter() {
  if (leaving_ || stopping_ || training_ || !amended_ || !gate_->is_inside())
    return;
  const bool lists_some = !charter_.file(artifacts_file).empty();
  if (lists_some && !wired_.artifact_keeper) {
    start_artifact_keeper();
    wire();
  }
  if (lists_some && !has_artifacts_ && config_.role == role::trainer)
    return;
  training_ = true;
  start_training();
  wire();
}

void peer_state::on(const artifacts_here&) {
  has_artifacts_ = true;
  enter();
}

void peer_state::on_down(const caf::down_msg& x) {
  if (leaving_ || stopping_) {
    children_->forget(x);
    if (!stopping_ && wired_.expert_host
        && x.source == wired_.expert_host.address())
      say_goodbye();
    if (!stopping_ && x.source == gateway_)
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
      self_->send(
          wired_.observer,
          event{"fault", {{"what", "restarted " + name}, {"detail", reason}}});
      wire();
      break;
    case supervisor::verdict::exhausted:
      self_->send(wired_.observer,
                  peer_over{"The peer's " + name
                                + " failed too often, last with: " + reason,
                            false});
      end();
      break;
  }
}

void peer_state::on(const round_begun& x) {
  last_round_ = x;
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
  end(wired_.conductor);
  end(wired_.averager);
  leaving_reason_ = x.reason;
  if (!wired_.expert_host) {
    say_goodbye();
    return;
  }
  // Saves what its experts have learnt, and finds them other hosts.
  self_->send(wired_.expert_host, x);
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
  self_->send(wired_.gateway, leave_run{leaving_reason_});
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
  wired_ = {};
  if (children_->childless())
    self_->quit();
  else
    self_->delayed_send(self_, limits::shutdown_grace,
                        deadline_passed{grace_is_over});
}

} // namespace potluck
