/// Whole peers on loopback, over real sockets and threads, in one actor system.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/await.hpp"

namespace potluck {

/// Where the peer listens, once it does.
inline address address_of(const fake<observer_actor>& observer) {
  REQUIRE(support::await([&] { return !observer->events("listening").empty(); },
                         std::chrono::seconds{30}));
  return *parse_address(
      field<std::string>(observer->events("listening")[0], "address"));
}

/// All are in the run "soup", and know the first one, who is to be a bootstrap.
struct town {
  town() {
    config.set("scheduler.max-threads", 2);
    system = std::make_unique<caf::actor_system>(config);
  }
  ~town() {
    caf::scoped_actor waiter{*system};
    for (auto& x : peers) {
      caf::anon_send(x, leave_run{"enough"});
      waiter->wait_for(x);
    }
    for (auto& x : observers)
      caf::anon_send_exit(x.handle, caf::exit_reason::kill);
  }

  const fake<observer_actor>& add(
      role r,
      const std::function<void(peer_config&)>& set = [](peer_config&) {}) {
    peer_config c;
    uv_transport_options how;
    how.key = key_pair::generate();
    c.self = how.key->id();
    c.signs = signatures_of(*how.key);
    c.wall_clock = wall_clock_ms;
    c.role = r;
    c.run = r == role::bootstrap ? "" : "soup";
    c.listen = {"127.0.0.1", 0};
    if (!observers.empty())
      c.seeds = {address_of(observers.front())};
    c.make_transport = [how] { return make_uv_transport(how); };
    c.seed = peers.size() + 1;
    set(c);
    observers.emplace_back(*system);
    peers.push_back(spawn_peer(*system, c, observers.back().handle));
    return observers.back();
  }

  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  std::deque<fake<observer_actor>> observers;
  std::vector<peer_actor> peers;
};

} // namespace potluck
