#include "tools/lab/network/sim_network.hpp"

#include <doctest/doctest.h>

#include <map>

#include "runtime/strangers/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint16_t port = 7;
/// Head and overhead of every frame here, as `sim_streams` counts it.
constexpr std::size_t small_frame = 10 + 60;

/// Notes what a transport hears, and when.
struct ear : transport_listener {
  explicit ear(const duration& clock) : now{clock} {
  }
  void on_accepted(connection_id id, const address&,
                   const peer_id& who) override {
    caller = who;
    accepted = id;
    accepted_at = now;
  }
  void on_connected(connection_id, const address&,
                    const peer_id& who) override {
    answerer = who;
    connected_at = now;
  }
  void on_frame(connection_id, incoming_frame x) override {
    frames.emplace_back(now, x.head[0]);
    bodies.push_back(x.body.size);
  }
  void on_closed(connection_id, const std::string& why) override {
    closed_at = now;
    reason = why;
  }
  const duration& now;
  connection_id accepted = 0;
  peer_id caller, answerer;
  std::optional<duration> accepted_at, connected_at, closed_at;
  std::vector<std::pair<duration, int>> frames;
  std::vector<std::size_t> bodies;
  std::string reason;
};

struct two_hosts {
  explicit two_hosts(access_line x = {}, std::uint64_t seed = 1)
      : net{seed}, a{net.make_transport("a")}, b{net.make_transport("b")} {
    net.set_line("a", x);
    net.set_line("b", x);
    a->start(at_a);
    b->start(at_b);
    REQUIRE(b->listen({"b", port}));
  }
  /// Moves from call-back to call-back, so that ears see the exact moment.
  void until(duration end) {
    for (auto next = net.next(); next && *next <= end; next = net.next()) {
      now = std::max(now, *next);
      net.run_until(now);
    }
    now = end;
    net.run_until(now);
  }
  void connect() {
    id = a->dial({"b", port});
    until(now + 1s);
    REQUIRE(at_a->connected_at);
  }
  void send(int number, std::size_t body = 0) {
    std::vector<std::uint8_t> head(10, static_cast<std::uint8_t>(number));
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(body, 1);
    a->send(id, {head, {bytes, bytes->data(), body}});
  }

  duration now{0};
  sim_network net;
  std::shared_ptr<ear> at_a = std::make_shared<ear>(now);
  std::shared_ptr<ear> at_b = std::make_shared<ear>(now);
  std::unique_ptr<transport> a, b;
  connection_id id = 0;
};

access_line delayed(duration delay) {
  access_line x;
  x.delay = delay;
  return x;
}

} // namespace

TEST_CASE("a dial takes both delays there, and both back") {
  two_hosts x{delayed(20ms)};
  x.connect();
  CHECK(x.at_b->accepted_at == duration{40ms});
  CHECK(x.at_a->connected_at == duration{80ms});
  CHECK(x.net.open_connections() == 1);
}

TEST_CASE(
    "a frame takes its size by the uplink, the delays, and the downlink") {
  auto line = delayed(20ms);
  line.upload = 1000;
  line.download = 7000;
  two_hosts x{line};
  x.connect();
  x.send(1);
  x.send(2);
  x.until(10s);
  REQUIRE(x.at_b->frames.size() == 2);
  // 70 bytes: 70 ms up, 40 ms across, 10 ms down; the second waits 70 ms more.
  static_assert(small_frame == 70);
  CHECK(x.at_b->frames[0] == std::make_pair(duration{1s + 120ms}, 1));
  CHECK(x.at_b->frames[1] == std::make_pair(duration{1s + 190ms}, 2));
}

TEST_CASE("a short frame waits for a moment behind others' at a downlink") {
  two_hosts x{delayed(20ms)};
  auto slow = delayed(20ms);
  slow.download = 1000;
  x.net.set_line("b", slow);
  x.net.set_line("c", delayed(20ms));
  auto c = x.net.make_transport("c");
  auto at_c = std::make_shared<ear>(x.now);
  c->start(at_c);
  auto line = c->dial({"b", port});
  x.connect();
  auto send = [&](std::uint8_t number, std::size_t body) {
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(body, 1);
    c->send(line, {std::vector<std::uint8_t>(10, number),
                   {bytes, bytes->data(), body}});
  };
  for (std::uint8_t i = 1; i <= 5; ++i)
    send(i, 1000 - small_frame); // A second each.
  x.send(6);
  send(7, 0);
  x.until(10s);
  REQUIRE(x.at_b->frames.size() == 7);
  CHECK(x.at_b->frames[0] == std::make_pair(duration{1s + 360ms}, 6));
  CHECK(x.at_b->frames[1] == std::make_pair(duration{2s + 40ms}, 1));
  // Nothing passes what its own connection carries.
  CHECK(x.at_b->frames[6] == std::make_pair(duration{6s + 110ms}, 7));
}

TEST_CASE("a lost packet costs a retransmission, and what is behind it waits") {
  auto line = delayed(20ms);
  line.loss_up = line.loss_down = 0.9999;
  two_hosts x{line};
  x.connect();
  x.send(1);
  x.net.set_line("a", delayed(20ms));
  x.net.set_line("b", delayed(20ms));
  x.send(2);
  x.until(10s);
  REQUIRE(x.at_b->frames.size() == 2);
  CHECK(x.at_b->frames[0] == std::make_pair(duration{1s + 240ms}, 1));
  CHECK(x.at_b->frames[1] == std::make_pair(duration{1s + 240ms}, 2));
  CHECK(x.net.totals().lost == 1);
}

TEST_CASE("jitter never lets one frame overtake another; reordering does") {
  auto line = delayed(1ms);
  line.jitter = 50ms;
  for (bool reorders : {false, true}) {
    CAPTURE(reorders);
    line.reorder = reorders ? 0.5 : 0;
    two_hosts x{line};
    x.connect();
    for (int i = 0; i < 50; ++i)
      x.send(i);
    x.until(10s);
    REQUIRE(x.at_b->frames.size() == 50);
    bool sorted = true;
    for (int i = 0; i < 50; ++i)
      sorted = sorted && x.at_b->frames[i].second == i;
    CHECK(sorted != reorders);
  }
}

TEST_CASE("a broken box on the way duplicates frames") {
  access_line line;
  line.duplicate = 1;
  two_hosts x{line};
  x.connect();
  x.send(1);
  x.until(2s);
  CHECK(x.at_b->frames.size() == 2);
  CHECK(x.net.totals().duplicated == 1);
}

TEST_CASE("connections prove to each end who is at the other") {
  duration now{0};
  sim_network net{1};
  peer_id one, other;
  one.bytes[0] = 1;
  other.bytes[0] = 2;
  auto a = net.make_transport("a", one), b = net.make_transport("b", other);
  auto at_a = std::make_shared<ear>(now), at_b = std::make_shared<ear>(now);
  a->start(at_a);
  b->start(at_b);
  REQUIRE(b->listen({"b", port}));
  a->dial({"b", port});
  net.run_until(std::chrono::seconds{1});
  CHECK(at_b->caller == one);
  CHECK(at_a->answerer == other);
}

TEST_CASE("a corrupt frame breaks its connection where it arrives") {
  for (std::size_t body : {0, 1000}) {
    two_hosts x{delayed(20ms)};
    x.connect();
    x.send(1, body);
    auto noisy = delayed(20ms);
    noisy.corrupt = 1;
    x.net.set_line("b", noisy);
    x.send(2, body);
    x.net.set_line("b", delayed(20ms));
    x.send(3, body);
    x.until(2s);
    CHECK(x.at_b->frames.size() == 1);
    CHECK(x.net.totals().corrupted == 1);
    CHECK(x.at_b->reason.find("corrupt frame") == 0);
    CHECK(x.at_b->closed_at == duration{1s + 40ms});
    CHECK(x.at_a->closed_at == duration{1s + 80ms});
    CHECK(x.net.open_connections() == 0);
    x.connect();
    x.send(4, body);
    x.until(4s);
    CHECK(x.at_b->frames.size() == 2);
  }
}

TEST_CASE("a partition holds frames until it is over, and dials time out") {
  two_hosts x{delayed(20ms)};
  x.connect();
  auto partition = x.net.part({"a"});
  x.send(1);
  auto late = x.a->dial({"b", port});
  CHECK(late != x.id);
  x.until(20s);
  CHECK(x.at_b->frames.empty());
  CHECK(x.at_a->closed_at == duration{1s + 40ms + 10s});
  x.net.reunite(partition);
  x.until(30s);
  REQUIRE(x.at_b->frames.size() == 1);
  CHECK(x.at_b->frames[0].first == 20s + 200ms);
}

TEST_CASE("what arrives at a frozen or deaf machine waits for it") {
  for (bool frozen : {true, false}) {
    CAPTURE(frozen);
    two_hosts x{delayed(20ms)};
    x.connect();
    auto deaf = delayed(20ms);
    deaf.deaf = true;
    frozen ? x.net.freeze("b", true) : x.net.set_line("b", deaf);
    x.send(1);
    x.until(5s);
    CHECK(x.at_b->frames.empty());
    frozen ? x.net.freeze("b", false) : x.net.set_line("b", delayed(20ms));
    x.until(6s);
    CHECK(x.at_b->frames.size() == 1);
  }
}

TEST_CASE("a crash resets the other side's connection; a silent one does not") {
  for (bool silent : {false, true}) {
    CAPTURE(silent);
    two_hosts x{delayed(20ms)};
    x.connect();
    x.net.crash("b", silent);
    x.until(60s);
    CHECK(x.at_a->closed_at.has_value() != silent);
    CHECK_FALSE(x.at_b->closed_at);
  }
}

TEST_CASE("a cut breaks both sides, and both can be dialled again") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.cut("a");
  x.until(2s);
  CHECK(x.at_a->closed_at);
  CHECK(x.at_b->closed_at);
  CHECK(x.net.open_connections() == 0);
  x.connect();
  CHECK(x.net.open_connections() == 1);
}

TEST_CASE("who is estranged from each other is neither connected nor dialled") {
  two_hosts x{delayed(20ms)};
  x.connect();
  auto number = x.net.estrange({"a", "b"});
  x.until(2s);
  CHECK(x.at_a->reason == "the line broke");
  CHECK(x.at_b->closed_at);
  x.a->dial({"b", port});
  x.until(20s);
  CHECK(x.at_a->reason == "the connection attempt timed out");
  x.net.reconcile(number);
  x.connect();
  CHECK(x.net.open_connections() == 1);
}

TEST_CASE("an estrangement leaves connections with others alone") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.estrange({"a", "c"});
  x.until(2s);
  CHECK(x.net.open_connections() == 1);
}

TEST_CASE(
    "a dial to a port where nobody listens is refused after a round trip") {
  two_hosts x{delayed(20ms)};
  x.a->dial({"b", port + 1});
  x.until(1s);
  CHECK(x.at_a->closed_at == duration{80ms});
  CHECK(x.at_a->reason == "connection refused");
}

TEST_CASE("a dial to a host that nobody has named ends after a while") {
  two_hosts x{delayed(20ms)};
  x.a->dial({"c", port});
  x.until(1min);
  CHECK(x.at_a->reason == "the connection attempt timed out");
  CHECK(x.net.number_of("c") == 2); // It took no number.
}

// ---- turns -----------------------------------------------------------------

/// The order in which `two_hosts` names them.
constexpr sim_network::host_number on_a = 0;
constexpr sim_network::host_number on_b = 1;

TEST_CASE("hosts are numbered in the order in which they are named") {
  two_hosts x{delayed(20ms)};
  CHECK(x.net.number_of("a") == on_a);
  CHECK(x.net.number_of("b") == on_b);
}

TEST_CASE("what arrives waits for its host's turn") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.take_turns();
  x.send(1);
  x.until(x.now + 100ms);
  CHECK(x.at_b->frames.empty());
  REQUIRE(x.net.at(on_b).mail());
  CHECK_FALSE(x.net.at(on_a).mail());
  auto due = *x.net.at(on_b).mail();
  x.net.at(on_b).begin_turn(x.now);
  x.net.at(on_b).deliver(due - 1ns);
  CHECK(x.at_b->frames.empty());
  x.net.at(on_b).deliver(due);
  x.net.at(on_b).end_turn();
  REQUIRE(x.at_b->frames.size() == 1);
  CHECK_FALSE(x.net.at(on_b).mail());
}

TEST_CASE("what hosts do in their turns counts by its time, then by the list") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.take_turns();
  x.net.run_until(x.now);
  std::vector<int> done;
  std::vector<duration> clock;
  auto turn = [&](sim_network::host_number host, duration at, int what) {
    x.net.at(host).begin_turn(x.now);
    x.net.at(host).deliver(x.now + at);
    x.net.at(host).ask([&, what] { done.push_back(what); });
    x.net.at(host).end_turn();
  };
  turn(on_b, 2ms, 1);
  turn(on_a, 2ms, 2);
  turn(on_b, 5ms, 3);
  turn(on_a, 1ms, 4);
  CHECK(done.empty());
  x.net.settle({on_a, on_b}, [&](duration at) { clock.push_back(at - x.now); });
  CHECK(done == std::vector<int>{4, 2, 1, 3});
  CHECK(clock == std::vector<duration>{1ms, 2ms, 2ms, 5ms});
  x.net.at(on_a).ask([&] { done.push_back(5); });
  CHECK(done.back() == 5); // Between turns at once.
}

TEST_CASE("a frame that is sent in a turn leaves at that time") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.take_turns();
  x.net.run_until(x.now);
  CHECK(x.net.shortest_way() == duration{40ms});
  x.net.at(on_a).begin_turn(x.now);
  x.net.at(on_a).deliver(x.now + 7ms);
  x.send(1);
  CHECK_FALSE(x.net.next());
  x.net.at(on_a).end_turn();
  x.net.settle({on_a}, [](duration) {});
  CHECK(x.net.next() == x.now + 47ms);
}

TEST_CASE("who closes in its turn hears no more of that connection") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.take_turns();
  x.send(1);
  x.send(2);
  x.net.run_until(x.now + 50ms);
  x.net.at(on_b).begin_turn(x.now + 50ms);
  x.b->close(x.at_b->accepted, 0);
  x.net.at(on_b).deliver(x.now + 50ms);
  x.net.at(on_b).end_turn();
  CHECK(x.at_b->frames.empty());
  x.net.settle({on_b}, [](duration) {});
  x.net.run_until(x.now + 200ms);
  x.net.at(on_a).begin_turn(x.now + 200ms);
  x.net.at(on_a).deliver(x.now + 200ms);
  x.net.at(on_a).end_turn();
  CHECK(x.at_a->reason == "the other side closed");
  CHECK(x.net.open_connections() == 0);
}

TEST_CASE("a transport that stops in a turn frees its port in that turn") {
  two_hosts x{delayed(20ms)};
  x.connect();
  x.net.take_turns();
  x.net.at(on_b).begin_turn(x.now);
  x.b->stop();
  CHECK(x.at_b->reason == "stopped");
  auto another = x.net.make_transport("b");
  CHECK(another->listen({"b", port}));
  x.net.at(on_b).end_turn();
  x.net.settle({on_b}, [](duration) {});
  // The first one's end does not take the port away from the second.
  auto third = x.net.make_transport("b");
  CHECK_FALSE(third->listen({"b", port}));
}

TEST_CASE("a home with too many connections loses the oldest stranger's") {
  two_hosts x;
  x.connect();
  x.b->no_stranger(x.at_b->accepted);
  for (std::size_t i = 0; i < limits::strangers_of_a_home; ++i)
    x.a->dial({"b", port});
  x.until(x.now + 1s);
  CHECK(x.net.open_connections() == limits::strangers_of_a_home + 1);
  CHECK_FALSE(x.at_a->closed_at);
  x.a->dial({"b", port});
  x.until(x.now + 1s);
  CHECK(x.net.open_connections() == limits::strangers_of_a_home + 1);
  CHECK(x.at_a->reason == "the other side closed");
  CHECK(x.at_b->reason.find("too many strangers") != std::string::npos);
  x.send(1); // Of whom is none the line stays.
  x.until(x.now + 1s);
  CHECK(x.at_b->frames.size() == 1);
}

TEST_CASE("who lets too many answers wait is parted with") {
  access_line slow;
  slow.upload = 1000;
  two_hosts x;
  x.connect();
  x.net.set_line("b", slow);
  constexpr std::size_t letter = 60'000;
  const auto answer = [&] {
    x.b->send(x.at_b->accepted, {std::vector<std::uint8_t>(letter, 1), {}});
    x.until(x.now + 1ms);
  };
  for (std::size_t i = 0; i < limits::unread_answers_of_all / letter - 1; ++i)
    answer();
  CHECK_FALSE(x.at_b->closed_at);
  for (int i = 0; i < 3; ++i)
    answer();
  CHECK(x.at_b->reason == "the other side does not read its answers");
}
