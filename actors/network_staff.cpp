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
  add("gateway", has().wired.gateway, gateway, [this] {
    gateway_config c;
    c.introduction.id = config().self;
    c.introduction.role = config().role;
    c.introduction.run = config().run;
    auto known = has().agreed.digest().empty()
                     ? config().known.value_or(charter{})
                     : has().agreed;
    if (!known.digest().empty()) {
      c.introduction.charter = known.digest();
      c.introduction.settings = known.table();
    }
    c.listen = config().listen;
    if (config().keeping)
      c.usual_port = config().keeping->known.port();
    c.also_listen = config().also_listen;
    c.make_transport = config().make_transport;
    c.supervisor = has().wired.supervisor;
    c.observer = has().wired.observer;
    c.session_started = config().child_started;
    c.intake = has().intake;
    c.wall_clock = config().wall_clock;
    c.rests = config().rests;
    c.relays_experts = config().relays_experts;
    c.guests = has().wired.guests;
    c.gate = has().gate;
    c.probes_line = config().upload_bytes_per_second == 0
                    && (config().role == role::trainer
                        || config().role == role::auxiliary);
    return c;
  });
  add("roster", has().wired.roster, roster, [this] {
    roster_config c;
    c.self = config().self;
    c.role = config().role;
    c.run = config().run;
    c.seeds = config().seeds;
    c.pins = config().pins;
    if (config().keeping)
      c.hints = config().keeping->known.addresses();
    c.announce = config().announce;
    c.mapper = config().mapper;
    c.seed = mix(config().seed, random_purpose::redial_jitter);
    return c;
  });
  // Whoever asks it looks again, and the roster tells it who is here.
  add_alone("router", has().wired.router, router, [this] {
    return router_config{
        config().self, mix(config().seed, random_purpose::routing_choices),
        config().role == role::trainer, config().signs, config().wall_clock};
  });
  start_address_keeper();
  if (config().role != role::expert)
    start_amendment_keeper();
  if (config().role == role::bootstrap) {
    start_charter_shelf();
    start_history_keeper();
    start_authority();
    return;
  }
  start_hole_maker();
  start_admission_keeper();
  start_experts();
  if (config().role == role::expert)
    return;
  start_registrar();
}

void network_staff::start_address_keeper() {
  if (!config().keeping && config().role != role::bootstrap)
    return;
  // It is told anew who is here.
  add_alone("address_keeper", has().wired.address_keeper, address_keeper,
            [this] {
              address_keeper_config c;
              c.self = config().self;
              c.role = config().role;
              c.keeping = config().keeping.value_or(address_keeping{});
              c.is_authority = config().authority.has_value();
              c.mode = config().workers;
              return c;
            });
}

void network_staff::start_amendment_keeper() {
  // It reads what it kept, and asks anew.
  add_alone("amendment_keeper", has().wired.amendment_keeper, amendment_keeper,
            [this] {
              amendment_keeper_config c;
              c.self = config().self;
              c.folder = config().amendments_folder;
              if (config().authority)
                c.by_list = config().authority->by_list;
              if (config().role != role::bootstrap)
                c.run = config().run;
              // For a successor; the first one is told.
              if (!has().agreed.digest().empty())
                c.manifest = *has().manifest;
              return c;
            });
}

void network_staff::start_history_keeper() {
  signed_history resumed;
  if (config().signs && has().vault->state)
    resumed = resumed_history(
        std::exchange(config().history, {}), has().agreed.digest(),
        {has().vault->state->step, has().vault->state->recent},
        *config().signs);
  // It has what it kept, and is told anew who is here.
  add_alone("history_keeper", has().wired.history_keeper, history_keeper,
            [this, resumed] {
              history_keeper_config c;
              c.is_bootstrap = config().role == role::bootstrap;
              if (!c.is_bootstrap)
                c.own.run = config().run;
              c.own.charter = has().agreed.digest();
              c.own.trusted = trusted_by(config());
              c.own.keeps = config().role != role::trainer;
              c.own.how = config().signs;
              c.own.resumed = resumed;
              c.kept = has().histories;
              c.checkpoints = config().checkpoints;
              return c;
            });
}

void network_staff::start_charter_shelf() {
  // It asks anew.
  add_alone("charter_shelf", has().wired.charter_shelf, charter_shelf,
            [this] { return charter_shelf_config{config().manifests}; });
}

void network_staff::start_hole_maker() {
  // It is told anew who is here.
  add_alone("hole_maker", has().wired.hole_maker, hole_maker, [this] {
    return hole_maker_config{config().self,
                             mix(config().seed, random_purpose::holes)};
  });
}

void network_staff::start_admission_keeper() {
  if (has().gate->run().empty())
    return; // A trial.
  // It is told anew who is here.
  add_alone("admission_keeper", has().wired.admission_keeper, admission_keeper,
            [this] {
              admission_keeper_config c;
              c.self = config().self;
              c.run = config().run;
              c.papers = config().papers;
              c.gate = has().gate;
              c.signs = config().signs;
              c.known = has().amended;
              c.mode = config().workers;
              return c;
            });
}

void network_staff::start_authority() {
  if (!config().authority)
    return;
  // Those who have asked ask again.
  add_alone("authority", has().wired.authority, authority, [this] {
    auto c = *config().authority;
    c.mode = config().workers;
    return c;
  });
}

void network_staff::start_experts() {
  // Nobody in this peer waits for these two.
  if (config().experts)
    add_alone("expert_host", has().wired.expert_host, expert_host, [this] {
      expert_host_config c;
      c.self = config().self;
      c.run = config().run;
      c.hosting = *config().experts;
      c.mode = config().workers;
      c.expert_started = config().child_started;
      return c;
    });
  if (config().expert_calls)
    add_alone("expert_caller", has().wired.expert_caller, expert_caller,
              [this] {
                return expert_caller_config{config().self, config().run,
                                            config().expert_calls};
              });
}

void network_staff::start_registrar() {
  // The others have the charter; it has the rest from the roster.
  add_alone("registrar", has().wired.registrar, registrar, [this] {
    registrar_config c;
    c.self = config().self;
    c.role = config().role;
    c.run = config().run;
    c.manifest = has().manifest;
    c.known = config().known;
    if (!has().agreed.digest().empty())
      c.known = has().agreed;
    c.propose = config().propose;
    c.demanded = config().demanded;
    c.has_seeds = !config().seeds.empty();
    c.has_hints = config().keeping && config().keeping->known.size() > 0;
    c.shows_status = config().shows_status;
    c.mode = config().workers;
    return c;
  });
}

} // namespace potluck
