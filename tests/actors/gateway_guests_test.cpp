/// The gateway's guests, without the gateway.
#include "actors/gateway_guests.hpp"

#include <doctest/doctest.h>

#include "actors/behavior.hpp"
#include "tests/support/test_world.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

using namespace potluck;

namespace {

/// Nobody's gateway: what a part of one needs to send and spawn.
struct host_state {
  using beginning = std::function<void(gateway_actor::pointer)>;
  void init(gateway_actor::pointer self, const beginning& begin) {
    begin(self);
  }
  template <class... Messages>
  void on(const Messages&...) {
  }
  void on_down(const caf::down_msg&) {
  }
};

gateway_actor::behavior_type
bare_gateway(gateway_actor::stateful_pointer<host_state> self,
             host_state::beginning begin) {
  return behave<gateway_actor, host_state>(self, std::move(begin));
}

/// Peer 1 and those that connect with it.
struct house {
  explicit house(std::shared_ptr<admission_gate> gate = nullptr)
      : roster(system.pretend<roster_actor>()),
        observer(system.pretend<observer_actor>()) {
    host_state::beginning begin = [this, gate](gateway_actor::pointer self) {
      auto& clock = (*system).clock();
      net = std::make_shared<relaying_transport>(
          world.network.make_transport(host(1), peer(1)),
          [&clock] { return clock.now(); }, [] {});
      links.init(self, net, peer(1));
      gateway_guests::settings how;
      how.own = peer(1);
      how.observer = observer.handle;
      how.guests = std::make_shared<guest_list>();
      how.gate = gate;
      how.session_started = [this](auto&, auto& child) {
        ++sessions;
        system.keep(child);
      };
      guests.init(self, how, net, links);
      gateway_handles w;
      w.roster = roster.handle;
      links.wire(w);
      guests.wire(w);
    };
    system.keep((*system).spawn(bare_gateway, begin));
    system.run();
  }
  /// This peer comes on a connection of this number, and says hello.
  void comes(std::uint8_t number, connection_id on) {
    links.accepted({on, {host(number), 999}, peer(number)});
    hello theirs;
    theirs.id = peer(number);
    theirs.run = "soup";
    theirs.listen_port = 1000;
    guests.welcome(on, *links.find(on), theirs);
    system.run();
  }

  test_world world;
  test_system& system = world.add_system();
  fake<roster_actor> roster;
  fake<observer_actor> observer;
  std::shared_ptr<relaying_transport> net;
  line_maker links;
  gateway_guests guests;
  int sessions = 0;
};

std::shared_ptr<admission_gate> closed_gate() {
  auto gate = std::make_shared<admission_gate>(
      peer(1), "soup@" + std::string(64, 'a'), made_up(peer(1)),
      [] { return std::uint64_t{1'800'000'000'000}; });
  admission_rules rules;
  rules.how = admission_rules::mode::token;
  rules.authority = {peer(9), {host(9), 1000}};
  gate->lay_down(rules);
  return gate;
}

} // namespace

TEST_CASE("a guest has one session, however many connections") {
  house x;
  x.comes(2, 7);
  x.comes(2, 8);
  CHECK(x.sessions == 1);
  CHECK(x.roster->count<peer_joined>() == 1);
  x.comes(3, 9);
  CHECK(x.sessions == 2);
  CHECK(x.guests.has(peer(2)));
  CHECK_FALSE(x.guests.has(peer(4)));
}

TEST_CASE("the roster is told where a guest can be dialled") {
  house x;
  x.comes(2, 7);
  const auto news = x.roster->last<peer_joined>();
  CHECK(news.who.id == peer(2));
  CHECK(news.who.where == address{host(2), 1000});
  CHECK(news.run == "soup");
  CHECK_FALSE(news.relayed);
  CHECK_FALSE(x.guests.relayed(peer(2)));
}

TEST_CASE("a roster that is new hears of all guests again") {
  house x;
  x.comes(2, 7);
  x.comes(3, 8);
  auto second = x.system.pretend<roster_actor>();
  gateway_handles w;
  w.roster = second.handle;
  x.guests.wire(w);
  x.guests.wire(w); // The same one does not.
  x.system.run();
  CHECK(second->count<peer_joined>() == 2);
}

TEST_CASE("who has no admission is told of as a node, until it has one") {
  auto gate = closed_gate();
  house x{gate};
  x.comes(2, 7);
  CHECK(x.roster->last<peer_joined>().role == role::bootstrap);
  gate->amend(admission_rules::mode::open);
  x.guests.on(admission_news{peer(2)});
  x.system.run();
  CHECK(x.roster->last<peer_joined>().role == role::trainer);
  CHECK(x.roster->count<peer_joined>() == 2);
  x.guests.on(admission_news{peer(2)}); // Which is no news any more.
  x.system.run();
  CHECK(x.roster->count<peer_joined>() == 2);
}

TEST_CASE(
    "only sessions of guests are told, and those that are dismissed end") {
  house x;
  x.comes(2, 7);
  x.comes(3, 8);
  CHECK(x.guests.tell(peer(2), parcel{peer(2), heartbeat{1}, {}}));
  CHECK_FALSE(x.guests.tell(peer(4), parcel{peer(4), heartbeat{1}, {}}));
  std::vector<peer_id> asked;
  x.guests.dismiss(
      [&](const peer_id& who, const std::string& run) {
        asked.push_back(who);
        return run == "other";
      },
      leave_run{"elsewhere"});
  CHECK(asked == std::vector<peer_id>{peer(2), peer(3)});
}
