#include "runtime/lines/hole_puncher.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <set>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

const time_point start{1h};

peer_id peer(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

/// What peer `number` knows, who is seen at 203.0.113.NUMBER.
hole_puncher::known facts(int number, int other) {
  const auto host = [](int x) { return "203.0.113." + std::to_string(x); };
  hole_puncher::known x;
  x.seen = {{host(number), 7000}};
  x.local = {{"192.168.1." + std::to_string(number), 7000}};
  x.ours = x.theirs = reach::cone;
  x.hosts = {host(other)};
  return x;
}

hole_puncher make(int number, int other) {
  hole_puncher x{peer(static_cast<std::uint8_t>(number)),
                 peer(static_cast<std::uint8_t>(other)),
                 static_cast<std::uint64_t>(number), start};
  x.know(facts(number, other));
  return x;
}

template <class T>
const T* only(const hole_puncher::actions& all) {
  return all.size() == 1 ? std::get_if<T>(&all[0]) : nullptr;
}

using addresses = std::vector<address>;

/// What the second one punches when the first names these addresses.
addresses punched(hole_puncher& second, hole_connect x,
                  time_point now = start) {
  x.token = 77;
  if (!only<hole_connect>(second.on(x, now)))
    return {};
  const auto does = second.on(hole_sync{77}, now);
  const auto* punch = only<hole_puncher::punch_now>(does);
  return punch ? punch->at : addresses{};
}

} // namespace

TEST_CASE("the smaller peer id asks, times and begins the encryption") {
  auto first = make(1, 2), second = make(2, 1);
  CHECK(second.due() == time_point::max());
  REQUIRE(first.due() == start);
  const auto asks = first.tick(start);
  const auto* question = only<hole_connect>(asks);
  REQUIRE(question);
  CHECK_FALSE(question->answer);
  CHECK(question->seen == addresses{{"203.0.113.1", 7000}});
  CHECK(question->local.empty()); // Another house.

  const auto answers = second.on(*question, start + 40ms);
  const auto* answer = only<hole_connect>(answers);
  REQUIRE(answer);
  CHECK(answer->answer);
  CHECK(answer->token == question->token);

  const auto says = first.on(*answer, start + 80ms);
  const auto* sync = only<hole_sync>(says);
  REQUIRE(sync);
  CHECK(first.due() == start + 120ms); // Half a round trip later.
  CHECK(first.tick(start + 119ms).empty());
  const auto ours = first.tick(start + 120ms);
  const auto theirs = second.on(*sync, start + 120ms);
  const auto* a = only<hole_puncher::punch_now>(ours);
  const auto* b = only<hole_puncher::punch_now>(theirs);
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->begins);
  CHECK_FALSE(b->begins);
  CHECK(a->at == addresses{{"203.0.113.2", 7000}});
  CHECK(b->at == addresses{{"203.0.113.1", 7000}});
}

TEST_CASE("nothing is punched for a sync or an answer that was not agreed") {
  auto first = make(1, 2), second = make(2, 1);
  CHECK(second.on(hole_sync{0}, start).empty()); // Forged.
  CHECK(second.on(hole_sync{7}, start).empty());
  hole_connect from_first{7, false, {{"203.0.113.1", 7000}}, {}};
  REQUIRE(only<hole_connect>(second.on(from_first, start)));
  CHECK(second.on(hole_sync{8}, start).empty()); // Another try's.
  CHECK(second.on(hole_sync{7}, start).size() == 1);
  CHECK(second.on(hole_sync{7}, start).empty()); // Once.
  // An answer that nobody asked for, and questions of whoever does not ask.
  hole_connect from_second{0, true, {{"203.0.113.2", 7000}}, {}};
  CHECK(first.on(from_second, start).empty());
  from_second.answer = false;
  CHECK(first.on(from_second, start).empty());
  CHECK(first.on(hole_sync{0}, start).empty());
  const auto asks = first.tick(start);
  from_second.answer = true;
  from_second.token = only<hole_connect>(asks)->token + 1;
  CHECK(first.on(from_second, start).empty());
  CHECK(second.on(from_second, start).empty());
  // A sync that comes too late.
  from_first.token = 9;
  REQUIRE(only<hole_connect>(second.on(from_first, start)));
  CHECK(second.tick(start + hole_puncher::patience).empty());
  CHECK(second.on(hole_sync{9}, start + hole_puncher::patience).empty());
}

TEST_CASE("nobody is punched but the peer, where others see it") {
  auto ask = [](addresses seen, addresses local = {}) {
    auto second = make(2, 1);
    return punched(second, {0, false, std::move(seen), std::move(local)});
  };
  const address good{"203.0.113.1", 7000};
  CHECK(ask({good}) == addresses{good});
  CHECK(ask({}).empty());
  CHECK(ask({{"198.51.100.9", 7000}}).empty()); // A stranger's.
  CHECK(ask({{"203.0.113.1", 0}}).empty());
  CHECK(ask({{"example.org", 7000}}).empty());
  CHECK(ask({{"::ffff:203.0.113.1", 7000}}).empty());
  CHECK(ask({{"203.0.113.001", 7000}}).empty());
  CHECK(ask({{"203.0.113.2", 7000}}).empty()); // Ourselves.
  CHECK(ask({{"198.51.100.9", 7000}, good, good}) == addresses{good});
  CHECK(ask({{"192.168.1.1", 80}, {"127.0.0.1", 22}, good},
            {{"192.168.1.1", 80}, {"10.0.0.1", 80}})
        == addresses{good}); // Nothing within our house.
  addresses many;
  for (std::uint16_t port = 1; port <= 100; ++port)
    many.push_back({"203.0.113.1", port});
  CHECK(ask(many).size() == hole_puncher::most_punched);
  // A host that is known, but is a name or not known at all.
  auto second = make(2, 1);
  auto x = facts(2, 1);
  x.hosts = {"example.org"};
  second.know(x);
  CHECK(punched(second, {0, false, {{"example.org", 7000}}, {}}).empty());
  x.hosts.clear();
  second.know(x);
  CHECK(punched(second, {0, false, {good}, {}}).empty());
}

TEST_CASE("peers behind one router tell and try what is within it") {
  auto x = facts(2, 2); // Both are seen under one host.
  x.seen = {{"203.0.113.2", 1024}};
  auto second = make(2, 1);
  second.know(x);
  hole_connect from_first{0,
                          false,
                          {{"203.0.113.2", 7000}},
                          {{"192.168.1.1", 7000},
                           {"192.168.1.2", 7000}, // Our own.
                           {"127.0.0.1", 22},
                           {"169.254.1.1", 80},
                           {"fe80::1", 80},
                           {"localhost", 80},
                           {"198.51.100.9", 80},
                           {"10.0.0.1", 7000},
                           {"fd00::1", 7000},
                           {"10.0.0.2", 7000}}};
  CHECK(punched(second, from_first)
        == addresses{{"192.168.1.1", 7000},
                     {"10.0.0.1", 7000},
                     {"fd00::1", 7000},
                     {"203.0.113.2", 7000}});
  const auto answers = second.on(from_first, start);
  REQUIRE(only<hole_connect>(answers));
  CHECK(only<hole_connect>(answers)->local == x.local);
}

TEST_CASE("a private address counts where we are seen under one ourselves") {
  auto x = facts(2, 1);
  x.hosts = {"10.0.0.1"};
  auto second = make(2, 1);
  second.know(x);
  const hole_connect from_first{0, false, {{"10.0.0.1", 7000}}, {}};
  CHECK(punched(second, from_first).empty());
  x.seen = {{"10.0.0.2", 7000}};
  second.know(x);
  CHECK(punched(second, from_first).size() == 1);
}

TEST_CASE("three tries, then a minute's rest, then three more") {
  auto first = make(1, 2);
  auto now = start;
  std::set<std::uint64_t> tokens;
  auto fail_once = [&](bool answered) {
    now = first.due();
    const auto asks = first.tick(now);
    const auto* question = only<hole_connect>(asks);
    REQUIRE(question);
    CHECK(tokens.insert(question->token).second);
    if (!answered)
      return first.tick(now = first.due());
    hole_connect answer{question->token, true, {{"203.0.113.2", 7000}}, {}};
    REQUIRE(only<hole_sync>(first.on(answer, now += 200ms)));
    CHECK(first.due() == now + 100ms); // Measured anew.
    const auto does = first.tick(now = first.due());
    const auto* punch = only<hole_puncher::punch_now>(does);
    REQUIRE(punch);
    CHECK(first.failed(punch->attempt - 1, now).empty()); // An older one's.
    CHECK(first.tick(now).empty());
    return first.failed(punch->attempt, now += 5s);
  };
  for (int round = 0; round < 2; ++round) {
    CHECK(fail_once(true).empty());
    CHECK(first.due() == now + hole_puncher::pause);
    CHECK(fail_once(false).empty()); // Nobody answers.
    CHECK(only<hole_puncher::given_up>(fail_once(true)));
    CHECK(first.due() == now + hole_puncher::rest);
  }
  // Punches of which nothing is heard end by themselves.
  const auto asks = first.tick(now = first.due());
  const auto token = only<hole_connect>(asks)->token;
  first.on(hole_connect{token, true, {{"203.0.113.2", 7000}}, {}}, now);
  REQUIRE(first.tick(now).size() == 1);
  CHECK(first.due() == now + hole_puncher::punches_patience);
  CHECK(first.tick(first.due()).empty());
  // A direct line ends it all; a circuit later is another beginning.
  first.relayed(false, now);
  CHECK(first.due() == time_point::max());
  first.relayed(true, now + 2min);
  CHECK(first.due() == now + 2min);
}

TEST_CASE("whatever a peer says, a minute holds three tries") {
  auto second = make(2, 1);
  std::size_t punches = 0, connections = 0;
  for (auto now = start; now < start + 10min; now += 50ms) {
    const auto at = punched(
        second, {0, false, {{"203.0.113.1", 7000}, {"203.0.113.1", 1}}, {}},
        now);
    punches += at.empty() ? 0 : 1;
    connections += at.size();
  }
  CHECK(punches == 10 * hole_puncher::most_tries);
  CHECK(connections
        <= 10 * hole_puncher::most_tries * hole_puncher::most_punched);
  // Likewise for who asks: a line that comes and goes.
  auto first = make(1, 2);
  std::size_t asked = 0;
  for (auto now = start; now < start + 10min; now += 50ms) {
    first.relayed(false, now);
    first.relayed(true, now);
    asked += first.tick(now).size();
  }
  CHECK(asked == 10 * hole_puncher::most_tries);
}

TEST_CASE("what cannot work is not tried until something changes") {
  auto first = make(1, 2), second = make(2, 1);
  auto x = facts(1, 2);
  x.ours = x.theirs = reach::symmetric;
  first.know(x);
  CHECK(first.tick(start).empty());
  CHECK(first.due() == start + hole_puncher::look_again);
  auto y = facts(2, 1);
  y.ours = y.theirs = reach::symmetric;
  second.know(y);
  CHECK(punched(second, {0, false, {{"203.0.113.1", 7000}}, {}}).empty());
  x.theirs = reach::cone;
  x.seen.clear(); // Where others see us is not known yet.
  first.know(x);
  CHECK(first.tick(first.due()).empty());
  x.seen = facts(1, 2).seen;
  first.know(x);
  CHECK(only<hole_connect>(first.tick(first.due())));
}

TEST_CASE("both ends punch within 20 ms of each other, at any distance") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    const duration distance = std::chrono::milliseconds{chance.below(400)};
    auto delay = [&] { // Of one message over the circuit.
      return distance + std::chrono::microseconds{chance.below(12'000)};
    };
    hole_puncher ends[] = {make(1, 2), make(2, 1)};
    std::multimap<time_point, std::function<void(time_point)>> events;
    std::vector<time_point> begun[2];
    std::function<void(int, const hole_puncher::actions&, time_point)> act;
    auto carry = [&](int to, auto message, time_point now) {
      events.emplace(now + delay(), [&, to, message](time_point then) {
        act(to, ends[to].on(message, then), then);
      });
    };
    act = [&](int at, const hole_puncher::actions& all, time_point now) {
      for (const auto& x : all) {
        if (const auto* connect = std::get_if<hole_connect>(&x))
          carry(1 - at, *connect, now);
        else if (const auto* sync = std::get_if<hole_sync>(&x))
          carry(1 - at, *sync, now);
        else if (const auto* punch = std::get_if<hole_puncher::punch_now>(&x)) {
          begun[at].push_back(now);
          events.emplace(now + 5s,
                         [&, at, n = punch->attempt](time_point then) {
                           act(at, ends[at].failed(n, then), then);
                         });
        }
      }
    };
    auto now = start;
    while (now < start + 2min) {
      auto next = events.empty() ? time_point::max() : events.begin()->first;
      const int whose = ends[0].due() <= ends[1].due() ? 0 : 1;
      if (ends[whose].due() < next) {
        now = ends[whose].due();
        act(whose, ends[whose].tick(now), now);
      } else {
        now = next;
        auto happens = std::move(events.begin()->second);
        events.erase(events.begin());
        happens(now);
      }
    }
    REQUIRE(begun[0].size() == 6); // Two rounds of three.
    REQUIRE(begun[1].size() == 6);
    for (std::size_t i = 0; i < begun[0].size(); ++i)
      CHECK(std::chrono::abs(begun[0][i] - begun[1][i]) < 20ms);
  }
}
