#include "actors/network_staff.hpp"

#include <utility>

#include "actors/address_keeper.hpp"
#include "actors/amendment_keeper.hpp"
#include "actors/charter_shelf.hpp"
#include "actors/gateway.hpp"
#include "actors/guest_list.hpp"
#include "actors/hole_maker.hpp"
#include "actors/registrar.hpp"
#include "actors/roster.hpp"
#include "actors/router.hpp"
#include "runtime/history/resumed_history.hpp"
#include "runtime/random.hpp"

namespace potluck {

void network_staff::start() {
  children_.add({"gateway", child(has_.wired.gateway, [this] {
                   gateway_config c;
                   c.introduction.id = has_.config.self;
                   c.introduction.role = has_.config.role;
                   c.introduction.run = has_.config.run;
                   auto known = has_.agreed.digest().empty()
                                    ? has_.config.known.value_or(charter{})
                                    : has_.agreed;
                   if (!known.digest().empty()) {
                     c.introduction.charter = known.digest();
                     c.introduction.settings = known.table();
                   }
                   c.listen = has_.config.listen;
                   if (has_.config.keeping)
                     c.usual_port = has_.config.keeping->known.port();
                   c.also_listen = has_.config.also_listen;
                   c.make_transport = has_.config.make_transport;
                   c.supervisor = has_.wired.supervisor;
                   c.observer = has_.wired.observer;
                   c.session_started = has_.config.child_started;
                   c.intake = has_.intake;
                   c.wall_clock = has_.config.wall_clock;
                   c.rests = has_.config.rests;
                   c.relays_experts = has_.config.relays_experts;
                   c.guests = has_.wired.guests;
                   c.gate = has_.gate;
                   c.probes_line = has_.config.upload_bytes_per_second == 0
                                   && (has_.config.role == role::trainer
                                       || has_.config.role == role::auxiliary);
                   auto g = self_->spawn(potluck::gateway, c);
                   gateway_ = g.address();
                   return g;
                 })});
  children_.add({"roster", child(has_.wired.roster, [this] {
                   roster_config c;
                   c.self = has_.config.self;
                   c.role = has_.config.role;
                   c.run = has_.config.run;
                   c.seeds = has_.config.seeds;
                   c.pins = has_.config.pins;
                   if (has_.config.keeping)
                     c.hints = has_.config.keeping->known.addresses();
                   c.announce = has_.config.announce;
                   c.mapper = has_.config.mapper;
                   c.seed
                       = mix(has_.config.seed, random_purpose::redial_jitter);
                   return self_->spawn(roster, c);
                 })});
  children_.add(
      {"router",
       child(has_.wired.router,
             [this] {
               return self_->spawn(
                   router,
                   router_config{
                       has_.config.self,
                       mix(has_.config.seed, random_purpose::routing_choices),
                       has_.config.role == role::trainer, has_.config.signs,
                       has_.config.wall_clock});
             }),
       // Whoever asks it looks again, and the roster tells it who is here.
       child_spec::policy::one_for_one});
  start_address_keeper();
  if (has_.config.role != role::expert)
    start_amendment_keeper();
  if (has_.config.role == role::bootstrap) {
    start_charter_shelf();
    start_history_keeper();
    start_authority();
    return;
  }
  start_hole_maker();
  start_admission_keeper();
  start_experts();
  if (has_.config.role == role::expert)
    return;
  start_registrar();
}

void network_staff::start_address_keeper() {
  if (!has_.config.keeping && has_.config.role != role::bootstrap)
    return;
  children_.add({"address_keeper",
                 child(has_.wired.address_keeper,
                       [this] {
                         address_keeper_config c;
                         c.self = has_.config.self;
                         c.role = has_.config.role;
                         c.keeping
                             = has_.config.keeping.value_or(address_keeping{});
                         c.is_authority = has_.config.authority.has_value();
                         c.mode = has_.config.workers;
                         return self_->spawn(address_keeper, c);
                       }),
                 // It is told anew who is here.
                 child_spec::policy::one_for_one});
}

void network_staff::start_amendment_keeper() {
  children_.add({"amendment_keeper",
                 child(has_.wired.amendment_keeper,
                       [this] {
                         amendment_keeper_config c;
                         c.self = has_.config.self;
                         c.folder = has_.config.amendments_folder;
                         if (has_.config.authority)
                           c.by_list = has_.config.authority->by_list;
                         if (has_.config.role != role::bootstrap)
                           c.run = has_.config.run;
                         // For a successor; the first one is told.
                         if (!has_.agreed.digest().empty())
                           c.manifest = *has_.manifest;
                         return self_->spawn(amendment_keeper, c);
                       }),
                 // It reads what it kept, and asks anew.
                 child_spec::policy::one_for_one});
}

void network_staff::start_history_keeper() {
  signed_history resumed;
  if (has_.config.signs && has_.vault->state)
    resumed = resumed_history(
        std::exchange(has_.config.history, {}), has_.agreed.digest(),
        {has_.vault->state->step, has_.vault->state->recent},
        *has_.config.signs);
  children_.add({"history_keeper",
                 child(has_.wired.history_keeper,
                       [this, resumed] {
                         history_keeper_config c;
                         c.is_bootstrap = has_.config.role == role::bootstrap;
                         if (!c.is_bootstrap)
                           c.own.run = has_.config.run;
                         c.own.charter = has_.agreed.digest();
                         c.own.trusted = trusted_by(has_.config);
                         c.own.keeps = has_.config.role != role::trainer;
                         c.own.is_newcomer = !has_.config.state;
                         c.own.how = has_.config.signs;
                         c.own.resumed = resumed;
                         c.kept = has_.histories;
                         c.checkpoints = has_.config.checkpoints;
                         return self_->spawn(history_keeper, c);
                       }),
                 // It has what it kept, and is told anew who is here.
                 child_spec::policy::one_for_one});
}

void network_staff::start_charter_shelf() {
  children_.add({"charter_shelf",
                 child(has_.wired.charter_shelf,
                       [this] {
                         return self_->spawn(
                             charter_shelf,
                             charter_shelf_config{has_.config.manifests});
                       }),
                 // It asks anew.
                 child_spec::policy::one_for_one});
}

void network_staff::start_hole_maker() {
  children_.add({"hole_maker",
                 child(has_.wired.hole_maker,
                       [this] {
                         return self_->spawn(
                             hole_maker,
                             hole_maker_config{
                                 has_.config.self,
                                 mix(has_.config.seed, random_purpose::holes)});
                       }),
                 // It is told anew who is here.
                 child_spec::policy::one_for_one});
}

void network_staff::start_admission_keeper() {
  if (has_.gate->run().empty())
    return; // A trial.
  children_.add({"admission_keeper",
                 child(has_.wired.admission_keeper,
                       [this] {
                         admission_keeper_config c;
                         c.self = has_.config.self;
                         c.run = has_.config.run;
                         c.papers = has_.config.papers;
                         c.gate = has_.gate;
                         c.signs = has_.config.signs;
                         c.known = has_.amended;
                         c.mode = has_.config.workers;
                         return self_->spawn(admission_keeper, c);
                       }),
                 // It is told anew who is here.
                 child_spec::policy::one_for_one});
}

void network_staff::start_authority() {
  if (!has_.config.authority)
    return;
  children_.add({"authority",
                 child(has_.wired.authority,
                       [this] {
                         auto c = *has_.config.authority;
                         c.mode = has_.config.workers;
                         return self_->spawn(authority, c);
                       }),
                 // Those who have asked ask again.
                 child_spec::policy::one_for_one});
}

void network_staff::start_experts() {
  // Nobody in this peer waits for these two.
  if (has_.config.experts)
    children_.add({"expert_host",
                   child(has_.wired.expert_host,
                         [this] {
                           expert_host_config c;
                           c.self = has_.config.self;
                           c.run = has_.config.run;
                           c.hosting = *has_.config.experts;
                           c.mode = has_.config.workers;
                           c.expert_started = has_.config.child_started;
                           return self_->spawn(expert_host, c);
                         }),
                   child_spec::policy::one_for_one});
  if (has_.config.expert_calls)
    children_.add({"expert_caller",
                   child(has_.wired.expert_caller,
                         [this] {
                           return self_->spawn(
                               expert_caller,
                               expert_caller_config{has_.config.self,
                                                    has_.config.run,
                                                    has_.config.expert_calls});
                         }),
                   child_spec::policy::one_for_one});
}

void network_staff::start_registrar() {
  children_.add({"registrar",
                 child(has_.wired.registrar,
                       [this] {
                         registrar_config c;
                         c.self = has_.config.self;
                         c.role = has_.config.role;
                         c.run = has_.config.run;
                         c.manifest = has_.manifest;
                         c.known = has_.config.known;
                         if (!has_.agreed.digest().empty())
                           c.known = has_.agreed;
                         c.propose = has_.config.propose;
                         c.demanded = has_.config.demanded;
                         c.has_seeds = !has_.config.seeds.empty();
                         c.has_hints = has_.config.keeping
                                       && has_.config.keeping->known.size() > 0;
                         c.shows_status = has_.config.shows_status;
                         c.mode = has_.config.workers;
                         return self_->spawn(registrar, c);
                       }),
                 // The others have the charter; it has the rest from the
                 // roster.
                 child_spec::policy::one_for_one});
}

} // namespace potluck
