/// The network half of a peer in an actor system of its own; the rest are fakes
/// that tests replace by what they test.
#pragma once

#include "actors/gateway.hpp"
#include "actors/roster.hpp"
#include "actors/router.hpp"
#include "actors/wiring.hpp"
#include "tests/support/test_world.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck {

struct node {
  node(test_world& world, std::uint8_t number,
       std::vector<std::uint8_t> seeds = {}, potluck::role r = role::trainer,
       const std::string& run = "soup", bool relays_experts = false)
      : system(world.add_system()), id(peer(number)),
        registrar(system.pretend<registrar_actor>()),
        state_keeper(system.pretend<state_keeper_actor>()),
        compute(system.pretend<compute_actor>()),
        matchmaking(system.pretend<matchmaking_actor>()),
        averager(system.pretend<averager_actor>()),
        conductor(system.pretend<conductor_actor>()),
        observer(system.pretend<observer_actor>()),
        parent(system.pretend<supervisor_actor>()) {
    wired.guests = std::make_shared<guest_list>();
    wired.registrar = registrar.handle;
    wired.state_keeper = state_keeper.handle;
    wired.compute = compute.handle;
    wired.matchmaking = matchmaking.handle;
    wired.averager = averager.handle;
    wired.conductor = conductor.handle;
    wired.observer = observer.handle;
    wired.supervisor = parent.handle;
    gateway_config g;
    g.introduction.id = id;
    g.introduction.role = r;
    g.introduction.run = r == role::bootstrap ? "" : run;
    g.listen = {"0.0.0.0", 1000};
    g.make_transport = [&world, number, who = id] {
      return world.network.make_transport(host(number), who);
    };
    g.supervisor = parent.handle;
    g.observer = observer.handle;
    g.intake = intake;
    g.guests = wired.guests;
    g.relays_experts = relays_experts;
    wired.gateway = system.keep((*system).spawn(gateway, g));
    roster_config c;
    c.self = id;
    c.role = r;
    c.run = g.introduction.run;
    c.seed = number;
    c.announce = {host(number), 1000};
    for (auto seed : seeds)
      c.seeds.push_back({host(seed), 1000});
    wired.roster = system.keep((*system).spawn(roster, c));
    wired.router = system.keep((*system).spawn(
        router, router_config{id, std::uint64_t{number}, false, made_up(id),
                              [&world] { return world.network.wall_ms(); }}));
    wire();
  }

  /// Puts a real actor in a fake's place.
  template <class Handle>
  void replace(Handle wiring::*place, Handle actor) {
    wired.*place = system.keep(actor);
    wire();
  }

  void wire() {
    hand_out(wired, [](const auto& actor, const auto& handles) {
      caf::anon_send(actor, handles);
    });
  }

  /// Its connections break, and it takes no more.
  void crash() {
    caf::anon_send_exit(wired.gateway, caf::exit_reason::kill);
    caf::anon_send_exit(wired.roster, caf::exit_reason::kill);
    system.run();
  }

  /// Peers that it has a session with.
  std::size_t companions() const {
    return observer->events("join").size()
           - observer->events("departure").size();
  }

  test_system& system;
  peer_id id;
  /// Takes bodies of any size, once an averager opens places.
  std::shared_ptr<round_intake> intake = std::make_shared<round_intake>(1);
  fake<registrar_actor> registrar;
  fake<state_keeper_actor> state_keeper;
  fake<compute_actor> compute;
  fake<matchmaking_actor> matchmaking;
  fake<averager_actor> averager;
  fake<conductor_actor> conductor;
  fake<observer_actor> observer;
  fake<supervisor_actor> parent;
  wiring wired;
};

} // namespace potluck
