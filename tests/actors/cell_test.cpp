#include "actors/cell.hpp"
#include "actors/wiring.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"
#include "tests/support/float_body.hpp"
#include "tests/support/test_world.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id id_of(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

digest some_state() {
  digest x;
  x.bytes[0] = 7;
  return x;
}

charter of_group_size(std::uint32_t size, const std::string& averaging) {
  run_settings s;
  s.averaging_method = averaging;
  s.group_size = size;
  s.chunk_values = 256;
  return {s, ""};
}

/// A cell among fakes; this peer is number 9. Gradients have 300 values.
struct one_cell {
  explicit one_cell(std::uint32_t group_size,
                    const std::string& averaging = "exact")
      : gateway(system.pretend<gateway_actor>()),
        roster(system.pretend<roster_actor>()),
        keeper(system.pretend<state_keeper_actor>()),
        conductor(system.pretend<conductor_actor>()),
        observer(system.pretend<observer_actor>()) {
    cell_config c;
    c.self = id_of(9);
    c.agreed = of_group_size(group_size, averaging);
    c.seed = 1;
    it = system.keep((*system).spawn(cell, c));
    wiring w;
    w.gateway = gateway.handle;
    w.roster = roster.handle;
    w.state_keeper = keeper.handle;
    w.conductor = conductor.handle;
    w.observer = observer.handle;
    w.cell = it;
    tell(w.for_cell());
  }
  template <class News>
  void tell(const News& x) {
    caf::anon_send(it, x);
    system.run();
  }
  void pass(duration x) {
    system.advance(x);
    system.run();
  }
  void meet(std::uint8_t number) {
    peer_joined joined;
    joined.who.id = id_of(number);
    tell(joined);
    progress_report r;
    r.id = id_of(number);
    r.phase = phase::accumulating;
    tell(report_heard{r, true});
  }
  /// Of those it has met.
  peer_id sponsor() {
    tell(run_looked_up{});
    pass(limits::cell_interval);
    auto result = conductor->template last<cell_standing>().sponsor;
    REQUIRE_FALSE(result.empty());
    return result;
  }
  void gather(std::vector<peer_id> from) {
    tell(gather_contributions{4, some_state(), 300, from});
  }
  void part(std::uint8_t from, std::uint32_t chunk, std::vector<float> values,
            std::uint64_t number) {
    contribution_part x{number, chunk, 5, 2.5, packing::float32};
    tell(letter{id_of(from), x, float_body(std::move(values))});
  }
  void whole(std::uint8_t from, std::uint64_t number) {
    std::vector<float> values(300, 1.0f);
    values.back() = 2;
    part(from, 0, values, number);
  }
  template <class Content>
  std::vector<Content> sent() {
    return gateway->template contents<Content>();
  }

  test_system system;
  fake<gateway_actor> gateway;
  fake<roster_actor> roster;
  fake<state_keeper_actor> keeper;
  fake<conductor_actor> conductor;
  fake<observer_actor> observer;
  cell_actor it;
};

} // namespace

TEST_CASE("where there is room a trainer averages, and wants everybody") {
  one_cell x{4};
  x.meet(1);
  x.pass(limits::cell_beginning);
  CHECK(x.conductor->count<cell_standing>() == 0);
  x.tell(run_looked_up{});
  REQUIRE(x.conductor->count<cell_standing>() == 1);
  CHECK_FALSE(x.conductor->last<cell_standing>().contributes);
  CHECK(x.conductor->last<cell_standing>().members == 2);
  CHECK(x.roster->last<links_wanted>().everybody);
}

TEST_CASE("where groups are redrawn nobody contributes, and all want "
          "everybody") {
  one_cell x{2, "moshpit"};
  for (std::uint8_t i = 1; i < 5; ++i)
    x.meet(i);
  x.tell(run_looked_up{});
  SUBCASE("whoever can be reached") {
  }
  SUBCASE("and who cannot") {
    x.tell(reach_known{false});
  }
  for (int i = 0; i < 8; ++i) {
    x.meet(1);
    x.pass(1s);
  }
  CHECK_FALSE(x.conductor->last<cell_standing>().contributes);
  CHECK(x.conductor->last<cell_standing>().sponsor.empty());
  CHECK(x.roster->last<links_wanted>().everybody);
  CHECK(x.roster->last<links_wanted>().newcomers);
}

TEST_CASE("who cannot be reached contributes") {
  one_cell x{4};
  x.meet(1);
  x.tell(run_looked_up{});
  x.tell(reach_known{false});
  for (int i = 0; i < 8; ++i) {
    x.meet(1);
    x.pass(1s);
  }
  CHECK(x.conductor->last<cell_standing>().contributes);
}

TEST_CASE("where no look-up is answered it decides after a patience") {
  one_cell x{4};
  x.meet(1);
  x.pass(limits::look_up_patience - limits::cell_beginning);
  CHECK(x.conductor->count<cell_standing>() == 0);
  x.pass(limits::cell_beginning);
  CHECK(x.conductor->count<cell_standing>() == 1);
}

TEST_CASE("who is connected with nobody waits for no look-up") {
  one_cell x{4};
  x.pass(limits::cell_beginning);
  CHECK(x.conductor->count<cell_standing>() == 1);
}

TEST_CASE("in a crowd it contributes, and wants two") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3, 4})
    x.meet(i);
  x.tell(run_looked_up{});
  auto standing = x.conductor->last<cell_standing>();
  CHECK(standing.contributes);
  CHECK_FALSE(standing.sponsor.empty());
  CHECK_FALSE(x.roster->last<links_wanted>().everybody);
  CHECK(x.roster->last<links_wanted>().who.size() == 2);
  // Its sponsor leaves: another one takes over at once.
  x.tell(peer_left{standing.sponsor, "gone", false});
  auto next = x.conductor->last<cell_standing>();
  CHECK(next.contributes);
  CHECK_FALSE(next.sponsor.empty());
  CHECK(next.sponsor != standing.sponsor);
}

TEST_CASE("however long the steps, another member is found within seconds") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  x.tell(run_looked_up{});
  x.tell(pace_of(1h));
  auto names = [&] { return x.roster->last<links_wanted>().who; };
  REQUIRE(names().size() == 2);
  auto other = names()[0] == x.conductor->last<cell_standing>().sponsor
                   ? names()[1]
                   : names()[0];
  x.pass(limits::report_max_age - 5s); // Who is not connected grows old.
  x.tell(peer_left{other, "gone", false});
  for (std::uint8_t i : {1, 2, 3})
    if (id_of(i) != names()[0] && id_of(i) != names()[1])
      x.tell(peer_left{id_of(i), "gone", false});
  for (auto end = limits::longest_look; names().size() == 2 && end > 0s;
       end -= limits::cell_interval)
    x.pass(limits::cell_interval);
  REQUIRE(names().size() == 1);
  // A look-up finds one.
  progress_report r;
  r.id = id_of(4);
  r.phase = phase::accumulating;
  x.tell(report_heard{r, false});
  x.pass(limits::cell_interval);
  CHECK(names().size() == 2);
}

TEST_CASE("a new conductor and roster hear it again") {
  one_cell x{4};
  x.pass(limits::cell_beginning);
  auto other = x.system.pretend<conductor_actor>();
  wiring w;
  w.gateway = x.gateway.handle;
  w.roster = x.roster.handle;
  w.conductor = other.handle;
  w.observer = x.observer.handle;
  x.tell(w.for_cell());
  x.pass(limits::cell_beginning);
  CHECK(other->count<cell_standing>() == 1);
  CHECK(x.roster->count<links_wanted>() == 2);
}

TEST_CASE("a sponsor passes a whole contribution on, and its answer back") {
  one_cell x{4};
  x.gather({id_of(1)});
  auto requests = x.sent<contribution_request>();
  REQUIRE(requests.size() == 1);
  CHECK(requests[0].step == 4);
  CHECK(requests[0].state == some_state());
  x.whole(1, requests[0].number);
  REQUIRE(x.conductor->count<contribution_ready>() == 1);
  auto what = x.conductor->last<contribution_ready>().what;
  CHECK(what->from == id_of(1));
  CHECK(what->samples == 5);
  CHECK(what->gradient.size() == 300);
  CHECK(what->gradient[299] == 2.0f);
  CHECK(x.conductor->last<gathering_over>().step == 4);
  CHECK(x.sent<contribution_answer>().empty());
  x.tell(contribution_taken{id_of(1), true});
  REQUIRE(x.sent<contribution_answer>().size() == 1);
  CHECK(x.sent<contribution_answer>()[0].accepted);
}

TEST_CASE("a gathering ends without who declines, leaves or is too slow") {
  one_cell x{4};
  x.gather({id_of(1), id_of(2), id_of(3)});
  auto number = x.sent<contribution_request>().at(0).number;
  x.tell(letter{id_of(1), contribution_answer{number, false, "nothing"}, {}});
  x.tell(peer_left{id_of(2), "gone", false});
  CHECK(x.conductor->count<gathering_over>() == 0);
  for (int i = 0; i < 100 && x.conductor->count<gathering_over>() == 0; ++i)
    x.pass(limits::gathering_interval);
  CHECK(x.conductor->count<gathering_over>() == 1);
  CHECK(x.conductor->count<contribution_ready>() == 0);
  // Who comes later hears that it was too late.
  x.whole(3, number);
  CHECK(x.conductor->count<contribution_ready>() == 0);
  for (auto& said : x.sent<contribution_answer>())
    CHECK_FALSE(said.accepted);
  CHECK_FALSE(x.sent<contribution_answer>().empty());
}

TEST_CASE("contributors that bring nothing are waited for a part of the time") {
  one_cell x{4};
  // One of them is honest.
  x.gather({id_of(1), id_of(2)});
  x.whole(1, x.sent<contribution_request>().at(0).number);
  const auto wait = [&] {
    std::size_t looks = 0;
    for (; x.conductor->count<gathering_over>() == 0; ++looks)
      x.pass(limits::gathering_interval);
    x.conductor->clear();
    return looks * limits::gathering_interval;
  };
  duration waited = wait();
  CHECK(waited >= limits::contribution_floor);
  std::uint8_t key = 3;
  duration passed = waited;
  for (int step = 0; step < 40; ++step) { // A new one for each step.
    x.gather({id_of(1), id_of(key)});
    ++key;
    const auto requests = x.sent<contribution_request>();
    x.whole(1, requests.back().number);
    const auto lost = wait();
    waited += lost;
    x.pass(1s);
    passed += lost + 1s;
  }
  CHECK(waited <= limits::vain_gathering + limits::contribution_cap
                      + passed / limits::vain_gathering_share);
}

TEST_CASE("a contribution with a NaN is refused, and said to be") {
  one_cell x{4};
  x.gather({id_of(1)});
  auto number = x.sent<contribution_request>().at(0).number;
  x.part(1, 0, std::vector<float>(300, std::numeric_limits<float>::quiet_NaN()),
         number);
  CHECK(x.conductor->count<contribution_ready>() == 0);
  CHECK(x.conductor->count<gathering_over>() == 1);
  REQUIRE(x.sent<contribution_answer>().size() == 1);
  CHECK_FALSE(x.sent<contribution_answer>()[0].accepted);
  CHECK(x.observer->events("fault").size() == 1);
}

TEST_CASE("only the own sponsor gets a gradient") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  auto sponsor = x.sponsor();
  auto stranger = sponsor == id_of(1) ? id_of(2) : id_of(1);
  x.tell(letter{stranger, contribution_request{3, 4, some_state()}, {}});
  CHECK(x.conductor->count<contribution_wanted>() == 0);
  CHECK_FALSE(x.sent<contribution_answer>().at(0).accepted);
  x.tell(letter{sponsor, contribution_request{3, 4, some_state()}, {}});
  CHECK(x.conductor->last<contribution_wanted>().by == sponsor);
}

TEST_CASE("a sponsor tells who is next to whom in its chains") {
  one_cell x{4};
  x.meet(1);
  gather_contributions order{4, some_state(), 300, {id_of(1), id_of(2)}};
  order.chains[id_of(1)].farther = id_of(2);
  order.chains[id_of(2)].nearer = {id_of(1), {"10.0.0.1", 7000}};
  x.tell(order);
  auto requests = x.sent<contribution_request>();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].farther == id_of(2));
  CHECK(requests[0].nearer.id.empty());
  CHECK(requests[1].nearer == order.chains[id_of(2)].nearer);
  CHECK(requests[1].farther.empty());
}

TEST_CASE("a sponsor that has too many tells some whom to go to") {
  one_cell x{4};
  x.meet(1);
  gather_contributions order{4, some_state(), 300, {id_of(1), id_of(2)}};
  order.better[id_of(2)] = {id_of(9), {"10.0.0.9", 7000}};
  x.tell(order);
  auto requests = x.sent<contribution_request>();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].better.id.empty());
  CHECK(requests[1].better == order.better[id_of(2)]);
}

TEST_CASE(
    "a contributor goes where it is told to, and keeps its place so long") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  auto sponsor = x.sponsor();
  contribution_request request{3, 4, some_state()};
  request.nearer = {id_of(7), {"10.0.0.7", 7000}};
  request.better = {id_of(6), {"10.0.0.6", 7000}};
  x.tell(letter{sponsor, request, {}});
  CHECK(x.conductor->last<contribution_wanted>().by == sponsor);
  CHECK(x.roster->last<links_wanted>().better == request.better);
  CHECK(x.sponsor() == sponsor);
  x.meet(6);
  x.pass(limits::longest_look);
  CHECK(x.sponsor() == id_of(6));
  CHECK(x.roster->last<links_wanted>().nearer == request.nearer);
  // The new one says where it stands from now on.
  x.tell(letter{id_of(6), contribution_request{8, 5, some_state()}, {}});
  CHECK(x.sponsor() == id_of(6));
  CHECK(x.roster->last<links_wanted>().nearer.id.empty());
}

TEST_CASE("a contributor takes its place in a chain, and gives it up") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  auto sponsor = x.sponsor();
  contact nearer{id_of(7), {"10.0.0.7", 7000}};
  contribution_request request{3,      4,       some_state(), packing::float32,
                               nearer, id_of(8)};
  x.tell(letter{sponsor, request, {}});
  CHECK(x.roster->last<links_wanted>().nearer == nearer);
  CHECK(x.roster->last<links_wanted>().farther == id_of(8));
  CHECK(x.keeper->count<mean_relay>() == 0); // It is not connected yet.
  // While the dial comes to nothing, each request is a reason for another.
  auto wishes = x.roster->count<links_wanted>();
  x.tell(letter{sponsor, request, {}});
  CHECK(x.roster->count<links_wanted>() == wishes + 1);
  peer_joined joined;
  joined.who.id = nearer.id;
  x.tell(joined);
  CHECK(x.keeper->last<mean_relay>().who == nearer.id);
  x.tell(letter{sponsor, request, {}});
  CHECK(x.roster->count<links_wanted>() == wishes + 1);
  x.tell(peer_left{nearer.id, "gone", true});
  CHECK(x.keeper->last<mean_relay>().who.empty());
  x.tell(joined);
  x.tell(peer_left{sponsor, "gone", true});
  CHECK(x.keeper->last<mean_relay>().who.empty());
  CHECK(x.roster->last<links_wanted>().nearer.id.empty());
}

TEST_CASE("the first of a chain asks its sponsor for the mean") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  auto sponsor = x.sponsor();
  contribution_request request{3,  4,       some_state(), packing::float32,
                               {}, id_of(8)};
  x.tell(letter{sponsor, request, {}});
  CHECK(x.keeper->last<mean_relay>().who == sponsor);
  CHECK(x.roster->last<links_wanted>().nearer.id.empty());
  // Who is in no chain asks any member.
  request.farther = {};
  x.tell(letter{sponsor, request, {}});
  CHECK(x.keeper->last<mean_relay>().who.empty());
}

TEST_CASE("a gradient is handed over in the run's chunks, but in no short "
          "parts") {
  one_cell x{3};
  const auto length = contribution_values(256);
  CHECK(length == limits::least_contribution_part);
  CHECK(contribution_values(length + 1) == length + 1);
  auto gradient = std::make_shared<std::vector<float>>(length + 300, 0.5f);
  x.tell(hand_over{id_of(1), 3, 12, 6.0, gradient, ""});
  std::size_t bytes = 0;
  std::uint32_t chunk = 0;
  for (auto& x : x.gateway->all<parcel>()) {
    auto part = std::get_if<contribution_part>(&x.content);
    REQUIRE(part);
    CHECK(part->chunk == chunk++);
    CHECK(part->samples == 12);
    bytes += x.body.size;
  }
  CHECK(chunk == 2);
  CHECK(bytes == (length + 300) * sizeof(float));
  x.tell(hand_over{id_of(1), 4, 0, 0, nullptr, "nothing accumulated"});
  CHECK(x.sent<contribution_answer>().at(0).reason == "nothing accumulated");
}

TEST_CASE("a gradient is packed as the sponsor wants it") {
  one_cell x{3};
  for (std::uint8_t i : {1, 2, 3})
    x.meet(i);
  auto sponsor = x.sponsor();
  x.tell(letter{
      sponsor, contribution_request{4, 4, some_state(), packing::float16}, {}});
  auto gradient = std::make_shared<std::vector<float>>(300, 0.5f);
  x.tell(hand_over{sponsor, 4, 12, 6.0, gradient, ""});
  auto last = x.gateway->last<parcel>();
  CHECK(std::get<contribution_part>(last.content).packing == packing::float16);
  CHECK(last.body.size == packed_bytes(packing::float16, 300));
}

TEST_CASE("a trainer that others average without, for its lines, contributes "
          "over a line of its own, and says so") {
  one_cell x{4};
  x.meet(1);
  x.meet(2);
  peer_joined relayed;
  relayed.who.id = id_of(1);
  relayed.relayed = true;
  x.tell(relayed);
  x.tell(run_looked_up{});
  x.pass(limits::cell_interval);
  CHECK_FALSE(x.conductor->last<cell_standing>().contributes);
  x.tell(averaged_without_us{{id_of(1), id_of(2)}});
  CHECK(x.conductor->last<cell_standing>().contributes);
  CHECK(x.conductor->last<cell_standing>().sponsor == id_of(2));
  REQUIRE(x.observer->events("fault").size() == 1);
}
