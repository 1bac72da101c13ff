/// Which children a peer of each role has, in which order, and what becomes of
/// the others when one ends.
#include <algorithm>

#include <doctest/doctest.h>

#include "actors/behavior.hpp"
#include "actors/guest_list.hpp"
#include "actors/network_staff.hpp"
#include "actors/training_staff.hpp"
#include "tests/actors/whole_peer.hpp"

using namespace potluck;

namespace {

/// A root that hears everything and decides nothing.
struct root_state {
  using beginning = std::function<void(supervisor_actor::pointer)>;
  void init(supervisor_actor::pointer self, const beginning& begin) {
    begin(self);
  }
  template <class... Messages>
  void on(const Messages&...) {
  }
  void on_down(const caf::down_msg& x) {
    down(x);
  }
  std::function<void(const caf::down_msg&)> down;
};

supervisor_actor::behavior_type
root(supervisor_actor::stateful_pointer<root_state> self,
     std::pair<root_state::beginning, std::function<void(const caf::down_msg&)>>
         how) {
  self->state.down = std::move(how.second);
  return behave<supervisor_actor, root_state>(self, std::move(how.first));
}

using names = std::vector<std::string>;

struct crew {
  crew(role as, bool trains,
       const std::function<void(peer_config&)>& change = {})
      : observer(system.pretend<observer_actor>()) {
    auto& c = has.config;
    c = tiny_peer(world.network, 1, {}, 10);
    c.role = as;
    c.workers = worker_mode::immediate;
    if (change)
      change(c);
    has.wired.observer = observer.handle;
    has.wired.guests = std::make_shared<guest_list>();
    has.agreed = tiny_charter(10, 64);
    has.gate = open_gate(c, "", (*system).clock());
    root_state::beginning begin
        = [this, trains](supervisor_actor::pointer self) {
            has.wired.supervisor = caf::actor_cast<supervisor_actor>(self);
            children.emplace(self, [this](auto& name, auto& child) {
              started.push_back(name);
              system.keep(child);
            });
            if (trains) {
              training.emplace(self, has, *children);
              training->start();
            } else {
              network.emplace(self, has, *children);
              network->start();
            }
          };
    std::function<void(const caf::down_msg&)> down
        = [this](const caf::down_msg& x) {
            std::string name;
            children->on_down(x, time_point{}, name);
          };
    system.keep((*system).spawn(root, std::make_pair(begin, down)));
    system.run();
  }

  peer_estate has;
  std::optional<supervisor> children;
  std::optional<network_staff> network;
  std::optional<training_staff> training;
  names started;
  test_world world; // Ends the actors before what they write to.
  test_system& system = world.add_system();
  fake<observer_actor> observer;
};

names without_charter(role as,
                      const std::function<void(peer_config&)>& change = {}) {
  return crew{as, false, change}.started;
}

} // namespace

TEST_CASE("who trains or averages has a registrar, a bootstrap keeps for all") {
  const names member{"gateway",          "roster",     "router",
                     "amendment_keeper", "hole_maker", "registrar"};
  CHECK(without_charter(role::trainer) == member);
  CHECK(without_charter(role::auxiliary) == member);
  CHECK(without_charter(role::bootstrap)
        == names{"gateway", "roster", "router", "address_keeper",
                 "amendment_keeper", "charter_shelf", "history_keeper"});
  CHECK(without_charter(role::expert)
        == names{"gateway", "roster", "router", "hole_maker"});
}

TEST_CASE("in a run that was created a member shows its admission") {
  const auto of_created
      = [](peer_config& c) { c.run = "poems@" + std::string(64, 'a'); };
  const auto started = without_charter(role::trainer, of_created);
  CHECK(std::count(started.begin(), started.end(), "admission_keeper") == 1);
}

TEST_CASE("those that train build on each other, from the state on") {
  CHECK(crew{role::trainer, true}.started
        == names{"state_keeper", "compute", "cell", "matchmaking", "averager",
                 "conductor"});
  CHECK(crew{role::auxiliary, true}.started
        == names{"state_keeper", "matchmaking", "averager", "conductor"});
}

TEST_CASE("a child on which nobody builds is started again alone") {
  crew x{role::trainer, false};
  const auto before = x.has.wired.router;
  x.started.clear();
  caf::anon_send_exit(before, caf::exit_reason::kill);
  x.system.run();
  CHECK(x.started == names{"router"});
  CHECK(x.has.wired.router != before);
}

TEST_CASE("with any other all that were started behind it are") {
  crew x{role::trainer, true};
  x.started.clear();
  caf::anon_send_exit(x.has.wired.matchmaking, caf::exit_reason::kill);
  x.system.run();
  CHECK(x.started == names{"matchmaking", "averager", "conductor"});
}
