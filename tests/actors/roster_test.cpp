#include "actors/roster.hpp"
#include "actors/wiring.hpp"

#include <doctest/doctest.h>
#include <set>

#include "messages/codec.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"
#include "tests/support/test_world.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A session that ends well when told to leave, and shows its gateway what it
/// is to send.
class polite_session {
public:
  void init(session_actor::pointer self, gateway_actor gateway) {
    self_ = self;
    gateway_ = std::move(gateway);
  }
  template <class T>
  void on(const T& x) {
    if constexpr (std::is_same_v<T, leave_run>)
      self_->quit();
    if constexpr (std::is_same_v<T, parcel>)
      self_->send(gateway_, x);
  }

private:
  session_actor::pointer self_ = nullptr;
  gateway_actor gateway_;
};

using ids = std::vector<peer_id>;

/// A roster among fakes.
struct desk {
  explicit desk(std::vector<address> seeds = {}, address announce = {},
                std::shared_ptr<port_mapper> mapper = {},
                std::map<address, peer_id> pins = {})
      : system(world.add_system()), gateway(system.pretend<gateway_actor>()),
        router(system.pretend<router_actor>()),
        registrar(system.pretend<registrar_actor>()),
        conductor(system.pretend<conductor_actor>()),
        averager(system.pretend<averager_actor>()),
        observer(system.pretend<observer_actor>()) {
    roster_config c;
    c.self = peer(1);
    c.run = "soup";
    c.seeds = std::move(seeds);
    c.pins = std::move(pins);
    c.announce = std::move(announce);
    c.seed = 7;
    c.mapper = std::move(mapper);
    it = system.keep((*system).spawn(roster, c));
    wired.gateway = gateway.handle;
    wired.router = router.handle;
    wired.registrar = registrar.handle;
    wired.conductor = conductor.handle;
    wired.averager = averager.handle;
    wired.observer = observer.handle;
    wired.roster = it;
    caf::anon_send(it, wired.for_roster());
    caf::anon_send(it, gateway_ready{{"0.0.0.0", 1000}});
    world.settle();
  }

  session_actor arrive(std::uint8_t number, role r = role::trainer,
                       bool dials = false, const std::string& from = "",
                       const std::string& seen = host(1),
                       bool relayed = false) {
    auto session = system.keep((*system).spawn(
        [](session_actor::stateful_pointer<polite_session> self,
           gateway_actor g) {
          return behave<session_actor, polite_session>(self, g);
        },
        gateway.handle));
    peer_joined news;
    news.who = contact_of(number);
    if (!from.empty())
      news.who.where.host = from;
    news.role = r;
    news.run = "soup";
    news.seen_host = seen;
    news.dialled_us = dials;
    news.relayed = relayed;
    caf::anon_send(it, news, session);
    world.settle();
    return session;
  }

  /// Those that the router has heard are nodes.
  ids nodes() const {
    ids result;
    for (const auto& x : router->all<peer_joined>())
      if (x.routes)
        result.push_back(x.who.id);
    return result;
  }

  test_world world;
  test_system& system;
  fake<gateway_actor> gateway;
  fake<router_actor> router;
  fake<registrar_actor> registrar;
  fake<conductor_actor> conductor;
  fake<averager_actor> averager;
  fake<observer_actor> observer;
  wiring wired;
  roster_actor it;
};

progress_report report_of(std::uint8_t number, std::uint64_t step = 3) {
  progress_report r;
  r.id = peer(number);
  r.where = {host(number), 1000};
  r.step = step;
  return r;
}

dht_record record_of(const progress_report& r) {
  return {key_of("run/soup"), std::string(r.id.bytes.begin(), r.id.bytes.end()),
          encode_progress(r), 14000};
}

} // namespace

TEST_CASE("a seed is dialled at once, and again after growing pauses") {
  address seed{host(9), 1000};
  desk d{{seed}};
  std::vector<duration> dials;
  while (d.world.now() < 9s) {
    if (d.gateway->count<dial_contact>() > dials.size()) {
      CHECK(d.gateway->last<dial_contact>().who.where == seed);
      dials.push_back(d.world.now());
      caf::anon_send(d.it, dial_failed{seed, {}, "connection refused"});
    }
    d.world.run_for(test_world::step);
  }
  REQUIRE(dials.size() >= 4);
  CHECK(dials[0] <= 2 * limits::roster_interval);
  CHECK(dials[1] - dials[0] >= dial_backoff::first / 2);
  CHECK(dials[3] - dials[2] > dials[1] - dials[0]);
}

TEST_CASE("at a pinned seed nobody else counts, and it is tried again") {
  address seed{host(9), 1000};
  desk d{{seed}, {}, {}, {{seed, peer(9)}}};
  std::size_t dials = 0;
  for (; d.world.now() < 5s; d.world.run_for(test_world::step))
    if (d.gateway->count<dial_contact>() > dials) {
      ++dials;
      CHECK(d.gateway->last<dial_contact>().who == contact{peer(9), seed});
      caf::anon_send(d.it,
                     dial_failed{seed, peer(9), "another peer answers there"});
    }
  CHECK(dials >= 3);
}

TEST_CASE("when no seed ever answers, the user is told which") {
  address seed{host(9), 1000};
  desk d{{seed}};
  // Each dial is refused at once.
  for (std::size_t dials = 0;
       d.world.now() < limits::first_contact_patience - 1s;
       d.world.run_for(test_world::step))
    for (; dials < d.gateway->count<dial_contact>(); ++dials)
      caf::anon_send(d.it, dial_failed{seed, {}, "connection refused"});
  CHECK(d.observer->count<peer_over>() == 0);
  d.world.run_for(2s);
  REQUIRE(d.observer->count<peer_over>() == 1);
  auto over = d.observer->last<peer_over>();
  CHECK(over.users_mistake);
  CHECK(over.problem.find("10.0.0.9:1000") != std::string::npos);
  CHECK(over.problem.find("connection refused") != std::string::npos);
  CHECK(over.problem.find("address") != std::string::npos);
}

TEST_CASE("a line that is down for a moment does not end a peer that starts") {
  address seed{host(9), 1000};
  desk d{{seed}};
  d.world.run_for(limits::first_contact_patience + 1s);
  // Nothing came back, so that the first dial has only just failed: the user
  // is told, once, and it goes on.
  caf::anon_send(d.it, dial_failed{seed, {}, "no answer in time"});
  d.world.run_for(10s);
  auto told = d.observer->events("fault");
  REQUIRE(told.size() == 1);
  CHECK(d.observer->count<peer_over>() == 0);
  SUBCASE("and when somebody answers then, all is well") {
    d.arrive(2);
    d.world.run_for(2 * limits::longest_first_contact);
    CHECK(d.observer->count<peer_over>() == 0);
  }
  SUBCASE("but not for ever") {
    d.world.run_for(limits::longest_first_contact);
    CHECK(d.observer->count<peer_over>() == 1);
  }
}

TEST_CASE("one contact is enough not to give up") {
  desk d{{{host(9), 1000}}};
  d.arrive(2);
  d.world.run_for(2 * limits::first_contact_patience);
  CHECK(d.observer->count<peer_over>() == 0);
}

TEST_CASE("everybody hears who comes and how they go") {
  desk d;
  auto second = d.arrive(2);
  auto third = d.arrive(3);
  CHECK(d.averager->count<peer_joined>() == 2);
  caf::anon_send(second, leave_run{"enough"});
  d.world.settle();
  CHECK(d.averager->last<peer_left>().id == peer(2));
  CHECK(d.averager->last<peer_left>().orderly);
  caf::anon_send_exit(third, caf::exit_reason::remote_link_unreachable);
  d.world.settle();
  CHECK(d.conductor->last<peer_left>().id == peer(3));
  CHECK_FALSE(d.conductor->last<peer_left>().orderly);
  CHECK(d.observer->events("departure").size() == 2);
}

TEST_CASE("records are looked up at trainers that say that they average") {
  desk d;
  d.arrive(2, role::bootstrap);
  CHECK(d.router->last<peer_joined>().who.id == peer(2));
  d.arrive(3);
  d.arrive(4);
  CHECK(d.nodes() == ids{peer(2)});
  caf::anon_send(d.it, letter{peer(3), report_of(3), {}});
  d.world.settle();
  CHECK(d.nodes() == ids{peer(2), peer(3)});
  auto contributors = report_of(4);
  contributors.contributes = true;
  caf::anon_send(d.it, letter{peer(4), contributors, {}});
  d.world.settle();
  CHECK(d.nodes() == ids{peer(2), peer(3)});
}

TEST_CASE("a lost peer is dialled again, one that left is not") {
  desk d;
  auto second = d.arrive(2);
  auto third = d.arrive(3);
  caf::anon_send(second, leave_run{"enough"});
  caf::anon_send_exit(third, caf::exit_reason::remote_link_unreachable);
  d.world.run_for(3s);
  auto dials = d.gateway->all<dial_contact>();
  REQUIRE_FALSE(dials.empty());
  for (auto& x : dials)
    CHECK(x.who == contact_of(3));
}

TEST_CASE("a report reaches those who decide about the run") {
  desk d;
  d.arrive(2);
  caf::anon_send(d.it, letter{peer(2), report_of(2), {}});
  d.world.settle();
  REQUIRE(d.conductor->count<report_heard>() == 1);
  CHECK(d.conductor->last<report_heard>().report.step == 3);
  CHECK(d.conductor->last<report_heard>().connected);
  CHECK(d.registrar->count<report_heard>() == 1);
}

TEST_CASE("nobody reports for somebody else") {
  desk d;
  d.arrive(2);
  d.arrive(3);
  caf::anon_send(d.it, letter{peer(2), report_of(3), {}});
  caf::anon_send(d.it, letter{peer(4), report_of(4), {}});
  auto forged = record_of(report_of(5));
  forged.subkey = record_of(report_of(6)).subkey;
  caf::anon_send(d.it, records_looked_up{forged.key, {forged}, 1});
  d.world.settle();
  CHECK(d.conductor->count<report_heard>() == 0);
}

TEST_CASE("of a connected peer only its own line tells") {
  desk d;
  d.arrive(2);
  caf::anon_send(d.it, letter{peer(2), report_of(2, 3), {}});
  auto ended = report_of(2, 1000);
  ended.phase = phase::finished;
  caf::anon_send(d.it,
                 records_looked_up{key_of("run/soup"), {record_of(ended)}, 1});
  d.world.settle();
  REQUIRE(d.conductor->count<report_heard>() == 1);
  CHECK(d.conductor->last<report_heard>().report.step == 3);
}

TEST_CASE("who is heard of in the DHT is dialled") {
  desk d;
  auto key = key_of("run/soup");
  caf::anon_send(d.it, records_looked_up{key, {record_of(report_of(4))}, 1});
  d.world.run_for(1s);
  CHECK(d.gateway->last<dial_contact>().who == contact_of(4));
  REQUIRE(d.conductor->count<report_heard>() == 1);
  CHECK_FALSE(d.conductor->last<report_heard>().connected);
  CHECK(d.registrar->count<records_looked_up>() == 1);
}

TEST_CASE("a bootstrap shares its address, however it is connected") {
  desk d;
  auto session = d.arrive(2, role::bootstrap);
  peer_joined again;
  again.who = contact_of(2);
  again.role = role::bootstrap;
  caf::anon_send(d.it, again, session);
  auto tenant = report_of(5);
  tenant.where = {host(2), 1000};
  records_looked_up found;
  found.records = {record_of(tenant)};
  found.answers = 1;
  caf::anon_send(d.it, found);
  d.world.run_for(2s);
  CHECK(d.gateway->last<dial_contact>().who
        == contact{peer(5), {host(2), 1000}});
}

TEST_CASE("whoever is new hears who is here and what they said") {
  desk d;
  d.arrive(2);
  caf::anon_send(d.it, letter{peer(2), report_of(2), {}});
  d.world.settle();
  auto replacement = d.system.pretend<conductor_actor>();
  d.wired.conductor = replacement.handle;
  caf::anon_send(d.it, d.wired.for_roster());
  d.world.settle();
  CHECK(replacement->last<peer_joined>().who.id == peer(2));
  CHECK(replacement->last<report_heard>().report.id == peer(2));
  CHECK(replacement->last<report_heard>().connected);
}

TEST_CASE("an urgent report goes to connected peers that train") {
  desk d;
  d.arrive(2);
  d.arrive(3, role::bootstrap);
  d.gateway->clear();
  own_report mine;
  mine.report.step = 8;
  mine.urgent = true;
  caf::anon_send(d.it, mine);
  d.world.settle();
  REQUIRE(d.gateway->count<parcel>() == 1);
  CHECK(d.gateway->last<parcel>().to == peer(2));
  auto sent = d.gateway->contents<progress_report>().front();
  CHECK(sent.step == 8);
  CHECK(sent.id == peer(1));
  // It listens on any interface: others see it where it was seen.
  CHECK(sent.where == address{host(1), 1000});
}

TEST_CASE("in a large group those who lead hear at once who falls behind") {
  // With steps as short as the pause between two rounds of news a joiner was
  // never waited for, and one step behind for ever.
  desk d;
  const auto others = static_cast<std::uint8_t>(limits::few_peers + 4);
  for (std::uint8_t i = 2; i < 2 + others; ++i) {
    d.arrive(i);
    auto theirs = report_of(i);
    theirs.phase = phase::accumulating;
    caf::anon_send(d.it, letter{peer(i), theirs, {}});
  }
  d.world.settle();
  auto say = [&](phase p, std::uint64_t step) {
    d.gateway->clear();
    own_report mine;
    mine.report = report_of(1, step);
    mine.report.phase = p;
    mine.urgent = true;
    caf::anon_send(d.it, mine);
    d.world.settle();
    std::vector<peer_id> told;
    for (auto& x : d.gateway->all<parcel>())
      told.push_back(x.to);
    return told;
  };
  CHECK(say(phase::accumulating, 3).size() == others);
  const std::vector<peer_id> leaders{peer(2), peer(3), peer(4)};
  CHECK(say(phase::joining, 3) == leaders);
  CHECK(say(phase::joining, 3).empty());
  CHECK(say(phase::joining, 4).size() == others);
  CHECK(say(phase::waiting, 4).size() == others);
  CHECK(say(phase::accumulating, 4) == leaders);
}

TEST_CASE("the report is published in the DHT again and again") {
  desk d{{}, {"example.org", 777}};
  d.world.run_for(1s);
  CHECK(d.router->count<publish_record>() == 0); // Is there a run already?
  auto asked = d.router->count<look_up_records>();
  CHECK(asked >= 1);
  for (auto end = d.world.now() + 3 * limits::publish_interval + 1s;
       d.world.now() < end; d.world.run_for(100ms))
    caf::anon_send(d.it, records_looked_up{key_of("run/soup"), {}, 1});
  auto published = d.router->all<publish_record>();
  REQUIRE(published.size() >= 3);
  CHECK(d.router->count<look_up_records>() - asked == published.size());
  auto report = decode_progress(published.back().record.value);
  REQUIRE(report);
  CHECK(report->id == peer(1));
  CHECK(report->where == address{"example.org", 777});
}

TEST_CASE("the answer to a look-up is awaited before the next, for a while") {
  desk d;
  d.world.run_for(limits::look_up_patience - 200ms);
  CHECK(d.router->count<look_up_records>() == 1);
  d.world.run_for(2 * limits::joining_publish_interval);
  CHECK(d.router->count<look_up_records>() == 2);
  caf::anon_send(d.it, records_looked_up{key_of("run/soup"), {}, 1});
  d.world.run_for(2 * limits::joining_publish_interval);
  CHECK(d.router->count<look_up_records>() == 3);
}

TEST_CASE("who joins a run that is there publishes itself as a member only") {
  desk d{{}, {"example.org", 777}};
  auto member = report_of(4);
  member.charter.bytes[0] = 1;
  caf::anon_send(d.it,
                 records_looked_up{key_of("run/soup"), {record_of(member)}, 1});
  d.world.run_for(limits::publish_interval + 1s);
  CHECK(d.router->count<publish_record>() == 0);
  links_wanted links;
  links.everybody = true;
  caf::anon_send(d.it, links);
  d.world.run_for(limits::publish_interval + 1s);
  CHECK(d.router->count<publish_record>() > 0);
}

TEST_CASE("who needs a few members asks for few records") {
  desk d;
  auto cell = d.system.pretend<cell_actor>();
  d.wired.cell = cell.handle;
  caf::anon_send(d.it, d.wired.for_roster());
  d.world.settle();
  CHECK(d.router->last<look_up_records>().most == limits::records_of_few);
  CHECK(d.router->last<look_up_records>().matters); // It might found the run.
  // What it hears is told, but nobody founds a run by it.
  auto member = report_of(4);
  records_looked_up some;
  some.key = key_of("run/soup");
  for (std::uint8_t i = 4; some.records.size() < limits::records_of_few; ++i)
    some.records.push_back(record_of(report_of(i)));
  some.answers = 5;
  some.stored = 300;
  caf::anon_send(d.it, some);
  d.world.settle();
  CHECK(d.registrar->count<records_looked_up>() == 0);
  CHECK(d.conductor->count<report_heard>() == limits::records_of_few);
  CHECK(cell->last<run_looked_up>().published == 300);
  SUBCASE("without a run all have to be known") {
    d.world.run_for(2 * limits::joining_publish_interval);
    CHECK(d.router->last<look_up_records>().most == 0);
    caf::anon_send(d.it, some);
    d.world.settle();
    CHECK(d.registrar->count<records_looked_up>() == 1);
  }
  SUBCASE("of a run that is there a few do") {
    auto other = report_of(100); // Of another, for the old news are known.
    other.charter.bytes[0] = 1;
    some.records[0] = record_of(other);
    caf::anon_send(d.it, some);
    d.world.run_for(2 * limits::joining_publish_interval);
    CHECK(d.router->last<look_up_records>().most == limits::records_of_few);
    CHECK_FALSE(d.router->last<look_up_records>().matters);
    // A member needs all, and at once.
    auto mine = own_report{};
    mine.report.id = peer(1);
    mine.report.charter.bytes[0] = 1;
    caf::anon_send(d.it, mine);
    caf::anon_send(d.it, links_wanted{});
    auto asked = d.router->count<look_up_records>();
    d.world.run_for(2 * limits::roster_interval);
    CHECK(d.router->count<look_up_records>() == asked + 1);
    CHECK(d.router->last<look_up_records>().most
          == run_lookup::records_of_many);
    // And few again once it contributes.
    caf::anon_send(d.it, some);
    mine.report.contributes = true;
    caf::anon_send(d.it, mine);
    caf::anon_send(d.it, links_wanted{false, false, {peer(2)}});
    d.world.run_for(2 * limits::publish_interval);
    CHECK(d.router->last<look_up_records>().most == limits::records_of_few);
  }
}

TEST_CASE("a contributor is no node, although it was one before") {
  desk d;
  auto session = d.arrive(2);
  auto report = report_of(2);
  report.phase = phase::accumulating;
  caf::anon_send(d.it, letter{peer(2), report, {}});
  d.world.settle();
  CHECK(d.nodes() == ids{peer(2)}); // It routes.
  report.contributes = true;
  SUBCASE("it stays") {
  }
  SUBCASE("it goes without a word, and comes back as a contributor") {
    caf::anon_send_exit(session, caf::exit_reason::kill);
    d.world.settle();
    d.arrive(2);
  }
  caf::anon_send(d.it, letter{peer(2), report, {}});
  d.world.settle();
  REQUIRE(d.router->count<routes_no_more>() == 1);
  CHECK(d.router->last<routes_no_more>().id == peer(2));
}

TEST_CASE("a contributor keeps those next to it in its chain, and dials one") {
  desk d;
  for (std::uint8_t i : {2, 3, 4})
    d.arrive(i);
  const auto unneeded = d.arrive(5);
  own_report mine;
  mine.report.id = peer(1);
  mine.report.charter.bytes[0] = 1;
  mine.report.contributes = true;
  caf::anon_send(d.it, mine);
  links_wanted links{false, false, {peer(2), peer(3)}};
  links.nearer = contact_of(6);
  links.farther = peer(4);
  caf::anon_send(d.it, links);
  d.world.settle();
  CHECK(d.gateway->last<dial_contact>().who == links.nearer);
  // It does without that one until the cell says otherwise.
  d.gateway->clear();
  caf::anon_send(d.it, dial_failed{links.nearer.where, links.nearer.id, "no"});
  d.arrive(6);
  d.world.run_for(2 * limits::surplus_age);
  CHECK(d.gateway->count<dial_contact>() == 0);
  std::set<peer_id> dropped;
  for (auto& x : d.gateway->all<drop_peer>())
    dropped.insert(x.id);
  CHECK(dropped == std::set<peer_id>{peer(5)});
  // It is not forgotten: those that are kept may all be lost at one moment.
  caf::anon_send(unneeded, leave_run{"as the gateway was told"});
  d.world.settle();
  REQUIRE(d.router->count<peer_left>() == 1);
  CHECK(d.router->last<peer_left>().orderly);
  CHECK(d.router->last<peer_left>().unneeded);
  d.gateway->clear();
  caf::anon_send(d.it, links_wanted{false, false, {peer(5)}});
  d.world.run_for(2 * limits::dialling_interval);
  REQUIRE(d.gateway->count<dial_contact>() == 1);
  CHECK(d.gateway->last<dial_contact>().who == contact_of(5));
}

TEST_CASE("among peers that are all connected the DHT is asked less often") {
  desk d;
  auto mine = own_report{};
  mine.report.id = peer(1);
  mine.report.charter.bytes[0] = 1;
  caf::anon_send(d.it, mine);
  d.arrive(2);
  auto asked_in_a_minute = [&](std::vector<dht_record> found) {
    auto before = d.router->count<look_up_records>();
    for (int i = 0; i < 60; ++i) {
      caf::anon_send(d.it, records_looked_up{key_of("run/soup"), found, 1});
      d.world.run_for(1s);
    }
    return d.router->count<look_up_records>() - before;
  };
  auto often = 60s / limits::publish_interval;
  auto rarely = 60s / limits::acquainted_publish_interval;
  CHECK(asked_in_a_minute({record_of(report_of(2))}) <= rarely + 1);
  CHECK(asked_in_a_minute({record_of(report_of(2)), record_of(report_of(3))})
        >= often - 2);
}

TEST_CASE("who tells us its report is not looked up") {
  desk d;
  d.arrive(2);
  d.arrive(3);
  auto report = report_of(3);
  caf::anon_send(d.it, letter{peer(3), report, {}});
  d.world.run_for(limits::look_up_patience + limits::publish_interval);
  auto known = d.router->last<look_up_records>().known;
  const auto& id = peer(3).bytes;
  CHECK(known == std::vector<std::string>{std::string(id.begin(), id.end())});
}

TEST_CASE("the more peers are connected, the less often the DHT is asked") {
  desk d;
  auto mine = own_report{};
  mine.report.id = peer(1);
  mine.report.charter.bytes[0] = 1;
  caf::anon_send(d.it, mine);
  std::vector<dht_record> found;
  for (std::uint8_t i = 2; i <= 21; ++i) {
    d.arrive(i);
    found.push_back(record_of(report_of(i)));
  }
  auto asked_in_two_minutes = [&] {
    auto before = d.router->count<look_up_records>();
    for (int i = 0; i < 120; ++i) {
      caf::anon_send(d.it, records_looked_up{key_of("run/soup"), found, 1});
      d.world.run_for(1s);
    }
    return d.router->count<look_up_records>() - before;
  };
  auto published = d.router->count<publish_record>();
  auto asked = asked_in_two_minutes();
  CHECK(asked >= 4);
  CHECK(asked <= 7); // Every 20 to 25 seconds.
  CHECK(d.router->count<publish_record>() - published >= 20);
  found.push_back(record_of(report_of(22))); // Somebody we do not know.
  CHECK(asked_in_two_minutes() >= 40);
}

TEST_CASE("a refusal ends who dialled and knows nobody else") {
  address where{host(2), 1000};
  desk d{{where}};
  SUBCASE("the dialler, alone") {
    caf::anon_send(d.it, peer_refused{where, "Pass --run soup.", true});
    d.world.settle();
    CHECK(d.observer->last<peer_over>().problem == "Pass --run soup.");
    CHECK(d.observer->last<peer_over>().users_mistake);
  }
  SUBCASE("not who was dialled by a stranger") {
    caf::anon_send(d.it, peer_refused{where, "Pass --run soup.", false});
    d.world.settle();
    CHECK(d.observer->count<peer_over>() == 0);
    CHECK(d.observer->events("fault").size() == 1);
  }
  SUBCASE("not who is among others") {
    d.arrive(3);
    caf::anon_send(d.it, peer_refused{where, "Pass --run soup.", true});
    d.world.settle();
    CHECK(d.observer->count<peer_over>() == 0);
    CHECK(d.observer->events("fault").size() == 1);
  }
}

namespace {

/// A roster of a peer at this place in a cell, whose steps take an hour.
struct cell_desk : desk {
  explicit cell_desk(bool contributes, std::vector<address> seeds = {})
      : desk(std::move(seeds)) {
    for (std::uint8_t i : {2, 3}) {
      arrive(i);
      auto r = report_of(i);
      r.contributes = !contributes;
      if (r.contributes)
        r.sponsor = peer(i == 2 ? 1 : 9);
      caf::anon_send(it, letter{peer(i), r, {}});
    }
    mine.report = report_of(1);
    mine.report.phase = phase::accumulating;
    mine.report.contributes = contributes;
    if (contributes) {
      mine.report.sponsor = peer(2);
      caf::anon_send(it, links_wanted{false, false, {peer(2), peer(3)}});
    }
    caf::anon_send(it, mine);
    caf::anon_send(it, pace_of(1h));
    world.settle();
  }

  /// The longest time in which this peer hears nothing of the roster's.
  duration longest_silence(std::uint8_t number, duration watched = 2min) {
    duration longest{0};
    auto last = world.now();
    for (auto end = world.now() + watched; world.now() < end;) {
      gateway->clear();
      world.run_for(test_world::step);
      for (auto& x : gateway->all<parcel>())
        if (x.to == peer(number)) {
          longest = std::max(longest, world.now() - last);
          last = world.now();
        }
    }
    return std::max(longest, world.now() - last);
  }

  /// Whether this peer hears at once of a change of the own report.
  template <class Change>
  bool tells(std::uint8_t number, Change change) {
    world.settle();
    gateway->clear();
    change(mine.report);
    caf::anon_send(it, mine);
    world.run_for(mine.report.contributes ? duration{limits::longest_look}
                                          : duration{1s});
    auto all = gateway->all<parcel>();
    return std::any_of(all.begin(), all.end(),
                       [&](auto& x) { return x.to == peer(number); });
  }

  own_report mine;
};

} // namespace

TEST_CASE("however long the steps, a member's contributors hear of it before "
          "its last report is old") {
  cell_desk d{false};
  CHECK(d.longest_silence(2) < limits::members_report_life / 2 + 2s);
  CHECK(d.longest_silence(3) < limits::members_report_life / 2 + 2s);
}

TEST_CASE("a member's contributors hear at once of a step, and only its own of "
          "its first samples") {
  cell_desk d{false};
  auto samples = [](progress_report& x) { x.samples += 5; };
  auto step = [](progress_report& x) { ++x.step; };
  CHECK(d.tells(2, step));
  CHECK(d.tells(3, step));
  CHECK(d.tells(2, samples));
  CHECK(d.tells(2, step));
  CHECK(d.tells(2, [](progress_report& x) { x.samples = 0; }));
  CHECK_FALSE(d.tells(3, samples));
}

TEST_CASE("a contributor asks the DHT only when it lacks members to dial") {
  address seed{host(9), 1000};
  cell_desk d{true, {seed}};
  d.arrive(4);
  caf::anon_send(d.it, letter{peer(4), report_of(4), {}});
  caf::anon_send(d.it, dial_failed{seed, {}, "connection refused"});
  d.world.run_for(limits::longest_look);
  auto looks_and_dials = [&](std::vector<peer_id> who) {
    d.router->clear();
    d.gateway->clear();
    caf::anon_send(d.it, links_wanted{false, false, std::move(who)});
    for (int i = 0; i < 30; ++i) {
      caf::anon_send(d.it, records_looked_up{key_of("run/soup"), {}, 1});
      d.world.run_for(1s);
    }
    std::size_t seeds = 0;
    for (auto& x : d.gateway->all<dial_contact>())
      seeds += x.who.id.empty();
    return std::pair{d.router->count<look_up_records>(), seeds};
  };
  using result = std::pair<std::size_t, std::size_t>;
  // Its other member is not connected: the roster dials that one.
  CHECK(looks_and_dials({peer(2), peer(5)}) == result{0, 0});
  // There is none: it looks for one, through its sponsor.
  auto found = looks_and_dials({peer(2)});
  CHECK(found.first >= 10);
  CHECK(found.second == 0);
  // Without a sponsor, those whom the user named may know somebody.
  d.mine.report.sponsor = {};
  caf::anon_send(d.it, d.mine);
  CHECK(looks_and_dials({}).second >= 1);
}

TEST_CASE("a contributor's sponsor hears of it about as often as it guesses "
          "ahead, its other member now and then that it is there") {
  cell_desk d{true};
  auto sponsor = d.longest_silence(2);
  CHECK(sponsor <= limits::longest_report_pause + limits::longest_look);
  auto other = d.longest_silence(3, 5min);
  CHECK(other > sponsor);
  CHECK(other <= limits::other_member_news_pause + limits::longest_look);
}

TEST_CASE(
    "a contributor's other member hears whose sponsor is another, and not "
    "of steps") {
  cell_desk d{true};
  auto step = [](progress_report& x) { ++x.step; };
  CHECK(d.tells(2, step));
  CHECK_FALSE(d.tells(3, step));
  CHECK(d.tells(3, [](progress_report& x) { x.sponsor = peer(3); }));
}

// ---- who can be dialled ----------------------------------------------------

namespace {

/// What the roster has sent through its sessions.
template <class T>
std::vector<peer_id> asked(desk& d) {
  std::vector<peer_id> result;
  for (auto& x : d.gateway->all<parcel>())
    if (std::holds_alternative<T>(x.content))
      result.push_back(x.to);
  return result;
}

/// The last such message that the roster has sent.
template <class T>
parcel last_of(desk& d) {
  parcel result;
  for (auto& x : d.gateway->all<parcel>())
    if (std::holds_alternative<T>(x.content))
      result = x;
  return result;
}

letter said(std::uint8_t from, message x) {
  return {peer(from), std::move(x), {}};
}

/// To the last question of this kind: it could not, or the connection.
letter could_not(desk& d) {
  return {
      asked<reach_request>(d).back(),
      reach_answer{false, d.gateway->contents<reach_request>().back().nonce},
      {}};
}
reach_proven proof(desk& d, const std::string& from = host(2)) {
  return {d.gateway->contents<reach_request>().back().nonce, from, true};
}

progress_report own(bool contributes = false) {
  progress_report r;
  r.charter = digest_of("c", 1);
  r.contributes = contributes;
  return r;
}

} // namespace

TEST_CASE("a member asks whether it can be dialled, and says so if not") {
  desk d;
  fake<cell_actor> cell = d.system.pretend<cell_actor>();
  d.wired.cell = cell.handle;
  caf::anon_send(d.it, d.wired.for_roster());
  d.arrive(2);
  d.arrive(3);
  caf::anon_send(d.it, own_report{own(), true, {}});
  d.world.run_for(1s);
  CHECK(asked<reach_request>(d).empty()); // The cell has not chosen yet.
  caf::anon_send(d.it, links_wanted{});
  d.world.run_for(1s);
  auto whom = asked<reach_request>(d);
  REQUIRE(whom.size() == 1);
  auto lie = could_not(d);
  lie.from = peer(whom[0] == peer(2) ? 3 : 2);
  caf::anon_send(d.it, lie);
  d.world.run_for(1s);
  CHECK(d.observer->events("reach").empty()); // Nobody asked that one.
  caf::anon_send(d.it, could_not(d));
  d.world.run_for(1s);
  whom = asked<reach_request>(d);
  REQUIRE(whom.size() == 2); // The other one is asked, too.
  CHECK(d.observer->events("reach").empty());
  caf::anon_send(d.it, could_not(d));
  d.world.run_for(1s);
  CHECK(d.observer->events("reach").size() == 1);
  CHECK_FALSE(cell->last<reach_known>().reachable);
  CHECK_FALSE(d.gateway->last<reach_known>().reachable);
  // Others hear that there is nothing to dial.
  CHECK(d.gateway->contents<progress_report>().back().where
        == address{host(1), 0});
  // What kind of router it is, two of them see.
  REQUIRE(d.gateway->count<ask_for_port>() == 1);
  const address local{"192.168.0.7", 1000};
  caf::anon_send(d.it, port_seen{{host(1), 40001}, host(2), {local}});
  d.world.settle();
  const address outside{host(1), 40001}; // One is enough to try it there.
  CHECK(d.gateway->last<reach_known>().outside == std::vector{outside});
  CHECK(d.gateway->last<reach_known>().local == std::vector{local});
  CHECK(d.gateway->last<reach_known>().kind == reach::unknown);
  caf::anon_send(d.it, port_seen{outside, host(3), {local}});
  d.world.run_for(1s);
  CHECK(d.gateway->last<reach_known>().outside == std::vector{outside});
  CHECK(d.gateway->last<reach_known>().kind == reach::cone);
  CHECK(d.observer->events("reach").size() == 2);
  CHECK(d.gateway->contents<progress_report>().back().reach == reach::cone);
  // A while later they are asked again.
  d.world.run_for(reachability::validity);
  whom = asked<reach_request>(d);
  REQUIRE(whom.size() == 3);
  caf::anon_send(d.it, proof(d));
  d.world.run_for(1s);
  CHECK(d.observer->events("reach").size() == 3);
  CHECK(cell->last<reach_known>().reachable);
  caf::anon_send(d.it, own_report{own(), true, {}});
  d.world.run_for(10s);
  CHECK(d.gateway->contents<progress_report>().back().reach == reach::open);
}

TEST_CASE("nobody is asked where the answer is known, or does not matter") {
  SUBCASE("the user has stated the address") {
    desk d{{}, {"example.org", 7000}};
    d.arrive(2);
    caf::anon_send(d.it, own_report{own(), true, {}});
    caf::anon_send(d.it, links_wanted{});
    d.world.run_for(1s);
    CHECK(asked<reach_request>(d).empty());
  }
  SUBCASE("the user has stated the port, which can be tried") {
    desk d{{}, {host(1), 7000}};
    d.arrive(2);
    caf::anon_send(d.it, own_report{own(), true, {}});
    caf::anon_send(d.it, links_wanted{});
    d.world.run_for(1s);
    REQUIRE(asked<reach_request>(d).size() == 1);
    CHECK(d.gateway->contents<reach_request>()[0].port == 7000);
  }
  SUBCASE("somebody has dialled it") {
    desk d;
    caf::anon_send(d.it, own_report{own(), true, {}});
    d.arrive(2, role::trainer, true);
    caf::anon_send(d.it, links_wanted{});
    d.world.run_for(1s);
    CHECK(asked<reach_request>(d).empty());
  }
}

TEST_CASE("who contributes asks once, for the plan") {
  desk d;
  d.arrive(2);
  d.arrive(3);
  caf::anon_send(d.it, own_report{own(true), true, {}});
  caf::anon_send(d.it, links_wanted{false, false, {peer(2), peer(3)}});
  d.world.run_for(1s);
  auto whom = asked<reach_request>(d);
  REQUIRE(whom.size() == 1);
  SUBCASE("it can be dialled") {
    caf::anon_send(d.it, proof(d));
    d.world.run_for(3 * reachability::validity);
    CHECK(asked<reach_request>(d).size() == 1);
    CHECK(d.observer->events("reach").size() == 1);
  }
  SUBCASE("it cannot") {
    for (std::size_t i = 0; i < 2; ++i) {
      REQUIRE(asked<reach_request>(d).size() == i + 1);
      caf::anon_send(d.it, could_not(d));
      d.world.run_for(10s); // It looks less often.
    }
    CHECK(d.observer->events("reach").size() == 1);
  }
}

TEST_CASE("who asks to be dialled is, at its own host, now and then") {
  desk d;
  d.arrive(2);
  caf::anon_send(d.it, said(2, reach_request{4000, 31}));
  d.world.settle();
  REQUIRE(d.gateway->count<try_to_reach>() == 1);
  auto dial = d.gateway->last<try_to_reach>();
  CHECK(dial.who.id == peer(2));
  CHECK(dial.who.where == address{host(2), 4000});
  CHECK(dial.nonce == 31);
  CHECK(dial.asker == peer(2));
  caf::anon_send(d.it, said(2, reach_request{4001}));
  caf::anon_send(d.it, said(9, reach_request{4000})); // Nobody that is here.
  d.world.settle();
  CHECK(d.gateway->count<try_to_reach>() == 1);
  d.world.run_for(limits::reach_pause);
  caf::anon_send(d.it, said(2, reach_request{4001}));
  d.world.settle();
  CHECK(d.gateway->count<try_to_reach>() == 2);
}

TEST_CASE("who comes through a hub makes nobody dial a host") {
  desk d;
  d.arrive(2, role::trainer, false, "203.0.113.2", host(1), true);
  caf::anon_send(d.it, said(2, reach_request{4000, 31}));
  d.world.settle();
  CHECK(d.gateway->count<try_to_reach>() == 0);
}

TEST_CASE("a third peer is sent, and its answer goes to whom it is about") {
  desk d;
  d.arrive(2, role::trainer, false, "203.0.113.2");
  d.arrive(3, role::trainer, false, "203.0.113.2"); // Of the same host.
  d.arrive(4, role::trainer, false, "198.51.100.4");
  auto payment = std::make_shared<const std::vector<std::uint8_t>>(7);
  caf::anon_send(d.it, letter{peer(2),
                              reach_request{4000, 31, true},
                              {payment, payment->data(), payment->size()}});
  d.world.settle();
  CHECK(d.gateway->count<try_to_reach>() == 0);
  REQUIRE(asked<reach_errand>(d) == std::vector<peer_id>{peer(4)});
  auto sent = last_of<reach_errand>(d);
  CHECK(sent.body.size == 7); // What the asker has paid, the third peer gets.
  auto& errand = std::get<reach_errand>(sent.content);
  CHECK(errand.who.where == address{"203.0.113.2", 4000});
  CHECK(errand.nonce == 31);
  caf::anon_send(d.it, said(3, reach_answer{false, 31})); // It was not sent.
  d.world.settle();
  CHECK(asked<reach_answer>(d).empty());
  caf::anon_send(d.it, said(4, reach_answer{false, 31}));
  d.world.settle();
  CHECK(asked<reach_answer>(d) == std::vector<peer_id>{peer(2)});
}

TEST_CASE("a peer goes on the errands of those that it knows") {
  desk d;
  d.arrive(2);
  const contact whom{peer(7), {"203.0.113.7", 4000}};
  caf::anon_send(d.it, said(9, reach_errand{31, whom})); // A stranger.
  // Nor into its own house.
  caf::anon_send(d.it, said(2, reach_errand{31, {peer(7), {"10.0.0.9", 22}}}));
  d.world.settle();
  CHECK(d.gateway->count<try_to_reach>() == 0);
  caf::anon_send(d.it, said(2, reach_errand{31, whom}));
  caf::anon_send(d.it, said(2, reach_errand{32, whom}));
  d.world.settle();
  REQUIRE(d.gateway->count<try_to_reach>() == 1);
  auto dial = d.gateway->last<try_to_reach>();
  CHECK(dial.who.where == whom.where);
  CHECK(dial.asker == peer(2));
}

namespace {

/// A router that opens whatever is asked, as it says.
struct fake_mapper : port_mapper {
  void start(std::uint16_t port, listener x) override {
    asked_for = port;
    told = std::move(x);
  }
  std::uint16_t asked_for = 0;
  listener told;
};

} // namespace

TEST_CASE("a router is asked for a port once nobody gets through to the peer") {
  auto router = std::make_shared<fake_mapper>();
  desk d{{}, {}, router};
  const std::string out = "203.0.113.1";
  for (std::uint8_t i = 2; i <= 7; ++i)
    d.arrive(i, role::trainer, false, "198.51." + std::to_string(i) + ".4",
             out);
  caf::anon_send(d.it, own_report{own(), true, {}});
  caf::anon_send(d.it, links_wanted{});
  for (int i = 0; i < 3; ++i) {
    d.world.run_for(1s);
    CHECK(router->asked_for == 0);
    CHECK(last_of<reach_request>(d).body.size == errand_bytes);
    caf::anon_send(d.it, could_not(d));
  }
  d.world.run_for(1s);
  REQUIRE(router->asked_for == 1000);
  auto before = asked<reach_request>(d).size();
  router->told({{"192.168.7.7", 4000}, 60s, "a fake", ""});
  d.world.run_for(1s);
  // It is not believed, but tried, where others see this peer.
  CHECK_FALSE(d.gateway->last<reach_known>().reachable);
  REQUIRE(asked<reach_request>(d).size() == before + 1);
  CHECK(d.gateway->contents<reach_request>().back().port == 4000);
  SUBCASE("it is so") {
    caf::anon_send(d.it, proof(d, "192.0.2.9"));
    d.world.run_for(1s);
    CHECK(d.gateway->last<reach_known>().reachable);
    CHECK(d.gateway->last<reach_known>().port == 4000);
    caf::anon_send(d.it, own_report{own(), true, {}});
    d.world.run_for(10s);
    auto report = d.gateway->contents<progress_report>().back();
    CHECK(report.reach == reach::mapped);
    CHECK(report.where == address{out, 4000});
  }
  SUBCASE("it lies") {
    for (int i = 0; i < 3; ++i) {
      caf::anon_send(d.it, could_not(d));
      d.world.run_for(1s);
    }
    CHECK_FALSE(d.gateway->last<reach_known>().reachable);
    CHECK(d.gateway->contents<progress_report>().back().where.port == 0);
  }
}

TEST_CASE("two that nobody can dial do not wait for each other") {
  desk d;
  d.arrive(2);
  caf::anon_send(d.it, own_report{own(), true, {}});
  caf::anon_send(d.it, links_wanted{});
  d.world.run_for(1s);
  caf::anon_send(d.it, could_not(d));
  d.world.run_for(1s);
  auto other = report_of(3);
  other.where.port = 0;
  records_looked_up found;
  found.records = {record_of(other)};
  found.answers = 1;
  caf::anon_send(d.it, found);
  d.world.settle();
  REQUIRE(d.conductor->count<peer_left>() == 1);
  CHECK(d.conductor->last<peer_left>().id == peer(3));
}
