#include "actors/crier.hpp"

#include <functional>
#include <memory>
#include <type_traits>

#include <doctest/doctest.h>

#include "actors/behavior.hpp"
#include "tests/support/test_world.hpp"

using namespace potluck;

namespace {

using job = std::function<void(crier&)>;

/// An actor in the roster's place, which has its crier do the next job.
class crier_host {
public:
  void init(roster_actor::pointer self, std::shared_ptr<job> next) {
    it_.init(self);
    next_ = std::move(next);
  }
  template <class... T>
  void on(const T&...) {
    if constexpr ((std::is_same_v<T, tick> && ...))
      (*next_)(it_);
  }

private:
  crier it_;
  std::shared_ptr<job> next_;
};

/// A crier among fakes.
struct square {
  square() {
    host = system.keep((*system).spawn(
        [](roster_actor::stateful_pointer<crier_host> self,
           std::shared_ptr<job> x) {
          return behave<roster_actor, crier_host>(self, x);
        },
        next));
    listeners.router = router.handle;
    listeners.address_keeper = address_keeper.handle;
    listeners.hole_maker = hole_maker.handle;
    listeners.registrar = registrar.handle;
    listeners.conductor = conductor.handle;
    wire();
  }

  /// Until all have heard what that tells them.
  void have(job x) {
    *next = std::move(x);
    caf::anon_send(host, tick{});
    world.settle();
  }
  void wire() {
    have([this](crier& it) { it.wire(listeners); });
  }

  test_world world;
  test_system& system = world.add_system();
  fake<router_actor> router = system.pretend<router_actor>();
  fake<address_keeper_actor> address_keeper
      = system.pretend<address_keeper_actor>();
  fake<hole_maker_actor> hole_maker = system.pretend<hole_maker_actor>();
  fake<registrar_actor> registrar = system.pretend<registrar_actor>();
  fake<conductor_actor> conductor = system.pretend<conductor_actor>();
  roster_handles listeners;
  std::shared_ptr<job> next = std::make_shared<job>();
  roster_actor host;
};

} // namespace

TEST_CASE("everybody who is there hears who comes and goes") {
  square x;
  peer_joined news;
  news.who = contact_of(2);
  x.have([&](crier& it) {
    it.tell_everybody(news);
    it.tell_everybody(peer_left{peer(2), "enough", true});
  });
  for (const auto* heard : {x.router.heard.get(), x.address_keeper.heard.get(),
                            x.hole_maker.heard.get(), x.registrar.heard.get(),
                            x.conductor.heard.get()}) {
    CHECK(heard->count<peer_joined>() == 1);
    CHECK(heard->last<peer_joined>().who == contact_of(2));
    CHECK(heard->count<peer_left>() == 1);
    CHECK(heard->last<peer_left>().id == peer(2));
  }
}

TEST_CASE("the registrar hears of reports until the charter is here") {
  square x;
  report_heard news;
  news.report.id = peer(2);
  x.have([&](crier& it) { it.tell_report(news, false); });
  CHECK(x.registrar->count<report_heard>() == 1);
  x.have([&](crier& it) { it.tell_report(news, true); });
  CHECK(x.registrar->count<report_heard>() == 1);
  CHECK(x.conductor->count<report_heard>() == 2);
  CHECK(x.hole_maker->count<report_heard>() == 2);
}

TEST_CASE("an address is told once, and again to those that may be new") {
  square x;
  const auto told_after = [&](const address& where) {
    x.have([&](crier& it) { it.tell_address(where); });
    return x.address_keeper->count<reachable_at>();
  };
  const address where{"203.0.113.7", 7000};
  CHECK(told_after({}) == 0); // There is none yet.
  CHECK(told_after(where) == 1);
  CHECK(told_after(where) == 1);
  CHECK(x.address_keeper->last<reachable_at>().where == where);
  x.wire();
  CHECK(told_after(where) == 2);
  CHECK(told_after({"203.0.113.8", 7000}) == 3);
}
