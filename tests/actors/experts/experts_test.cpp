/// Whole peers that host experts, and call them, in virtual time.

#include <doctest/doctest.h>

#include <cmath>

#include "actors/experts/expert_client.hpp"
#include "messages/limits.hpp"
#include "runtime/experts/hosted_experts.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/arithmetic_expert.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t hidden = 3;

std::vector<expert_uid> uids(const std::string& pattern) {
  return *experts_of_pattern(pattern, {4, 4});
}

/// A bootstrap peer (1), and peers with experts or callers around it.
struct kitchen {
  kitchen() {
    auto c = tiny_peer(world.network, 1, {}, 0);
    c.role = role::bootstrap;
    c.run.clear();
    add(1, c);
  }

  peer_config config(std::uint8_t number) {
    auto c = tiny_peer(world.network, number, {1}, 0);
    c.role = role::expert;
    return c;
  }
  void add(std::uint8_t number, peer_config c) {
    peers[number] = std::make_unique<whole_peer>(world, std::move(c));
  }
  expert_hosting hosting(const std::string& pattern) {
    expert_hosting h;
    h.kind.hidden = hidden;
    h.uids = uids(pattern);
    h.make = arithmetic_factory(diary);
    h.shelves.own = shelf;
    h.save_every = 2;
    return h;
  }
  void host(std::uint8_t number, expert_hosting h) {
    auto c = config(number);
    c.experts = std::move(h);
    add(number, c);
  }
  void host(std::uint8_t number, const std::string& pattern) {
    host(number, hosting(pattern));
  }
  void caller(std::uint8_t number) {
    auto c = config(number);
    clients[number] = std::make_shared<expert_client>(worker_mode::immediate);
    c.expert_calls = clients[number]->line();
    add(number, c);
  }

  /// The reply to come; null until then.
  using reply = std::shared_ptr<std::optional<expected<expert_reply>>>;
  reply call(std::uint8_t from, const std::string& uid, expert_pass pass,
             std::vector<float> values, std::uint32_t samples = 1,
             std::chrono::milliseconds patience = 30s,
             packing how = packing::float32) {
    expert_call x;
    x.packing = how;
    x.uid = uid;
    x.pass = pass;
    x.samples = samples;
    x.values
        = std::make_shared<const float_array>(values.begin(), values.end());
    x.patience = patience;
    auto answer = std::make_shared<std::optional<expected<expert_reply>>>();
    clients.at(from)->call(x, [answer](expected<expert_reply> y) {
      REQUIRE(!*answer); // Exactly once.
      *answer = std::move(y);
    });
    return answer;
  }
  reply forward(std::uint8_t from, const std::string& uid,
                std::vector<float> values, std::uint32_t samples = 1,
                std::chrono::milliseconds patience = 30s) {
    return call(from, uid, expert_pass::forward, std::move(values), samples,
                patience);
  }
  bool await(const reply& x, duration patience = 10s) {
    return world.run_until([&] { return x->has_value(); }, patience);
  }
  expert_reply good(const reply& x) {
    REQUIRE(await(x));
    REQUIRE_MESSAGE(**x, (*x)->error());
    return ***x;
  }
  std::string bad(const reply& x, duration patience = 10s) {
    REQUIRE(await(x, patience));
    REQUIRE(!**x);
    return (*x)->error();
  }
  expected<std::vector<std::uint32_t>> alive(std::uint8_t from,
                                             const std::string& prefix) {
    std::optional<expected<std::vector<std::uint32_t>>> found;
    clients.at(from)->look_up(
        prefix, [&](expected<std::vector<std::uint32_t>> x) { found = x; });
    REQUIRE(world.run_until([&] { return found.has_value(); }, 30s));
    return *found;
  }
  /// Until hosts have published what they have.
  void settle() {
    world.run_for(5s);
  }
  std::size_t faults(std::uint8_t number) {
    return peers.at(number)->observer->events("fault").size();
  }

  test_world world;
  std::shared_ptr<expert_diary> diary = std::make_shared<expert_diary>();
  std::shared_ptr<expert_shelf> shelf = std::make_shared<expert_shelf>();
  std::map<std::uint8_t, std::shared_ptr<expert_client>> clients;
  std::map<std::uint8_t, std::unique_ptr<whole_peer>> peers;
};

bool says(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("experts of two hosts are found, called and taught") {
  kitchen k;
  k.host(2, "ffn.0-1.*");
  k.host(3, "ffn.3.1-2");
  k.caller(4);
  k.settle();
  CHECK(*k.alive(4, "ffn") == std::vector<std::uint32_t>{0, 1, 3});
  CHECK(*k.alive(4, "ffn.3") == std::vector<std::uint32_t>{1, 2});
  CHECK(k.alive(4, "ffn.2")->empty());

  auto x = k.good(k.forward(4, "ffn.0.3", {1, 2, 3, 4, 5, 6}, 2));
  CHECK(x.values == float_array{1, 2, 3, 4, 5, 6});
  CHECK(x.version == 0);
  // Inputs and then gradients; each pass is an update.
  auto taught
      = k.good(k.call(4, "ffn.3.2", expert_pass::backward, {1, 1, 1, 7, 8, 9}));
  CHECK(taught.values == float_array{7, 8, 9});
  CHECK(taught.version == 0);
  x = k.good(k.forward(4, "ffn.3.2", {1, 2, 3}));
  CHECK(x.values == float_array{2, 4, 6});
  CHECK(x.version == 1);
  CHECK(k.good(k.forward(4, "ffn.3.1", {1, 2, 3})).version == 0);
}

TEST_CASE("calls travel packed as they were told, there and back") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  auto error = [](float x, float y) { return std::fabs(x - y); };
  struct way {
    packing how;
    const char* uid;
    float most;
  };
  for (auto x : {way{packing::float16, "ffn.0.1", 2e-3f},
                 way{packing::bfloat16, "ffn.0.2", 2e-2f},
                 way{packing::int8, "ffn.0.3", 2e-2f}}) {
    CAPTURE(x.uid);
    const float_array sent{0.7f, -1.9f, 0.3f};
    auto y = k.good(k.call(4, x.uid, expert_pass::forward, {0.7f, -1.9f, 0.3f},
                           1, 30s, x.how));
    REQUIRE(y.values.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(error(y.values[i], sent[i]) <= x.most);
    CHECK(y.values != sent); // It was not float32 all the way.
    // The inputs' scale is not the gradients'.
    auto taught = k.good(k.call(4, x.uid, expert_pass::backward,
                                {1, 2, 3, 7e-7f, 8e-7f, 9e-7f}, 1, 30s, x.how));
    REQUIRE(taught.values.size() == 3);
    CHECK(error(taught.values[0], 7e-7f) <= 7e-7f * x.most);
  }
  CHECK(k.diary->entries().size() == 6);
  CHECK(says(k.bad(k.call(4, "ffn.0.1", expert_pass::forward, {1, 2, 3}, 1, 30s,
                          packing(4))),
             "packing"));
}

TEST_CASE("what nobody hosts, or takes otherwise, fails with a sentence") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  CHECK(says(k.bad(k.forward(4, "ffn.1.1", {1, 2, 3})), "Nobody hosts"));
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, 2})), "other samples"));
  CHECK(says(k.bad(k.forward(4, "FFN", {1, 2, 3})), "name of a layer"));
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, NAN, 3})), "not finite"));
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, 2, 3}, 2)), "as many"));
  CHECK(k.diary->entries().empty());
  expert_client alone{worker_mode::immediate};
  bool told = false;
  expert_call x;
  alone.call(x, [&](expected<expert_reply> y) { told = !y; });
  CHECK(told);
}

TEST_CASE("the loss of a host fails its calls at once, and it is left alone "
          "until it is back") {
  kitchen k;
  auto slow = k.hosting("ffn.0.*");
  slow.batch_time = [](std::uint32_t) { return 20s; };
  k.host(2, slow);
  k.host(3, "ffn.1.*");
  k.caller(4);
  k.settle();
  auto lost = k.forward(4, "ffn.0.1", {1, 2, 3}, 1, 60s);
  k.world.run_for(1s);
  REQUIRE(!lost->has_value());
  k.world.network.cut(host(2), host(4));
  CHECK(says(k.bad(lost, 500ms), "gone"));
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, 2, 3}), 100ms),
             "failed a moment ago"));
  // The other host's are not touched.
  CHECK(k.good(k.forward(4, "ffn.1.1", {1, 2, 3})).values.size() == 3);
  k.world.network.heal(host(2), host(4));
  k.world.run_for(3s);
  auto again = k.forward(4, "ffn.0.1", {1, 2, 3}, 1, 60s);
  REQUIRE(k.await(again, 60s));
  CHECK(**again);
}

TEST_CASE("a host that never answers costs a call its patience") {
  kitchen k;
  auto slow = k.hosting("ffn.0.*");
  slow.batch_time = [](std::uint32_t) { return 20s; };
  k.host(2, slow);
  k.caller(4);
  k.settle();
  auto x = k.forward(4, "ffn.0.1", {1, 2, 3}, 1, 2s);
  k.world.run_for(1900ms);
  CHECK(!x->has_value());
  CHECK(says(k.bad(x, 200ms), "in time"));
}

TEST_CASE("calls of two callers are one batch of the module") {
  kitchen k;
  auto patient = k.hosting("ffn.0.*");
  patient.bounds.pool.least_samples = 3;
  patient.bounds.pool.linger = 1s;
  k.host(2, patient);
  k.caller(4);
  k.caller(5);
  k.settle();
  auto a = k.forward(4, "ffn.0.1", {1, 2, 3});
  k.world.run_for(300ms);
  CHECK(!a->has_value());
  auto b = k.forward(5, "ffn.0.1", {4, 5, 6, 7, 8, 9}, 2);
  CHECK(k.good(a).values == float_array{1, 2, 3});
  CHECK(k.good(b).values == float_array{4, 5, 6, 7, 8, 9});
  auto entries = k.diary->entries();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].samples == 3);
  // Alone it waits no longer than the host may linger.
  auto c = k.forward(4, "ffn.0.1", {1, 2, 3});
  k.world.run_for(1500ms);
  CHECK(c->has_value());
}

TEST_CASE("a caller that floods a host is refused, and another one is served") {
  kitchen k;
  auto slow = k.hosting("ffn.0.*");
  slow.bounds.pool.most_samples = 4;
  slow.bounds.pool.waiting_samples = 1000;
  slow.bounds.pool.waiting_calls = 1000;
  slow.bounds.calls_of_a_caller = 10;
  slow.batch_time = [](std::uint32_t) { return 200ms; };
  k.host(2, slow);
  k.caller(4);
  k.caller(5);
  k.settle();
  // Connections and look-ups first.
  k.good(k.forward(4, "ffn.0.1", {1, 2, 3}));
  k.good(k.forward(5, "ffn.0.1", {1, 2, 3}));
  std::vector<kitchen::reply> flood;
  for (int i = 0; i < 200; ++i)
    flood.push_back(k.forward(4, "ffn.0.1", {1, 2, 3}));
  k.world.run_for(100ms);
  auto other = k.forward(5, "ffn.0.1", {1, 2, 3});
  // At most one batch that runs and three of the flood before it.
  REQUIRE(k.await(other, 1s));
  CHECK(**other);
  k.world.run_for(5s);
  std::size_t served = 0;
  std::size_t refused = 0;
  for (auto& x : flood) {
    REQUIRE(x->has_value());
    served += bool(**x);
    refused += !**x && says((*x)->error(), "too many");
  }
  CHECK(served + refused == flood.size());
  CHECK(served >= 10);
  CHECK(served <= 15);
}

TEST_CASE("an expert that throws costs its batch, goes back to what was saved, "
          "and the others go on") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  std::vector<float> lesson{1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 3; ++i) // Saved every 2.
    k.good(k.call(4, "ffn.0.1", expert_pass::backward, lesson));
  k.good(k.call(4, "ffn.0.2", expert_pass::backward, lesson));
  CHECK(k.good(k.forward(4, "ffn.0.1", {1, 1, 1})).version == 3);
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {input_that_throws, 1, 1})),
             "out of memory"));
  CHECK(k.faults(2) == 1);
  CHECK(k.good(k.forward(4, "ffn.0.1", {1, 1, 1})).version == 2);
  CHECK(k.good(k.forward(4, "ffn.0.2", {1, 1, 1})).version == 1);
  CHECK(k.peers[2]->children.starts("ffn.0.1") == 2);
  CHECK(k.peers[2]->children.starts("ffn.0.2") == 1);
  CHECK(k.peers[2]->children.starts("expert_host") == 1);
}

TEST_CASE("an expert that throws again and again is given up, the others go "
          "on") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  for (std::size_t i = 0; i <= limits::expert_restarts; ++i)
    k.bad(k.forward(4, "ffn.0.1", {input_that_throws, 1, 1}));
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, 1, 1})), "no such expert"));
  CHECK(k.good(k.forward(4, "ffn.0.2", {1, 1, 1})).version == 0);
  // Its record dies, and nobody announces it any more.
  k.world.run_for(125s);
  CHECK(*k.alive(4, "ffn.0") == std::vector<std::uint32_t>{0, 2, 3});
}

TEST_CASE("values that are not finite are never sent") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  CHECK(says(k.bad(k.forward(4, "ffn.0.1", {1, input_that_overflows, 1})),
             "not finite"));
  CHECK(k.good(k.forward(4, "ffn.0.1", {1, 1, 1})).version == 0);
  CHECK(k.faults(2) == 0);
}

TEST_CASE("a call whose gradient is infinite fails alone in its batch") {
  kitchen k;
  auto patient = k.hosting("ffn.0.*");
  patient.bounds.pool.least_samples = 2;
  patient.bounds.pool.linger = 1s;
  k.host(2, patient);
  k.caller(4);
  k.caller(5);
  k.settle();
  auto bad = k.call(4, "ffn.0.1", expert_pass::backward,
                    {1, input_that_overflows, 1, 1, 1, 1});
  auto good = k.call(5, "ffn.0.1", expert_pass::backward, {1, 1, 1, 7, 8, 9});
  CHECK(says(k.bad(bad), "not finite"));
  CHECK(k.good(good).values == float_array{7, 8, 9});
  CHECK(says(k.bad(k.call(4, "ffn.0.1", expert_pass::backward,
                          {1, input_that_overflows, 1, 1, 1, 1})),
             "not finite"));
  CHECK(k.good(k.forward(4, "ffn.0.1", {1, 1, 1})).version == 1);
  CHECK(k.faults(2) == 0);
}

TEST_CASE("a killed expert, host or caller is started again") {
  kitchen k;
  k.host(2, "ffn.0.*");
  k.caller(4);
  k.settle();
  std::vector<float> lesson{1, 1, 1, 1, 1, 1};
  for (int i = 0; i < 2; ++i)
    k.good(k.call(4, "ffn.0.1", expert_pass::backward, lesson));
  for (auto victim : {"ffn.0.1", "expert_host"}) {
    CAPTURE(victim);
    k.peers[2]->children.kill(victim);
    k.world.run_for(1s);
    auto x = k.forward(4, "ffn.0.1", {1, 1, 1});
    CHECK(k.good(x).version == 2);
  }
  auto slow = k.forward(4, "ffn.0.3", {1, 1, 1});
  k.peers[4]->children.kill("expert_caller");
  REQUIRE(k.await(slow, 1s)); // An answer or a failure, but one of them.
  k.world.run_for(1s);
  CHECK(k.good(k.forward(4, "ffn.0.3", {1, 1, 1})).values.size() == 3);
}

TEST_CASE("a leaving host saves what its experts have learnt") {
  kitchen k;
  auto rarely = k.hosting("ffn.0.*");
  rarely.save_every = 1000;
  k.host(2, rarely);
  k.caller(4);
  k.settle();
  for (int i = 0; i < 5; ++i)
    k.good(k.call(4, "ffn.0.1", expert_pass::backward, {1, 1, 1, 1, 1, 1}));
  CHECK(k.shelf->get("ffn.0.1")->version == 0);
  k.peers[2]->leave();
  k.world.run_for(2s);
  CHECK(k.peers[2]->running() == 0);
  auto later = arithmetic_expert{hidden, "ffn.0.1", k.diary};
  later.load(k.shelf->get("ffn.0.1")->bytes);
  CHECK(later.updates() == 5);
  // And another host goes on from there.
  k.host(3, "ffn.0.*");
  k.world.run_for(10s);
  CHECK(k.good(k.forward(4, "ffn.0.1", {1, 1, 1})).version == 5);
}

TEST_CASE("a peer may call the experts that it hosts itself") {
  kitchen k;
  auto c = k.config(2);
  c.experts = k.hosting("ffn.0.*");
  k.clients[2] = std::make_shared<expert_client>(worker_mode::immediate);
  c.expert_calls = k.clients[2]->line();
  k.add(2, c);
  k.settle();
  CHECK(k.good(k.forward(2, "ffn.0.1", {1, 2, 3})).values
        == float_array{1, 2, 3});
}

TEST_CASE("trainers and hosts of experts share a network without mixing") {
  kitchen k;
  k.host(2, "ffn.0.*");
  auto c = tiny_peer(k.world.network, 6, {1, 2}, 3);
  k.clients[6] = std::make_shared<expert_client>(worker_mode::immediate);
  c.expert_calls = k.clients[6]->line();
  k.add(6, c);
  REQUIRE(k.world.run_until([&] { return k.peers[6]->finished(); }, 120s));
  CHECK(k.faults(6) == 0);
  CHECK(k.good(k.forward(6, "ffn.0.1", {1, 2, 3})).values.size() == 3);
}

namespace {

/// Three hosts, or two, of which the first has experts, and a caller.
struct shared_kitchen : kitchen {
  explicit shared_kitchen(std::uint8_t last = 4) {
    for (std::uint8_t i = 2; i <= last; ++i) {
      auto h = hosting("ffn.0.*");
      h.shelves = shelves[i];
      h.spare = 8;
      if (i != 2)
        h.uids = uids("other." + std::to_string(i - 2) + ".0");
      host(i, h);
    }
    caller(5);
    // Until replicas lie at the other two.
    REQUIRE(world.run_until(
        [&] {
          for (std::uint8_t i = 3; i <= last; ++i)
            if (shelves[i].replicas->uids().size() != last + 1u)
              return false;
          return true;
        },
        60s));
  }

  void teach(const std::string& uid, int times) {
    for (int i = 0; i < times; ++i)
      good(call(5, uid, expert_pass::backward, {1, 1, 1, 1, 1, 1}));
  }
  /// The first host is cut off from everybody.
  void vanish() {
    for (std::uint8_t i : {1, 3, 4, 5})
      world.network.cut(::host(2), ::host(i));
  }
  void come_back() {
    for (std::uint8_t i : {1, 3, 4, 5})
      world.network.heal(::host(2), ::host(i));
  }
  /// Until a call of it is answered.
  std::optional<std::uint64_t> version(const std::string& uid,
                                       duration patience) {
    std::optional<std::uint64_t> result;
    world.run_until(
        [&] {
          auto x = forward(5, uid, {1, 1, 1}, 1, 2s);
          if (await(x, 3s) && **x)
            result = (***x).version;
          else
            world.run_for(500ms);
          return result.has_value();
        },
        patience);
    return result;
  }
  std::size_t moved(std::uint8_t number, const std::string& what) {
    std::size_t n = 0;
    for (auto& e : peers.at(number)->observer->events("expert_moved"))
      n += field<std::string>(e, "what") == what;
    return n;
  }

  std::map<std::uint8_t, expert_shelves> shelves;
};

} // namespace

TEST_CASE("when a host vanishes, its experts are back within thirty seconds, "
          "no more than a save behind") {
  shared_kitchen k;
  k.teach("ffn.0.1", 5); // Saved every 2.
  k.teach("ffn.0.2", 4);
  k.world.run_for(2s);
  k.vanish();
  auto began = k.world.now();
  for (auto uid : {"ffn.0.0", "ffn.0.1", "ffn.0.2", "ffn.0.3"}) {
    CAPTURE(uid);
    auto version = k.version(uid, 30s);
    REQUIRE(version.has_value());
    if (uid == std::string{"ffn.0.1"})
      CHECK(*version == 4);
    if (uid == std::string{"ffn.0.2"})
      CHECK(*version == 4);
  }
  CHECK(k.world.now() - began <= 30s);
  CHECK(k.moved(3, "took over") + k.moved(4, "took over") == 4);
  // Each in one place, and with a replica at the other.
  k.world.run_for(60s);
  CHECK(k.shelves[3].adopted->uids().size()
            + k.shelves[4].adopted->uids().size()
        == 4);
  CHECK(k.shelves[3].replicas->uids().size()
            + k.shelves[4].replicas->uids().size()
        == 6);
  // The lost host comes back and sees that they are no longer its own.
  k.come_back();
  REQUIRE(
      k.world.run_until([&] { return k.moved(2, "gave way with") == 4; }, 90s));
  CHECK(k.version("ffn.0.1", 15s) == 4);
  CHECK(k.moved(3, "gave way with") + k.moved(4, "gave way with") == 0);
}

TEST_CASE("a host that leaves hands its experts over and loses nothing") {
  shared_kitchen k;
  k.teach("ffn.0.1", 5);
  k.teach("ffn.0.3", 3);
  k.peers[2]->leave();
  REQUIRE(k.world.run_until([&] { return k.peers[2]->running() == 0; }, 15s));
  // Others serve already.
  CHECK(k.moved(3, "took over") + k.moved(4, "took over") == 4);
  CHECK(k.version("ffn.0.1", 15s) == 5);
  CHECK(k.version("ffn.0.3", 15s) == 3);
  CHECK(k.version("ffn.0.0", 15s) == 0);
}

TEST_CASE(
    "a host loses nothing if it leaves while the replica of its last save "
    "is under way") {
  for (auto after = 0ms; after < 400ms; after += 20ms) {
    CAPTURE(after.count());
    shared_kitchen k{3}; // One that may take them.
    k.world.network.delay(host(2), host(3), 30ms);
    k.teach("ffn.0.1", 5); // Saved at the fourth.
    k.world.run_for(after);
    k.peers[2]->leave();
    REQUIRE(k.world.run_until([&] { return k.peers[2]->running() == 0; }, 15s));
    CHECK(k.moved(3, "took over") == 4);
    CHECK(k.version("ffn.0.1", 15s) == 5);
  }
}

TEST_CASE("of two hosts that come to train one expert, one gives way within a "
          "renewal") {
  kitchen k;
  for (std::uint8_t i : {2, 3}) {
    auto h = k.hosting("ffn.0.0-1");
    h.shelves = {};
    k.host(i, h);
  }
  k.caller(5);
  auto given = [&](std::uint8_t i) {
    return k.peers[i]->observer->events("expert_moved").size();
  };
  REQUIRE(k.world.run_until([&] { return given(2) + given(3) >= 2; }, 45s));
  k.world.run_for(45s);
  // Both agree whose it is: the higher id's.
  CHECK(given(2) + given(3) == 2);
  CHECK((given(2) == 0 || given(3) == 0));
  CHECK(k.good(k.forward(5, "ffn.0.0", {1, 1, 1})).version == 0);
}

TEST_CASE("an owner that lives keeps its experts") {
  shared_kitchen k;
  // From one guard's sight alone: the DHT still says that it lives.
  k.world.network.cut(host(2), host(3));
  k.world.run_for(90s);
  CHECK(k.moved(3, "took over") + k.moved(4, "took over") == 0);
  CHECK(k.moved(2, "gave way with") == 0);
  CHECK(k.version("ffn.0.2", 5s) == 0);
}
