#include "actors/gateway.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <doctest/doctest.h>

#include "actors/session.hpp"
#include "actors/wiring.hpp"
#include "messages/codec.hpp"
#include "messages/limits.hpp"
#include "runtime/lines/upload_probe.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/observed_durations.hpp"
#include "runtime/membership/session_pulse.hpp"
#include "runtime/strangers/letter_cost.hpp"
#include "tests/support/test_world.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

hello introduction(std::uint8_t number) {
  hello x;
  x.id = peer(number);
  x.run = "soup";
  return x;
}

/// A gateway among fakes.
struct door {
  /// @param key Whose it is, that is, what its connections prove.
  door(test_world& world, hello x, const std::string& at, peer_id key,
       bool probes = false)
      : system(world.add_system()), where{at, 1000},
        roster(system.pretend<roster_actor>()),
        router(system.pretend<router_actor>()),
        observer(system.pretend<observer_actor>()),
        parent(system.pretend<supervisor_actor>()) {
    gateway_config c;
    c.introduction = std::move(x);
    c.listen = {"0.0.0.0", 1000};
    c.make_transport = [&world, at, key = std::move(key)] {
      return world.network.make_transport(at, key);
    };
    c.supervisor = parent.handle;
    c.observer = observer.handle;
    c.probes_line = probes;
    it = system.keep((*system).spawn(gateway, c));
    wiring w;
    w.gateway = it;
    w.roster = roster.handle;
    w.router = router.handle;
    w.observer = observer.handle;
    w.supervisor = parent.handle;
    caf::anon_send(it, w.for_gateway());
  }
  door(test_world& world, const hello& x, const std::string& at)
      : door(world, x, at, x.id) {
  }
  door(test_world& world, std::uint8_t number)
      : door(world, introduction(number), host(number)) {
  }

  /// The session that its roster heard of last.
  session_actor session() const {
    return roster->last<session_actor>();
  }

  test_system& system;
  address where;
  fake<roster_actor> roster;
  fake<router_actor> router;
  fake<observer_actor> observer;
  fake<supervisor_actor> parent;
  gateway_actor it;
};

void dial(door& from, const door& to, const peer_id& expected = {}) {
  caf::anon_send(from.it, dial_contact{{expected, to.where}});
}

/// Both report to each other.
void say(test_world& world, door& a, door& b, phase now,
         bool a_contributes = false) {
  progress_report x;
  x.phase = now;
  x.id = peer(1);
  x.contributes = a_contributes;
  caf::anon_send(a.session(), parcel{peer(2), x, {}});
  x.id = peer(2);
  x.contributes = false;
  caf::anon_send(b.session(), parcel{peer(1), x, {}});
  world.settle();
}

/// How an actor ended, as those that monitor it are told.
struct witness {
  witness(test_system& system, const session_actor& subject) {
    system.keep((*system).spawn(
        [this](caf::event_based_actor* self,
               const session_actor& whose) -> caf::behavior {
          self->monitor(whose);
          self->set_down_handler([this](caf::down_msg& x) {
            ended = true;
            orderly = !x.reason || x.reason == caf::exit_reason::normal;
          });
          return {[](int) {}};
        },
        subject));
    system.run();
  }
  bool ended = false;
  bool orderly = false;
};

/// Somebody on the network who sends whatever a test likes.
class plain_peer : public transport_listener {
public:
  plain_peer(test_world& world, const std::string& at)
      : net(world.network.make_transport(at)) {
    net->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
  }
  ~plain_peer() override {
    net->stop();
  }
  void on_accepted(connection_id, const address&, const peer_id&) override {
    ++accepted;
  }
  void on_connected(connection_id, const address&, const peer_id&) override {
    connected = true;
  }
  void on_frame(connection_id, incoming_frame frame) override {
    auto content
        = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (content)
      heard.push_back(*content);
  }
  void on_closed(connection_id, const std::string&) override {
    ++closed;
  }
  template <class T>
  std::size_t count() const {
    return std::count_if(heard.begin(), heard.end(),
                         [](auto& x) { return std::holds_alternative<T>(x); });
  }

  std::unique_ptr<transport> net;
  std::vector<message> heard;
  bool connected = false;
  int accepted = 0;
  int closed = 0;
};

/// A frame comes while it is being stopped.
class late_transport : public transport {
public:
  explicit late_transport(connection_id late) : late_(late) {
  }
  void start(std::shared_ptr<transport_listener> listener) override {
    listener_ = std::move(listener);
  }
  expected<address> listen(const address& where) override {
    return where;
  }
  connection_id dial(const address&, const peer_id&) override {
    return 0;
  }
  void send(connection_id, outgoing_frame) override {
  }
  void close(connection_id, std::uint32_t) override {
  }
  transport_traffic traffic() const override {
    return {};
  }
  void stop() override {
    if (auto listener = std::exchange(listener_, nullptr))
      listener->on_frame(late_, {});
  }

private:
  connection_id late_;
  std::shared_ptr<transport_listener> listener_;
};

} // namespace

TEST_CASE("a gateway says where it listens") {
  test_world world;
  door a{world, 1};
  world.settle();
  CHECK(a.parent->last<gateway_ready>().bound == address{"0.0.0.0", 1000});
  CHECK(a.roster->last<gateway_ready>().bound == address{"0.0.0.0", 1000});
}

TEST_CASE("a port in use ends the peer with a sentence") {
  test_world world;
  door a{world, 1};
  world.settle();
  door b{world, introduction(2), host(1)};
  world.settle();
  auto over = b.observer->last<peer_over>();
  CHECK(over.users_mistake);
  CHECK(over.problem.find("in use") != std::string::npos);
}

TEST_CASE("a welcome hello makes one session at each side") {
  test_world world;
  auto ours = introduction(1);
  ours.role = role::auxiliary;
  door a{world, ours, host(1)};
  door b{world, 2};
  dial(a, b);
  world.settle();
  REQUIRE(a.roster->count<peer_joined>() == 1);
  REQUIRE(b.roster->count<peer_joined>() == 1);
  auto news = b.roster->last<peer_joined>();
  CHECK(news.who.id == peer(1));
  CHECK(news.who.where == address{host(1), 1000});
  CHECK(news.role == role::auxiliary);
  CHECK(news.run == "soup");
  CHECK(news.seen_host == host(2));
  CHECK(a.roster->last<dial_succeeded>().who == peer(2));
  CHECK(b.roster->count<dial_succeeded>() == 0);
}

TEST_CASE("no frame overtakes those that still pass the gateway") {
  test_world world;
  auto to = world.add_system().pretend<session_actor>();
  guest_list guests;
  // Its hello, and what it sent right after.
  CHECK(!guests.straight_to(7));
  CHECK(!guests.straight_to(7));
  guests.add(7, peer(2), to.handle);
  CHECK(guests.at(7) == peer(2));
  guests.passed(7);
  CHECK(!guests.straight_to(7)); // Behind what it sent before.
  guests.passed(7);
  guests.passed(7);
  CHECK(guests.straight_to(7) == to.handle);
  CHECK(guests.straight_to(7) == to.handle);
  CHECK(!guests.straight_to(8));
  guests.remove(7);
  CHECK(guests.at(7).empty());
  CHECK(!guests.straight_to(7));
}

TEST_CASE("what comes while a gateway ends keeps no frame of the next from its "
          "session") {
  test_world world;
  auto& system = world.add_system();
  auto roof = system.pretend<supervisor_actor>();
  auto eye = system.pretend<observer_actor>();
  auto to = system.pretend<session_actor>();
  gateway_config c;
  c.introduction = introduction(1);
  c.listen = {"0.0.0.0", 1000};
  c.make_transport = [] { return std::make_unique<late_transport>(7); };
  c.supervisor = roof.handle;
  c.observer = eye.handle;
  c.guests = std::make_shared<guest_list>();
  auto ends = (*system).spawn(gateway, c);
  system.run();
  REQUIRE(roof->count<gateway_ready>() == 1);
  caf::anon_send_exit(ends, caf::exit_reason::kill);
  system.run();
  c.guests->add(7, peer(2), to.handle);
  CHECK(c.guests->straight_to(7) == to.handle);
}

TEST_CASE("a refusal names what differs and reaches both sides") {
  test_world world;
  door a{world, 1};
  auto introduced = introduction(1);
  auto theirs = introduction(2);
  std::string word;
  SUBCASE("the version") {
    theirs.version = protocol_version + 1;
    word = "version";
  }
  SUBCASE("the run") {
    theirs.run = "salad";
    word = "set run to soup";
  }
  SUBCASE("the settings") {
    run_settings s;
    s.run = "soup";
    charter one{s, ""};
    s.target_batch = 512;
    charter two{s, ""};
    introduced.charter = one.digest();
    introduced.settings = one.table();
    caf::anon_send(a.it, charter_known{one.digest(), one.table()});
    theirs.charter = two.digest();
    theirs.settings = two.table();
    word = "target-batch";
  }
  SUBCASE("not the identity") {
    theirs.id = peer(1);
    word = "an identity-dir of its own";
  }
  door b{world, theirs, host(2)};
  world.settle();
  dial(b, a);
  world.settle();
  REQUIRE(a.roster->count<peer_refused>() == 1);
  REQUIRE(b.roster->count<peer_refused>() == 1);
  auto at_home = a.roster->last<peer_refused>();
  auto dialler = b.roster->last<peer_refused>();
  CHECK_FALSE(at_home.dialled);
  CHECK(dialler.dialled);
  // It is the dialler's user who is told what to do.
  CHECK(dialler.sentence == objection(introduced, theirs));
  CHECK(dialler.sentence.find(word) != std::string::npos);
  CHECK(a.roster->count<peer_joined>() == 0);
  CHECK(b.roster->count<peer_joined>() == 0);
  CHECK(world.network.open_connections() == 0);
}

TEST_CASE("a hello that names another peer than its key is refused") {
  test_world world;
  door honest{world, 1};
  // Whoever holds the key of 9 says that they are 2.
  door impostor{world, introduction(2), host(9), peer(9)};
  world.settle();
  SUBCASE("the impostor dials") {
    dial(impostor, honest);
  }
  SUBCASE("the impostor is dialled") {
    dial(honest, impostor);
  }
  world.settle();
  CHECK(honest.roster->count<peer_joined>() == 0);
  REQUIRE(honest.roster->count<peer_refused>() == 1);
  CHECK(honest.roster->last<peer_refused>().sentence
        == false_claim(peer(9), peer(2)));
  CHECK(world.network.open_connections() == 0);
}

TEST_CASE("nobody becomes us, or keeps us from their address, by saying so") {
  test_world world;
  door a{world, 1};
  door impostor{world, introduction(1), host(9), peer(9)};
  door b{world, introduction(2), host(2)};
  world.settle();
  dial(a, impostor);
  world.settle();
  // It is not noted as an address of our own.
  CHECK(a.roster->count<dial_succeeded>() == 0);
  CHECK(a.roster->count<peer_joined>() == 0);
  dial(a, impostor);
  world.settle();
  CHECK(a.roster->count<peer_refused>() == 2);
  dial(a, b);
  world.settle();
  CHECK(a.roster->count<peer_joined>() == 1);
}

TEST_CASE("a dial that reaches another peer than it meant is no dial") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  SUBCASE("another one with a key") {
    dial(a, b, peer(3));
  }
  SUBCASE("another one who proves nothing") {
    door c{world, introduction(4), host(4), peer_id{}};
    world.settle();
    dial(a, c, peer(3));
    world.settle();
  }
  world.settle();
  CHECK(a.roster->last<dial_failed>().expected == peer(3));
  CHECK(a.roster->last<dial_failed>().reason == "another peer answers there");
  CHECK(a.roster->count<peer_joined>() == 0);
  dial(a, b, peer(2));
  world.settle();
  CHECK(a.roster->last<peer_joined>().who.id == peer(2));
}

TEST_CASE("where nothing is proven, a hello is believed") {
  test_world world;
  door a{world, introduction(1), host(1), peer_id{}};
  door b{world, introduction(2), host(2), peer_id{}};
  world.settle();
  dial(a, b, peer(2));
  world.settle();
  CHECK(a.roster->last<peer_joined>().who.id == peer(2));
  CHECK(b.roster->last<peer_joined>().who.id == peer(1));
}

TEST_CASE("a first frame that is no hello closes the connection") {
  test_world world;
  door a{world, 1};
  plain_peer s{world, host(9)};
  world.settle();
  auto id = s.net->dial(a.where);
  SUBCASE("another message") {
    s.net->send(id, {encode(heartbeat{1}), {}});
  }
  SUBCASE("noise") {
    s.net->send(id, {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {}});
  }
  world.settle();
  CHECK(s.count<hello>() == 1);
  CHECK(s.count<heartbeat_reply>() == 0);
  CHECK(s.closed == 1);
  CHECK(a.roster->count<peer_joined>() == 0);
}

TEST_CASE("a connection without a hello closes after a while") {
  test_world world;
  door a{world, 1};
  plain_peer s{world, host(9)};
  world.settle();
  s.net->dial(a.where);
  world.run_for(limits::handshake_patience - 1s);
  CHECK(s.connected);
  CHECK(s.closed == 0);
  world.run_for(1s + 2 * limits::handshake_check);
  CHECK(s.closed == 1);
}

TEST_CASE("a dial that nobody answers fails in the end") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  SUBCASE("refused at once") {
    world.network.cut(host(1), host(2));
    dial(a, b, peer(2));
    world.settle();
  }
  SUBCASE("swallowed") {
    world.network.silence(host(1), host(2));
    dial(a, b, peer(2));
    world.run_for(1s);
    CHECK(a.roster->count<dial_failed>() == 0);
    world.run_for(limits::handshake_patience + 2 * limits::handshake_check);
  }
  REQUIRE(a.roster->count<dial_failed>() == 1);
  CHECK(a.roster->last<dial_failed>().expected == peer(2));
  CHECK_FALSE(a.roster->last<dial_failed>().reason.empty());
  CHECK(a.router->last<dial_failed>().expected == peer(2));
}

TEST_CASE("a peer is dialled at its other address when the first brings "
          "nothing") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  SUBCASE("it fails") {
    world.network.cut(host(1), host(3));
  }
  SUBCASE("it takes long") {
    world.network.silence(host(1), host(3));
  }
  caf::anon_send(a.it, dial_contact{{peer(2), {host(3), 1000}}, {}, b.where});
  world.run_for(limits::circuit_head_start + 2 * limits::handshake_check);
  CHECK(a.roster->count<peer_joined>() == 1);
  CHECK(a.roster->count<dial_failed>() == 0);
  CHECK(a.roster->last<dial_succeeded>().where == b.where);
}

TEST_CASE("a dial fails when neither address brings anything") {
  test_world world;
  door a{world, 1};
  world.settle();
  for (std::uint8_t number : {2, 3})
    world.network.cut(host(1), host(number));
  caf::anon_send(a.it,
                 dial_contact{{peer(2), {host(3), 1000}}, {}, {host(2), 1000}});
  world.run_for(limits::handshake_check);
  CHECK(a.roster->count<dial_failed>() == 1);
}

TEST_CASE("two hubs that lead to each other are not waited for for ever") {
  test_world world;
  door a{world, 1};
  world.settle();
  for (std::uint8_t number : {2, 3})
    world.network.cut(host(1), host(number));
  caf::anon_send(a.it, dial_contact{contact_of(2), {contact_of(3)}});
  caf::anon_send(a.it, dial_contact{contact_of(3), {contact_of(2)}});
  world.run_for(1min);
  std::set<peer_id> failed;
  bool through_hub = false;
  for (auto& x : a.roster->all<dial_failed>()) {
    failed.insert(x.expected);
    through_hub = through_hub || x.through_hub;
  }
  CHECK(failed == std::set<peer_id>{peer(2), peer(3)});
  CHECK(through_hub);
}

TEST_CASE("nobody makes a peer knock at one host again and again as a hub") {
  test_world world;
  door a{world, 1};
  plain_peer victim{world, host(9)};
  victim.net->listen({"0.0.0.0", 1000});
  world.settle();
  for (std::uint8_t i = 0; i < 50; ++i)
    caf::anon_send(a.it, dial_contact{{peer(100 + i), {}},
                                      {{peer(10 + i), {host(9), 1000}}}});
  world.settle();
  CHECK(victim.accepted == 1);
}

TEST_CASE("a slow dial is waited for when no hub leads to the peer") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  SUBCASE("it is answered") {
    world.network.delay(host(1), host(2), 3s);
    world.network.cut(host(1), host(3));
    caf::anon_send(a.it, dial_contact{contact_of(2), {contact_of(3)}});
    world.run_for(20s);
    CHECK(a.roster->count<dial_failed>() == 1); // The hub.
    CHECK(a.roster->last<dial_failed>().expected == peer(3));
    CHECK(a.roster->count<dial_succeeded>() == 1);
  }
  SUBCASE("it is not") {
    world.network.silence(host(1), host(2));
    world.network.cut(host(1), host(3));
    caf::anon_send(a.it, dial_contact{contact_of(2), {contact_of(3)}});
    world.run_for(5s);
    CHECK(a.roster->count<dial_failed>() == 1);
    world.run_for(limits::handshake_patience);
    REQUIRE(a.roster->count<dial_failed>() == 2);
    CHECK(a.roster->last<dial_failed>().expected == peer(2));
    CHECK(a.roster->last<dial_failed>().through_hub); // All was tried.
  }
}

TEST_CASE("a goodbye ends both sessions in order") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.settle();
  witness mine{a.system, a.session()};
  witness theirs{b.system, b.session()};
  caf::anon_send(a.it, leave_run{"enough"});
  world.settle();
  CHECK(mine.ended);
  CHECK(mine.orderly);
  CHECK(theirs.ended);
  CHECK(theirs.orderly);
  CHECK(world.network.open_connections() == 0);
}

TEST_CASE("a broken line is not a goodbye") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.settle();
  witness mine{a.system, a.session()};
  world.network.cut(host(1), host(2));
  world.settle();
  CHECK(mine.ended);
  CHECK_FALSE(mine.orderly);
}

TEST_CASE(
    "silence ends a session after a patience, and heartbeats prevent it") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.settle();
  say(world, a, b, phase::accumulating);
  witness mine{a.system, a.session()};
  world.run_for(60s);
  CHECK_FALSE(mine.ended);
  world.network.silence(host(1), host(2));
  world.run_for(silence_detector::settings{}.floor
                - limits::heartbeat_interval);
  CHECK_FALSE(mine.ended);
  world.run_for(silence_detector::settings{}.cap);
  CHECK(mine.ended);
  CHECK_FALSE(mine.orderly);
}

namespace {

/// Two that know each other's round trips, and hear nothing more.
struct silenced_pair {
  silenced_pair() {
    dial(a, b);
    world.settle();
    say(world, a, b, phase::accumulating);
    world.run_for(10s);
    seen_by_a.emplace(a.system, a.session());
    world.network.silence(host(1), host(2));
  }
  /// So many seconds in which the kernel says that this much passed in each.
  void pass(int seconds, const connection_traffic& each) {
    for (int i = 0; i < seconds; ++i) {
      caf::anon_send(a.session(), traffic_seen{100ms, {each}});
      world.run_for(1s);
    }
  }
  bool ended() const {
    return seen_by_a->ended;
  }

  test_world world;
  door a{world, 1};
  door b{world, 2};
  std::optional<witness> seen_by_a;
};

} // namespace

TEST_CASE("bytes of a frame that is still under way are a sign of life") {
  silenced_pair x;
  connection_traffic some;
  some.received = 5000;
  x.pass(60, some);
  CHECK_FALSE(x.ended());
  x.pass(60, {});
  CHECK(x.ended());
}

TEST_CASE("what the other side acknowledges puts suspicion off for a while") {
  silenced_pair x;
  connection_traffic some;
  some.sent = 5000;
  x.pass(15, some);
  CHECK_FALSE(x.ended());
  x.pass(10, some); // A process that hangs: its machine goes on.
  CHECK(x.ended());
}

TEST_CASE("members ask every second, others more rarely, and one of two asks") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.settle();
  std::uint64_t frames = 0;
  world.network.judge_frames([&](auto&, auto&, auto&) {
    ++frames;
    return memory_network::fate::arrives;
  });
  auto said_in = [&](duration long_time) {
    auto before = frames;
    world.run_for(long_time);
    return static_cast<double>(frames - before);
  };
  // A question and its answer; each side wants an answer at times.
  auto rate = [](duration interval, duration time) {
    return 2.0 * static_cast<double>(time / interval);
  };
  auto acquainted
      = rate(limits::acquaintance_heartbeat_interval, duration{200s});
  auto heard = said_in(200s);
  CHECK(heard >= acquainted - 4);
  CHECK(heard <= 1.5 * acquainted + 4);
  say(world, a, b, phase::joining);
  CHECK(said_in(200s) <= 1.5 * acquainted + 4);

  say(world, a, b, phase::accumulating);
  CHECK(said_in(1s) >= 2 * limits::first_heartbeats); // At once, and quickly.
  auto close = rate(limits::heartbeat_interval, duration{100s});
  heard = said_in(100s);
  CHECK(heard >= close - 4);
  CHECK(heard <= 1.5 * close + 4);

  say(world, a, b, phase::accumulating, true);
  auto distant = rate(limits::acquaintance_heartbeat_interval, duration{1000s});
  heard = said_in(1000s);
  CHECK(heard >= distant - 4);
  CHECK(heard <= 1.5 * distant + 4);
  say(world, a, b, phase::accumulating);
  CHECK(said_in(2s) >= 2 * limits::first_heartbeats);
  witness mine{a.system, a.session()};
  world.network.silence(host(1), host(2));
  world.run_for(silence_detector::settings{}.floor
                + 2 * limits::heartbeat_interval);
  CHECK(mine.ended);
}

TEST_CASE("a connection that is full both ways needs few heartbeats") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.settle();
  say(world, a, b, phase::accumulating);
  world.run_for(10s);
  std::uint64_t frames = 0;
  world.network.judge_frames([&](auto&, auto&, auto&) {
    ++frames;
    return memory_network::fate::arrives;
  });
  auto said_in_20s = [&](std::uint64_t bytes) {
    auto before = frames;
    for (int i = 0; i < 200; ++i) {
      connection_traffic seen;
      seen.received = seen.sent = bytes;
      caf::anon_send(a.session(), traffic_seen{100ms, {seen}});
      caf::anon_send(b.session(), traffic_seen{100ms, {seen}});
      world.run_for(100ms);
    }
    return frames - before;
  };
  auto idle = said_in_20s(100);
  auto full = said_in_20s(5000);
  CHECK(idle >= 30);
  CHECK(full <= idle / 2);
  CHECK(full >= 4); // How long an answer takes stays known.
}

TEST_CASE("who only listens to a long gradient says that it lives") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(a, b);
  world.run_for(10s);
  witness mine{a.system, a.session()};
  world.network.bandwidth(host(1), host(2), 100e3);
  // A minute's worth: what the sender asks meanwhile waits behind it.
  chunk_part part;
  part.group.bytes[0] = 1;
  part.samples = 1;
  auto values = std::make_shared<std::vector<std::uint8_t>>(10'000);
  for (int i = 0; i < 600; ++i)
    caf::anon_send(
        a.session(),
        parcel{peer(2), part, {values, values->data(), values->size()}});
  world.run_for(50s);
  CHECK_FALSE(mine.ended);
}

TEST_CASE("a malformed frame costs its connection and nothing else") {
  test_world world;
  door a{world, 1};
  plain_peer s{world, host(2)};
  world.settle();
  auto bad = s.net->dial(a.where);
  auto good = s.net->dial(a.where);
  s.net->send(bad, {encode(introduction(2)), {}});
  s.net->send(good, {encode(introduction(2)), {}});
  world.settle();
  REQUIRE(a.roster->count<peer_joined>() == 1);
  witness session{a.system, a.session()};
  s.net->send(bad, {{9, 9, 9, 9, 9, 9, 9, 9}, {}});
  world.settle();
  CHECK(s.closed == 1);
  CHECK_FALSE(session.ended);
  CHECK(a.observer->events("fault").size() == 1);
  // Its checksum fits: this is what that peer writes, not the line's doing.
  REQUIRE(a.roster->count<offence_seen>() == 1);
  CHECK(a.roster->last<offence_seen>().who == peer(2));
  s.net->send(good, {encode(heartbeat{7}), {}});
  world.settle();
  CHECK(s.count<heartbeat_reply>() == 1);
}

namespace {

/// What a welcome stranger sends, all at once, and what becomes of it.
struct welcome_stranger {
  welcome_stranger() {
    world.settle();
    line = s.net->dial(a.where);
    s.net->send(line, {encode(introduction(2)), {}});
    world.settle();
    session.emplace(a.system, a.session());
  }
  void send(const message& x, shared_bytes body = {}) {
    s.net->send(line, {encode(x), std::move(body)});
  }
  void check_ended(bool by_fault) {
    world.settle();
    CHECK(session->ended == by_fault);
    CHECK(a.roster->count<offence_seen>() == (by_fault ? 1 : 0));
  }

  test_world world;
  door a{world, 1};
  plain_peer s{world, host(2)};
  connection_id line = 0;
  std::optional<witness> session;
};

} // namespace

TEST_CASE("a flood of letters ends its session, a burst does not") {
  for (bool floods : {false, true}) {
    CAPTURE(floods);
    welcome_stranger x;
    const auto saved
        = limits::letters_of_a_stranger_at_once / cost_of(routing_ping{});
    const auto letters
        = floods ? saved + limits::letters_dropped + 1 : saved / 2;
    for (double i = 0; i < letters; ++i)
      x.send(routing_ping{});
    x.check_ended(floods);
  }
}

TEST_CASE("of letters beyond an allowance the newest report and heartbeat are "
          "read, and it is said once") {
  welcome_stranger x;
  const auto saved
      = limits::letters_of_a_stranger_at_once / cost_of(routing_ping{});
  for (double i = 0; i < saved + 10; ++i)
    x.send(routing_ping{});
  progress_report report;
  report.id = peer(2);
  for (report.step = 1; report.step <= 100; ++report.step) {
    x.send(report);
    x.send(heartbeat{report.step});
  }
  x.world.settle();
  CHECK(x.s.count<heartbeat_reply>() == 0);
  x.world.run_for(limits::letters_pause + 1ms);
  CHECK(x.s.count<heartbeat_reply>() == 1);
  REQUIRE(x.a.roster->count<letter>() == 1);
  CHECK(std::get<progress_report>(x.a.roster->last<letter>().content).step
        == 100);
  CHECK(x.a.observer->events("fault").size() == 1);
  CHECK_FALSE(x.session->ended);
}

TEST_CASE("an answer to what can never have been asked says nothing") {
  welcome_stranger x;
  for (std::size_t i = 0; i < observed_durations::enough; ++i)
    x.send(heartbeat_reply{std::uint64_t{1} << 63});
  // Had they been quick answers, it would be gone by now.
  x.world.run_for(3 * duration{limits::acquaintance_heartbeat_interval} + 1s);
  x.check_ended(false);
}

TEST_CASE("a flood of line probes ends its session, what one probe takes does "
          "not") {
  for (bool floods : {false, true}) {
    CAPTURE(floods);
    welcome_stranger x;
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(max_probe_bytes);
    for (std::size_t sent = 0; sent < max_probe_total; sent += bytes->size())
      x.send(line_probe{}, {bytes, bytes->data(), bytes->size()});
    if (floods)
      x.send(line_probe{}, {bytes, bytes->data(), 1});
    x.check_ended(floods);
  }
}

TEST_CASE("a newcomer sends the first trainer a bounded probe, until it knows "
          "its line") {
  test_world world;
  door a{world, introduction(1), host(1), peer(1), true};
  plain_peer server{world, host(3)};
  plain_peer first{world, host(2)};
  plain_peer second{world, host(4)};
  world.settle();
  auto come = [&](plain_peer& s, hello x) {
    auto line = s.net->dial(a.where);
    s.net->send(line, {encode(x), {}});
    world.settle();
  };
  auto contact = introduction(3);
  contact.role = role::bootstrap;
  come(server, contact);
  CHECK(server.count<line_probe>() == 0);
  come(first, introduction(2));
  CHECK(first.count<line_probe>() == 1);
  come(second, introduction(4));
  CHECK(second.count<line_probe>() == 0);
  // Whatever number its connection has; others are nobody's.
  auto pass = [&](std::uint64_t bytes) {
    traffic_seen x{100ms, {}};
    for (connection_id id = 1; id < 9; ++id)
      x.traffic.push_back({id, bytes, 0, true, 20ms});
    caf::anon_send(a.it, x);
    world.run_for(100ms);
  };
  std::size_t most = 1;
  SUBCASE("of which it learns the line's speed") {
    for (int i = 0; i < 20; ++i)
      pass(20'000);
    most = 20;
  }
  SUBCASE("of which it learns nothing") {
    for (int i = 0; i < 2; ++i)
      pass(1'000'000);
    CHECK(first.count<line_probe>()
          == upload_probe::budget / upload_probe::first_burst);
    for (int i = 0; i < 50; ++i)
      pass(1'000'000);
    most = upload_probe::budget / upload_probe::first_burst;
  }
  CHECK(first.count<line_probe>() > 1);
  CHECK(first.count<line_probe>() <= most);
  CHECK(second.count<line_probe>() == 0);
}

TEST_CASE("a peer with two connections survives the loss of either") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  dial(a, b);
  dial(b, a);
  world.settle();
  REQUIRE(world.network.open_connections() == 2);
  CHECK(a.roster->count<peer_joined>() == 1);
  CHECK(b.roster->count<peer_joined>() == 1);
  witness mine{a.system, a.session()};
  witness theirs{b.system, b.session()};
  REQUIRE(world.network.break_oldest(host(1), host(2)));
  world.settle();
  CHECK_FALSE(mine.ended);
  CHECK_FALSE(theirs.ended);
  // Both can still speak.
  a.router->clear();
  b.router->clear();
  caf::anon_send(a.it, parcel{peer(2), routing_ping{1}, {}});
  caf::anon_send(b.it, parcel{peer(1), routing_ping{2}, {}});
  world.settle();
  CHECK((b.router->contents<routing_ping, letter>().size()) == 1);
  CHECK((a.router->contents<routing_ping, letter>().size()) == 1);
  REQUIRE(world.network.break_oldest(host(1), host(2)));
  world.settle();
  CHECK(mine.ended);
  CHECK(theirs.ended);
}

TEST_CASE("who dials a peer long after it was connected has lost it") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  dial(a, b);
  world.settle();
  witness theirs{b.system, b.session()};
  world.run_for(std::chrono::seconds{21});
  REQUIRE_FALSE(theirs.ended);
  // Its machine was switched off, and its line says nothing of it.
  plain_peer again{world, host(1)};
  const auto line = again.net->dial(b.where, {});
  world.settle();
  again.net->send(line, {encode(introduction(1)), {}});
  world.settle();
  CHECK(theirs.ended);
  CHECK_FALSE(theirs.orderly);
  CHECK(again.closed == 1); // The next one is welcome.
  const auto next = again.net->dial(b.where, {});
  world.settle();
  again.net->send(next, {encode(introduction(1)), {}});
  world.settle();
  CHECK(b.roster->count<peer_joined>() == 2);
  CHECK(again.closed == 1);
}

TEST_CASE("a connection that breaks with letters takes its session along") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  dial(a, b);
  dial(b, a);
  world.settle();
  REQUIRE(world.network.open_connections() == 2);
  witness mine{a.system, a.session()};
  witness theirs{b.system, b.session()};
  // Each speaks on the connection that it had first, which is the oldest for
  // one of them at least.
  caf::anon_send(a.it, parcel{peer(2), routing_ping{1}, {}});
  caf::anon_send(b.it, parcel{peer(1), routing_ping{2}, {}});
  world.settle();
  REQUIRE(world.network.break_oldest(host(1), host(2)));
  world.settle();
  CHECK(mine.ended);
  CHECK(theirs.ended);
}

TEST_CASE("a call dials first and delivers what waited") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  caf::anon_send(a.it, call{{peer(2), b.where}, routing_ping{1}, {}});
  caf::anon_send(a.it, call{{peer(2), b.where}, routing_ping{2}, {}});
  world.settle();
  CHECK(world.network.open_connections() == 1);
  auto pings = b.router->contents<routing_ping, letter>();
  REQUIRE(pings.size() == 2);
  CHECK(pings[0].token == 1);
  CHECK(pings[1].token == 2);
  CHECK(b.router->last<letter>().from == peer(1));
}

TEST_CASE("a call that reaches somebody else is not delivered to them") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  caf::anon_send(a.it, call{{peer(3), b.where}, routing_ping{1}, {}});
  world.settle();
  CHECK(b.router->contents<routing_ping, letter>().empty());
}

TEST_CASE("a peer that dials itself does so once") {
  test_world world;
  door a{world, 1};
  world.settle();
  // Under the identity that it had before, at the address that it has.
  caf::anon_send(a.it, dial_contact{{peer(3), a.where}});
  world.settle();
  REQUIRE(a.roster->count<dial_succeeded>() == 1);
  CHECK(a.roster->last<dial_succeeded>().who == peer(1));
  CHECK(a.roster->last<dial_failed>().expected == peer(3));
  auto refusals = a.roster->count<peer_refused>();
  for (int i = 0; i < 5; ++i) {
    caf::anon_send(a.it, call{{peer(3), a.where}, routing_ping{1}, {}});
    world.run_for(1s);
  }
  CHECK(a.roster->count<dial_failed>() == 6);
  CHECK(a.router->count<dial_failed>() == 6);
  CHECK(a.roster->count<peer_refused>() == refusals);
}

TEST_CASE("a gateway tries whether a peer can be dialled, and tells it") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  dial(b, a);
  world.settle();
  auto accepted = a.roster->count<session_actor>();
  auto answer = [&](address where) {
    caf::anon_send(a.it, try_to_reach{{peer(2), where}, 31, peer(2)});
    world.run_for(limits::handshake_cap + 10s);
    auto letter = b.roster->last<potluck::letter>();
    CHECK(letter.from == peer(1));
    CHECK(std::get<reach_answer>(letter.content).nonce == 31);
    return std::get<reach_answer>(letter.content).reached;
  };
  CHECK(answer(b.where));
  // The connection said so itself.
  REQUIRE(b.roster->count<reach_proven>() == 1);
  CHECK(b.roster->last<reach_proven>().nonce == 31);
  CHECK(b.roster->last<reach_proven>().host == host(1));
  CHECK_FALSE(answer({host(2), 9}));           // Nobody listens there.
  CHECK_FALSE(answer(a.where));                // It is somebody else.
  CHECK(a.roster->count<reach_proven>() == 0); // Who is shown no number.
  CHECK(b.roster->count<reach_proven>() == 1);
  // It is a try: nobody comes of it, and nobody goes.
  CHECK(a.roster->count<session_actor>() == accepted);
  CHECK(a.roster->count<dial_failed>() == 0);
}

TEST_CASE(
    "who was sent to see whether a peer can be dialled tells the sender") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  door c{world, 3};
  dial(b, a);
  world.settle();
  caf::anon_send(a.it, try_to_reach{{peer(3), c.where}, 31, peer(2)});
  world.run_for(1s);
  CHECK(c.roster->last<reach_proven>().nonce == 31);
  auto letter = b.roster->last<potluck::letter>();
  CHECK(std::get<reach_answer>(letter.content).reached);
  CHECK(c.roster->count<potluck::letter>() == 0);
}

TEST_CASE("a host that was dialled before proves little by connecting") {
  test_world world;
  door far{world, introduction(1), "203.0.113.1", peer(1)};
  door near{world, introduction(2), "203.0.113.2", peer(2)};
  SUBCASE("it was not") {
    dial(far, near);
    world.settle();
    CHECK(near.roster->last<peer_joined>().dialled_us);
    caf::anon_send(far.it, try_to_reach{{peer(2), near.where}, 31, peer(2)});
    world.run_for(1s);
    CHECK(near.roster->last<reach_proven>().new_host);
  }
  SUBCASE("it was") {
    dial(near, far);
    world.settle();
    caf::anon_send(far.it, try_to_reach{{peer(2), near.where}, 31, peer(2)});
    world.run_for(1s);
    REQUIRE(near.roster->count<reach_proven>() == 1);
    CHECK_FALSE(near.roster->last<reach_proven>().new_host);
  }
}

TEST_CASE("a gateway hears how another sees its port, and leaves it at that") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  caf::anon_send(a.it, ask_for_port{{peer(2), b.where}});
  world.run_for(1s);
  REQUIRE(a.roster->count<port_seen>() == 1);
  CHECK(a.roster->last<port_seen>().as.host == host(1));
  CHECK(a.roster->last<port_seen>().as.port != 0);
  CHECK(a.roster->last<port_seen>().by == host(2));
  caf::anon_send(a.it, ask_for_port{{peer(3), b.where}}); // Somebody else.
  caf::anon_send(a.it, ask_for_port{{peer(2), {host(2), 9}}});
  world.run_for(limits::handshake_cap + 10s);
  CHECK(a.roster->count<port_seen>() == 1);
  CHECK(b.roster->count<peer_joined>() == 0);
  CHECK(a.roster->count<dial_failed>() == 0);
  CHECK(world.network.open_connections() == 0);
}

TEST_CASE("who cannot be dialled says so to whom it greets") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  caf::anon_send(b.it, reach_known{false});
  dial(b, a);
  world.settle();
  CHECK(a.roster->last<peer_joined>().who.where.port == 0);
  CHECK_FALSE(b.roster->last<peer_joined>().dialled_us);
  CHECK(a.roster->last<peer_joined>().dialled_us);
}

TEST_CASE("a new roster hears who is connected") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  world.settle();
  dial(a, b);
  world.settle();
  auto fresh = a.system.pretend<roster_actor>();
  wiring w;
  w.gateway = a.it;
  w.roster = fresh.handle;
  w.observer = a.observer.handle;
  caf::anon_send(a.it, w.for_gateway());
  world.settle();
  REQUIRE(fresh->count<peer_joined>() == 1);
  CHECK(fresh->last<peer_joined>().who.id == peer(2));
  CHECK(fresh->last<session_actor>() == a.session());
  // To the same one it is no news.
  caf::anon_send(a.it, w.for_gateway());
  world.settle();
  CHECK(fresh->count<peer_joined>() == 1);
}

TEST_CASE("leaving closes everything and ends the gateway") {
  test_world world;
  door a{world, 1};
  door b{world, 2};
  plain_peer s{world, host(9)};
  world.settle();
  dial(a, b);
  s.net->dial(a.where);
  world.settle();
  bool ended = false;
  a.it->attach_functor([&] { ended = true; });
  caf::anon_send(a.it, leave_run{"enough"});
  world.settle();
  CHECK(ended);
  CHECK(s.closed == 1);
  CHECK(world.network.open_connections() == 0);
}

namespace {

/// Whom this gateway tells of its line from now on.
fake<conductor_actor> employ_conductor(door& a) {
  auto conductor = a.system.pretend<conductor_actor>();
  wiring w;
  w.roster = a.roster.handle;
  w.router = a.router.handle;
  w.conductor = conductor.handle;
  caf::anon_send(a.it, w.for_gateway());
  return conductor;
}

} // namespace

TEST_CASE(
    "what the line does is told to the conductor, and again when it halves") {
  test_world world;
  door a{world, 1}, b{world, 2};
  world.settle();
  dial(a, b);
  world.settle();
  auto conductor = employ_conductor(a);
  // Whatever number its only connection has; others are nobody's.
  auto send = [&](std::uint64_t rate, bool waiting) {
    for (int i = 0; i < 30; ++i) {
      traffic_seen x{100ms, {}};
      for (connection_id id = 1; id < 9; ++id)
        x.traffic.push_back({id, rate / 10, 0, waiting, 20ms});
      caf::anon_send(a.it, x);
      world.run_for(100ms);
    }
  };
  auto lines = [&a] {
    auto all = a.observer->all<event>();
    return std::count_if(all.begin(), all.end(),
                         [](auto& x) { return x.name == "line"; });
  };
  send(4'000'000, false);
  CHECK(conductor->count<line_measured>() == 0);
  send(2'000'000, true);
  REQUIRE(conductor->count<line_measured>() == 1);
  CHECK(conductor->last<line_measured>().upload == doctest::Approx(2e6));
  CHECK(conductor->last<line_measured>().download == doctest::Approx(2e6));
  CHECK(lines() == 1);
  send(1'000'000, true);
  REQUIRE(conductor->count<line_measured>() == 2);
  CHECK(conductor->last<line_measured>().upload == doctest::Approx(1e6));
  CHECK(lines() == 2);
  // A successor of the conductor hears at once.
  auto successor = employ_conductor(a);
  world.settle();
  REQUIRE(successor->count<line_measured>() == 1);
  CHECK(successor->last<line_measured>().upload == doctest::Approx(1e6));
}

TEST_CASE("pairs far slower than the line are told to the conductor") {
  test_world world;
  door a{world, 1}, b{world, 2}, c{world, 3};
  world.settle();
  dial(a, b);
  world.settle();
  dial(a, c);
  world.settle();
  auto conductor = employ_conductor(a);
  // Bytes per second over each of its connections, the first and the second.
  auto send = [&](double first, double second, int times) {
    for (int i = 0; i < times; ++i) {
      traffic_seen x{100ms, {}};
      connection_id id = 0;
      for (auto rate : {first, second})
        if (++id; rate > 0)
          x.traffic.push_back(
              {id, static_cast<std::uint64_t>(rate / 10), 0, true, 20ms});
      caf::anon_send(a.it, x);
      world.run_for(100ms);
    }
  };
  send(1e6, 1e6, 30);
  send(2e6, 0, 30);
  REQUIRE(conductor->count<line_measured>() > 0);
  CHECK(conductor->last<line_measured>().slow_pairs.empty());
  send(0, 3e5, 60);
  auto told = conductor->last<line_measured>();
  CHECK(told.upload > 1.5e6);
  REQUIRE(told.slow_pairs.size() == 1);
  CHECK(told.slow_pairs[0].bytes_per_second == doctest::Approx(3e5));
  // It has mended.
  send(0, 2e6, 60);
  CHECK(conductor->last<line_measured>().slow_pairs.empty());
}
