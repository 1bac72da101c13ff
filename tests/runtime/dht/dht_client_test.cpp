/// A client of the DHT among nodes that the test plays.
#include "runtime/dht/dht_client.hpp"
#include "runtime/dht/limits.hpp"
#include "tests/runtime/dht/sealed_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

time_point at(duration since) {
  return time_point{since};
}

contact node(std::uint8_t number) {
  contact x;
  x.id.bytes[0] = number;
  x.where = {"10.0.0." + std::to_string(number), 7000};
  return x;
}

template <class Action>
std::vector<Action> of(const dht_actions& xs) {
  std::vector<Action> result;
  for (auto& x : xs)
    if (auto mine = std::get_if<Action>(&x))
      result.push_back(*mine);
  return result;
}

template <class Message>
Message asked(const dht_actions& xs, std::size_t which = 0) {
  return std::get<Message>(of<dht_call>(xs).at(which).content);
}

struct scene {
  explicit scene(std::uint8_t nodes) {
    for (std::uint8_t i = 2; i < 2 + nodes; ++i)
      here.joined(node(i), at(0s));
  }
  /// A report of this peer's.
  dht_record own() const {
    return sealed::report_of(node(1).id);
  }

  dht_node here{node(1).id, 7, made_up(node(1).id)};
  dht_client client{node(1).id, here, 100};
  record_key key = key_of("run/soup");
};

} // namespace

TEST_CASE("a look-up ends with what its nodes and this one keep") {
  scene x{1};
  auto mine = x.own();
  REQUIRE(x.here.keep_own(mine, at(0s)));
  auto begun = x.client.look_up(5, {x.key, {"known"}, 16}, at(0s));
  auto request = asked<find_records>(begun);
  CHECK(request.most == 16);
  CHECK(request.known_records.size() == 1);
  CHECK(x.client.waits());
  records_found answer;
  answer.token = request.token;
  answer.records = {sealed::report_of(node(8).id)};
  answer.stored = 7;
  SUBCASE("an answer counts from the node that was asked only") {
    CHECK(x.client.read(node(9).id, answer, at(1s)).empty());
  }
  auto over = of<lookup_over>(x.client.read(node(2).id, answer, at(1s)));
  REQUIRE(over.size() == 1);
  CHECK(over[0].number == 5);
  CHECK(over[0].records.size() == 2);
  CHECK(over[0].answers == 1);
  CHECK(over[0].stored == 7);
  CHECK(x.client.read(node(2).id, answer, at(2s)).empty()); // Once.
}

TEST_CASE("who wants some records does not wait for the silent for long") {
  for (std::uint32_t most : {0, 16}) {
    CAPTURE(most);
    scene x{2};
    const auto calls
        = of<dht_call>(x.client.look_up(5, {x.key, {}, most}, at(0s)));
    REQUIRE(calls.size() == 2);
    CHECK(x.client.look(at(dht_client::patience_with_finds)).empty());
    records_found answer;
    answer.token = std::get<find_records>(calls[0].content).token;
    answer.records = {sealed::report_of(node(8).id)};
    CHECK(x.client.read(calls[0].to.id, answer, at(1600ms)).empty());
    const auto over = of<lookup_over>(x.client.look(at(1601ms)));
    CHECK(over.size() == (most == 0 ? 0 : 1)); // Who wants all waits.
    if (!over.empty())
      CHECK(over[0].records.size() == 1);
    const auto late = of<lookup_over>(x.client.look(at(30s)));
    CHECK(late.size() == (most == 0 ? 1 : 0));
  }
}

TEST_CASE("a look-up that matters takes three paths, another one") {
  for (bool matters : {false, true}) {
    CAPTURE(matters);
    scene x{18};
    dht_client::question wish;
    wish.key = x.key;
    wish.matters = matters;
    std::set<std::size_t> paths;
    auto calls = of<dht_call>(x.client.look_up(5, wish, at(0s)));
    std::size_t asked = 0;
    while (!calls.empty()) {
      const auto call = calls.back();
      calls.pop_back();
      ++asked;
      paths.insert(call.path);
      records_found answer;
      answer.token = std::get<find_records>(call.content).token;
      const auto next = x.client.read(call.to.id, answer, at(1s));
      for (auto& more : of<dht_call>(next))
        calls.push_back(more);
      for (auto& end : of<lookup_over>(next))
        CHECK(end.answers == (matters ? 18 : 5));
    }
    CHECK_FALSE(x.client.waits());
    CHECK(asked == (matters ? 18 : 5)); // With so few it asks all.
    CHECK(paths.size() == (matters ? 3 : 1));
  }
}

TEST_CASE("a node that is new is asked whom it knows near this peer") {
  scene x{3};
  const auto is_new = node(40);
  auto asked = of<dht_call>(x.client.joined(is_new, true, at(1s)));
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].to == is_new);
  const auto request = std::get<find_nodes>(asked[0].content);
  CHECK(request.target == point_of(node(1).id));
  CHECK(request.known_nodes.size() >= 4); // The neighbours, and it.
  SUBCASE("and who it names is asked, too") {
    const auto more = of<dht_call>(x.client.read(
        is_new.id, nodes_found{request.token, {node(50), node(51)}}, at(2s)));
    REQUIRE(more.size() == 2);
    CHECK(std::holds_alternative<find_nodes>(more[0].content));
  }
  SUBCASE("which ends where it knows nobody else") {
    CHECK(of<dht_call>(
              x.client.read(is_new.id, nodes_found{request.token, {}}, at(2s)))
              .empty());
    CHECK_FALSE(x.client.waits());
  }
  SUBCASE("once") {
    CHECK(of<dht_call>(x.client.joined(is_new, true, at(2s))).empty());
  }
  SUBCASE("but not by a peer that keeps no table") {
    CHECK(of<dht_call>(x.client.joined(node(41), false, at(2s))).empty());
  }
  SUBCASE("nor of a crowd all") {
    std::size_t of_crowd = 0;
    for (std::uint8_t i = 60; i < 200; ++i)
      of_crowd += of<dht_call>(x.client.joined(node(i), true, at(2s))).size();
    CHECK(of_crowd <= limits::introductions_at_once);
  }
}

TEST_CASE("who is silent is put off, and asked for want of others") {
  scene x{2};
  auto now = 0s;
  for (int i = 0; i < 2; ++i) {
    x.client.look_up(5, {x.key, {}, 0}, at(now));
    x.client.lost(node(2).id, at(now));
    x.client.lost(node(3).id, at(now));
  }
  CHECK(x.here.puts_off(node(2).id, at(now)));
  // Nobody else is there: it is asked.
  auto calls = of<dht_call>(x.client.look_up(6, {x.key, {}, 0}, at(1s)));
  REQUIRE(calls.size() == 2);
  x.client.read(
      calls[0].to.id,
      records_found{std::get<find_records>(calls[0].content).token, {}, {}, 0},
      at(2s));
  CHECK_FALSE(x.here.puts_off(calls[0].to.id, at(2s)));
}

TEST_CASE("every look-up ends, though nobody answers") {
  for (bool gone : {false, true}) {
    CAPTURE(gone);
    scene x{1};
    CHECK(of<lookup_over>(x.client.look_up(5, {x.key, {}, 0}, at(0s))).empty());
    auto end = gone ? x.client.lost(node(2).id, at(1s))
                    : x.client.look(at(limits::routing_patience));
    REQUIRE(of<lookup_over>(end).size() == 1);
    CHECK(of<lookup_over>(end)[0].answers == 0);
    CHECK_FALSE(x.client.waits());
  }
}

TEST_CASE("what is published goes to those that have answered, and is kept") {
  scene x{2};
  const auto record = x.own();
  auto begun = x.client.publish(record, 10, at(0s));
  REQUIRE(of<dht_call>(begun).size() == 2);
  CHECK(x.here.stored(x.key, at(0s)).size() == 1);
  auto first = of<dht_call>(begun)[0];
  nodes_found answer;
  answer.token = std::get<find_nodes>(first.content).token;
  // The other one is silent: that delays nothing but its own copy.
  auto next = x.client.read(first.to.id, answer, at(1s));
  REQUIRE(of<dht_call>(next).size() == 1);
  CHECK(of<dht_call>(next)[0].to == first.to);
  CHECK(asked<store_records>(next).records.size() == 1);
  auto end = x.client.look(at(limits::routing_patience));
  REQUIRE(of<publication_over>(end).size() == 1);
  CHECK(of<publication_over>(end)[0].copies == 1);
}

TEST_CASE("the nodes of a key are remembered until one of them goes") {
  scene x{bucket_size};
  const auto record = x.own();
  auto calls = of<dht_call>(x.client.publish(record, 10, at(0s)));
  while (!calls.empty()) {
    auto who = calls.back();
    calls.pop_back();
    auto request = std::get_if<find_nodes>(&who.content);
    if (!request)
      continue;
    for (auto& more : of<dht_call>(
             x.client.read(who.to.id, nodes_found{request->token, {}}, at(0s))))
      calls.push_back(more);
  }
  auto again = of<dht_call>(x.client.publish(record, 10, at(1s)));
  REQUIRE(again.size() == 10);
  for (auto& call : again)
    CHECK(std::holds_alternative<store_records>(call.content));
  x.client.routes_no_more(again[0].to.id);
  x.here.routes_no_more(again[0].to.id);
  auto third = x.client.publish(record, 10, at(2s));
  CHECK(std::holds_alternative<find_nodes>(of<dht_call>(third)[0].content));
}

TEST_CASE("what nobody has sealed is neither kept nor believed") {
  scene x{1};
  // A peer that "has finished", in the name of another: as it is, with its own
  // seal, and with one from another run.
  auto bare = sealed::report_of(node(7).id, 1, x.key, phase::finished);
  bare.seal.proof = {};
  auto stolen = sealed::report_of(node(7).id, 1, key_of("run/stew"));
  stolen.key = x.key;
  auto other_seal = sealed::report_of(node(7).id);
  other_seal.seal = sealed::report_of(node(8).id).seal;
  for (auto& forged : {bare, stolen, other_seal}) {
    std::vector<dht_record> many(50, forged);
    CHECK(x.here.answer(node(9).id, store_records{1, many}, at(0s)).accepted
          == 0);
    CHECK(x.here.stored(x.key, at(0s)).empty());
    auto begun = x.client.look_up(5, {x.key, {}, 0}, at(0s));
    records_found answer;
    answer.token = asked<find_records>(begun).token;
    answer.records = many;
    auto over = of<lookup_over>(x.client.read(node(2).id, answer, at(1s)));
    REQUIRE(over.size() == 1);
    CHECK(over[0].records.empty());
  }
}

TEST_CASE("an old record cannot be brought back in the place of a newer one") {
  scene x{1};
  const auto old = sealed::report_of(node(7).id, 1);
  const auto newer = sealed::report_of(node(7).id, 2);
  CHECK(x.here.answer(node(2).id, {1, {newer}}, at(0s)).accepted == 1);
  CHECK(x.here.answer(node(9).id, {1, {old}}, at(1s)).accepted == 0);
  CHECK(x.here.stored(x.key, at(1s))[0].seal.number == 2);
  // Nor does an answer that a look-up gets.
  auto begun = x.client.look_up(5, {x.key, {}, 0}, at(1s));
  records_found answer;
  answer.token = asked<find_records>(begun).token;
  answer.records = {old};
  auto over = of<lookup_over>(x.client.read(node(2).id, answer, at(1s)));
  REQUIRE(over.size() == 1);
  REQUIRE(over[0].records.size() == 1);
  CHECK(over[0].records[0].seal.number == 2);
}

TEST_CASE("a record that no rule allows is not published") {
  scene x{2};
  auto record = x.own();
  record.kind = record_kind::none;
  CHECK(x.client.publish(record, 10, at(0s)).empty());
  CHECK_FALSE(x.client.waits());
}

TEST_CASE("a table that liars have filled asks whom it has known for longest") {
  // One far away, and then those around this peer, who name only each other.
  dht_node here{node(1).id, 7, made_up(node(1).id)};
  dht_client client{node(1).id, here, 100};
  const auto old = node(200);
  here.joined(old, at(0s));
  std::vector<contact> liars;
  for (std::uint8_t i = 0; i < 60; ++i) {
    liars.push_back({node(1).id, {"10.0.1." + std::to_string(i), 7000}});
    liars.back().id.bytes[i < 30 ? 1 : 0] ^= i % 30 + 1;
    here.joined(liars.back(), at(1s));
  }
  std::size_t asked = 0;
  bool asked_old = false;
  auto calls = of<dht_call>(client.refresh(at(1min)));
  while (!calls.empty()) {
    const auto call = calls.back();
    calls.pop_back();
    const auto request = std::get<find_nodes>(call.content);
    ++asked;
    if (call.to == old && request.target == point_of(node(1).id))
      asked_old = true;
    for (auto& more : of<dht_call>(client.read(
             call.to.id, nodes_found{request.token, liars}, at(1min))))
      calls.push_back(more);
  }
  CHECK(asked_old);
  CHECK(asked <= 3 * lookup::max_asked);
}

TEST_CASE("who answers slowly on purpose delays a publication by a second") {
  scene x{14};
  // The five closest to the key are silent, and so is whom they name.
  std::vector<contact> nodes;
  for (std::uint8_t i = 2; i < 16; ++i)
    nodes.push_back(node(i));
  std::sort(nodes.begin(), nodes.end(),
            [&](auto& a, auto& b) { return closer(x.key, a.id, b.id); });
  std::set<peer_id> slow;
  for (std::size_t i = 0; i < 5; ++i)
    slow.insert(nodes[i].id);
  std::size_t stored = 0;
  const std::function<void(dht_actions, duration)> play
      = [&](dht_actions xs, duration now) {
          for (auto& call : of<dht_call>(xs)) {
            stored += std::holds_alternative<store_records>(call.content);
            const auto request = std::get_if<find_nodes>(&call.content);
            if (request != nullptr && slow.count(call.to.id) == 0)
              play(x.client.read(call.to.id, nodes_found{request->token, {}},
                                 at(now)),
                   now);
          }
        };
  play(x.client.publish(x.own(), 8, at(0s)), 0s);
  CHECK(stored == 0); // The three closest are waited for.
  play(x.client.look(at(1001ms)), 1001ms);
  CHECK(stored == 8);
}

TEST_CASE("a look-up ends in time, however many nodes take long one by one") {
  scene x{1};
  auto calls = of<dht_call>(x.client.look_up(5, {x.key, {}, 0}, at(0s)));
  duration now{0};
  bool over = false;
  for (std::size_t i = 0; i < lookup::max_asked && !over; ++i) {
    REQUIRE(calls.size() == 1);
    for (int looks = 0; looks < 3 && !over; ++looks) {
      now += 500ms;
      over = !of<lookup_over>(x.client.look(at(now))).empty();
    }
    if (over)
      break;
    now += 400ms;
    // It names one that is closer still.
    contact more = node(30);
    more.id.bytes = x.key.bytes;
    more.id.bytes[4 + i / 8] ^= static_cast<std::uint8_t>(0x80u >> i % 8);
    records_found answer;
    answer.token = std::get<find_records>(calls[0].content).token;
    answer.nodes = {more};
    calls = of<dht_call>(x.client.read(calls[0].to.id, answer, at(now)));
  }
  CHECK(over);
  CHECK(now >= limits::lookup_patience);
  CHECK(now <= limits::lookup_patience + 500ms);
}
