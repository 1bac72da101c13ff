/// Circuits as connections: over a hub in memory, plain and encrypted.
#include "runtime/relay/relaying_transport.hpp"

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "messages/codec.hpp"
#include "runtime/relay/limits.hpp"
#include "runtime/strangers/letter_cost.hpp"
#include "runtime/strangers/limits.hpp"
#include "runtime/uv/circuit_stream.hpp"
#include "tests/support/memory_network.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A transport in memory whose circuits are encrypted.
class encrypting final : public transport {
public:
  encrypting(std::unique_ptr<transport> below, const key_pair& key,
             std::map<connection_id, bool>& held)
      : below_(std::move(below)), tls_(key), held_(held) {
  }
  void hold(connection_id id, bool yes) override {
    held_[id] = yes;
  }
  void start(std::shared_ptr<transport_listener> x) override {
    below_->start(std::move(x));
  }
  expected<address> listen(const address& where) override {
    return below_->listen(where);
  }
  connection_id dial(const address& where, const peer_id& expected) override {
    return below_->dial(where, expected);
  }
  void send(connection_id id, outgoing_frame frame) override {
    below_->send(id, std::move(frame));
  }
  void close(connection_id id, std::uint32_t linger_ms) override {
    below_->close(id, linger_ms);
  }
  transport_traffic traffic() const override {
    return below_->traffic();
  }
  stream_maker streams() override {
    return [this](bool begins, frame_stream_listener& to) {
      return make_circuit_stream(tls_, begins, to);
    };
  }
  void stop() override {
    below_->stop();
  }

private:
  std::unique_ptr<transport> below_;
  tls_context tls_;
  std::map<connection_id, bool>& held_;
};

struct world {
  void run() {
    for (int i = 0; i < 400; ++i) {
      now += 10ms;
      network.deliver(now);
      for (auto* x : owing)
        x->give_credit();
    }
  }
  memory_network network;
  duration now{0};
  std::vector<relaying_transport*> owing;
};

/// A peer's transport, and what it was told.
struct peer_end : transport_listener {
  peer_end(world& w, const std::string& host, bool encrypts)
      : w(w), host(host), id(key.id()) {
    auto below = w.network.make_transport(host, id);
    if (encrypts)
      below = std::make_unique<encrypting>(std::move(below), key, held);
    it = std::make_unique<relaying_transport>(
        std::move(below), [&w] { return time_point{1h + w.now}; },
        [this, &w] { w.owing.push_back(it.get()); });
    it->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
    it->listen({host, 1000});
  }
  ~peer_end() override {
    it->stop();
  }
  void on_accepted(connection_id c, const address& remote,
                   const peer_id& proven) override {
    accepted.push_back(c);
    met[c] = proven;
    from[c] = remote;
    it->belongs(c, proven, run);
  }
  void on_connected(connection_id c, const address& remote,
                    const peer_id& proven) override {
    connected.push_back(c);
    met[c] = proven;
    from[c] = remote;
    it->belongs(c, proven, run);
  }
  void on_frame(connection_id c, incoming_frame frame) override {
    frames[c].push_back(std::move(frame));
  }
  void on_closed(connection_id c, const std::string& reason) override {
    CHECK(closed.count(c) == 0);
    closed[c] = reason;
  }
  connection_id dial(const peer_end& to) {
    auto c = it->dial({to.host, 1000}, {});
    w.run();
    REQUIRE(met.count(c) == 1);
    return c;
  }

  world& w;
  std::string host;
  std::string run = "soup"; ///< As it says to others, and they to it.
  key_pair key = key_pair::generate();
  peer_id id;
  std::map<connection_id, bool> held; ///< And whether it still is.
  std::unique_ptr<relaying_transport> it;
  std::vector<connection_id> accepted, connected;
  std::map<connection_id, peer_id> met;
  std::map<connection_id, address> from;
  std::map<connection_id, std::vector<incoming_frame>> frames;
  std::map<connection_id, std::string> closed;
};

outgoing_frame frame_of(const std::string& text, std::size_t body = 0) {
  auto all = std::make_shared<std::vector<std::uint8_t>>(body);
  for (std::size_t i = 0; i < body; ++i)
    (*all)[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  const auto* data = all->data();
  return {{text.begin(), text.end()}, {std::move(all), data, body}};
}

/// Two that nobody can dial, and a hub.
struct home {
  explicit home(bool encrypts)
      : hub(w, "hub", encrypts), a(w, "a", encrypts), b(w, "b", encrypts) {
    hub.it->be_hub();
    to_hub = a.dial(hub);
    b_to_hub = b.dial(hub);
  }
  /// A circuit from `a` to `b`, at both ends.
  std::pair<connection_id, connection_id> open() {
    auto c = a.it->dial_through(to_hub, b.id);
    w.run();
    if (!encrypted(a)) { // The other end speaks first, as a gateway does.
      REQUIRE(!b.accepted.empty());
      b.it->send(b.accepted.back(), frame_of("hello"));
      w.run();
    }
    REQUIRE(a.met.count(c) == 1);
    REQUIRE(!b.accepted.empty());
    return {c, b.accepted.back()};
  }
  static bool encrypted(const peer_end& x) {
    return x.it->streams() != nullptr;
  }

  world w;
  peer_end hub, a, b;
  connection_id to_hub = 0, b_to_hub = 0;
};

} // namespace

TEST_CASE("a circuit is one more connection, both ways, of any size") {
  for (bool encrypts : {false, true}) {
    CAPTURE(encrypts);
    home x{encrypts};
    auto [near, far] = x.open();
    CHECK(relaying_transport::is_circuit(near));
    CHECK(relaying_transport::is_circuit(far));
    CHECK_FALSE(relaying_transport::is_circuit(x.to_hub));
    if (encrypts) { // End to end: not what the hub says.
      CHECK(x.a.met[near] == x.b.id);
      CHECK(x.b.met[far] == x.a.id);
    }
    const auto before = x.a.frames[near].size();
    const std::size_t sizes[]{0, 10, 70'000, 1'000'000, 3};
    for (auto size : sizes) {
      x.a.it->send(near, frame_of("to b", size));
      x.b.it->send(far, frame_of("to a", size));
    }
    for (int i = 0; i < 4; ++i)
      x.w.run();
    REQUIRE(x.b.frames[far].size() == std::size(sizes));
    REQUIRE(x.a.frames[near].size() == before + std::size(sizes));
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      const auto& got = x.b.frames[far][i];
      const auto sent = frame_of("to b", sizes[i]);
      CHECK(got.head == sent.head);
      REQUIRE(got.body.size == sizes[i]);
      CHECK(std::equal(got.body.data, got.body.data + got.body.size,
                       sent.body.data));
    }
    CHECK(x.a.from[near] == address{"b", 0}); // This is what the hub says.
    CHECK(x.b.from[far] == address{"a", 0});
    // The hub has seen nothing but its own connections.
    CHECK(x.hub.frames.empty());
    x.a.it->close(near);
    x.w.run();
    CHECK(x.a.closed.count(near) == 1);
    CHECK(x.b.closed.count(far) == 1);
    CHECK(x.a.closed.count(x.to_hub) == 0);
  }
}

TEST_CASE("a hub reads nothing of what it passes on, and can change nothing") {
  home x{true};
  const std::string secret = "nobody else shall read this sentence";
  bool seen = false;
  bool spoils = false;
  x.w.network.judge_frames([&](auto& from, auto&, outgoing_frame& frame) {
    const auto& body = frame.body;
    seen = seen
           || std::search(body.data, body.data + body.size, secret.begin(),
                          secret.end())
                  != body.data + body.size;
    if (spoils && from == "hub" && body.size > 0) {
      auto other = std::make_shared<std::vector<std::uint8_t>>(
          body.data, body.data + body.size);
      other->back() ^= 1;
      const auto* data = other->data();
      frame.body = {other, data, other->size()};
    }
    return memory_network::fate::arrives;
  });
  auto [near, far] = x.open();
  x.a.it->send(near, frame_of(secret));
  x.w.run();
  REQUIRE(x.b.frames[far].size() == 1);
  CHECK_FALSE(seen);
  spoils = true;
  x.a.it->send(near, frame_of(secret));
  x.w.run();
  CHECK(x.b.frames[far].size() == 1);
  CHECK(x.b.closed.count(far) == 1);
  CHECK(x.a.closed.count(near) == 1);
}

TEST_CASE("a hub that leads to somebody else impersonates nobody") {
  home x{true};
  // It passes the circuit to `b` on to itself: it answers as the hub.
  peer_end liar{x.w, "liar", true};
  auto to_liar = x.a.dial(liar);
  auto c = x.a.it->dial_through(to_liar, x.b.id);
  x.w.run();
  // It is no hub, so it takes the circuit for one that somebody opened to it.
  if (x.a.met.count(c) == 1)
    CHECK(x.a.met[c] == liar.id);
}

TEST_CASE("circuits to oneself and to strangers end with a sentence") {
  home x{true};
  auto none = x.a.it->dial_through(x.to_hub, key_pair::generate().id());
  auto self = x.a.it->dial_through(x.to_hub, x.a.id);
  auto nowhere = x.a.it->dial_through(12345, x.b.id);
  x.w.run();
  CHECK(x.a.closed[none].find("not connected") != std::string::npos);
  CHECK(x.a.closed[self].find("oneself") != std::string::npos);
  CHECK(x.a.closed.count(nowhere) == 1);
  CHECK(x.b.accepted.empty());
}

TEST_CASE("a hub that rests opens no circuits, and those that are open go on") {
  home x{true};
  auto [near, far] = x.open();
  x.hub.it->rest();
  const auto none = x.a.it->dial_through(x.to_hub, x.b.id);
  x.a.it->send(near, frame_of("to b"));
  x.w.run();
  CHECK(x.a.closed[none].find("at present") != std::string::npos);
  CHECK(x.b.frames[far].size() == 1);
  x.hub.it->rest(false);
  x.open();
}

TEST_CASE("circuits end with the line to their hub") {
  home x{true};
  auto [near, far] = x.open();
  x.w.network.cut("b", "hub");
  x.w.run();
  CHECK(x.b.closed[far].find("hub") != std::string::npos);
  CHECK(x.a.closed[near] == "the other end left the hub");
  CHECK(x.a.closed.count(x.to_hub) == 0);
}

TEST_CASE("both ends may close at one moment") {
  home x{true};
  auto [near, far] = x.open();
  x.a.it->send(near, frame_of("last words"));
  x.a.it->close(near);
  x.b.it->close(far);
  x.w.run();
  CHECK(x.a.closed.size() == 1);
  CHECK(x.b.closed.size() == 1);
  auto [again, there] = x.open();
  CHECK(again != near);
  CHECK(there != far);
}

TEST_CASE("a circuit that is closed brings first what waits") {
  for (bool encrypts : {false, true}) {
    CAPTURE(encrypts);
    home x{encrypts};
    auto [near, far] = x.open();
    for (int i = 0; i < 20; ++i)
      x.a.it->send(near, frame_of("to b", 100'000));
    x.a.it->close(near, 60'000);
    x.a.it->send(near, frame_of("too late"));
    CHECK(x.a.closed.count(near) == 0);
    for (int i = 0; i < 4; ++i)
      x.w.run();
    CHECK(x.b.frames[far].size() == 20);
    CHECK(x.a.closed.count(near) == 1);
    CHECK(x.b.closed.count(far) == 1);
  }
}

TEST_CASE("a circuit that is closed waits no longer than it was told") {
  home x{true};
  const auto near = x.open().first;
  x.w.network.silence("a", "hub");
  x.a.it->send(near, frame_of("to b", 1'000'000));
  x.a.it->close(near, 60'000);
  x.w.run();
  CHECK(x.a.closed.count(near) == 0);
  x.a.it->close(near);
  x.w.run();
  CHECK(x.a.closed[near] == "closed here");
}

TEST_CASE("whoever opens a circuit is the peer that the hub named") {
  home x{true};
  x.w.network.judge_frames([&](auto& from, auto& to, outgoing_frame& frame) {
    auto said = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (auto* open = said ? std::get_if<circuit_open>(&*said) : nullptr;
        open != nullptr && from == "hub" && to == "b")
      frame.head = encode(circuit_open{open->circuit, x.hub.id, open->host});
    return memory_network::fate::arrives;
  });
  const auto near = x.a.it->dial_through(x.to_hub, x.b.id);
  x.w.run();
  CHECK(x.b.accepted.empty());
  CHECK(x.a.closed.count(near) == 1);
}

TEST_CASE("circuits that prove nothing are few, and go after a while") {
  home x{true};
  std::size_t refused = 0;
  x.w.network.judge_frames([&](auto& from, auto&, outgoing_frame& frame) {
    auto said = decode(frame.head.data(), frame.head.size(), frame.body.size);
    refused
        += said && from == "b" && std::holds_alternative<circuit_close>(*said);
    return memory_network::fate::arrives;
  });
  const auto line = x.a.dial(x.b);
  for (std::uint32_t i = 1; i <= 200; ++i)
    x.a.it->send(line, {encode(circuit_open{i, x.hub.id, "a"}), {}});
  x.w.run();
  CHECK(refused == 200 - limits::circuits_a_line);
  for (int i = 0; i < 3; ++i)
    x.w.run();
  CHECK(refused == 200);
  CHECK(x.a.closed.empty());
}

TEST_CASE("circuits from one address are few, whatever leads to them, and "
          "whatever their opener says") {
  home x{true};
  std::size_t refused = 0;
  x.w.network.judge_frames([&](auto& from, auto&, outgoing_frame& frame) {
    auto said = decode(frame.head.data(), frame.head.size(), frame.body.size);
    refused
        += said && from == "b" && std::holds_alternative<circuit_close>(*said);
    return memory_network::fate::arrives;
  });
  const std::vector<connection_id> lines{x.a.dial(x.b), x.a.dial(x.b)};
  // Who came in is a hub by its own word alone.
  for (auto line : lines)
    for (std::uint32_t i = 1; i <= 100; ++i) {
      const auto host = "192.0." + std::to_string(i) + ".1";
      x.a.it->send(line, {encode(circuit_open{i, x.hub.id, host}), {}});
    }
  // As long as these have time to prove something, a school's get in by the hub
  // that was dialled.
  const auto to_b = x.hub.accepted[1];
  for (std::uint32_t i = 101; i <= 140; ++i)
    x.hub.it->send(to_b, {encode(circuit_open{i, x.a.id, "198.51.100.1"}), {}});
  x.w.run();
  CHECK(refused == 200 - limits::circuits_of_a_home);
}

TEST_CASE("a hub takes what it is asked for no circuit that leads to it") {
  home x{false};
  x.b.it->be_hub();
  peer_id gone;
  gone.bytes[0] = 99;
  const auto near = x.a.it->dial_through(x.a.dial(x.b), gone);
  x.w.run();
  CHECK(x.a.closed.count(near) == 1);
  CHECK(x.b.accepted.size() == 1); // The line itself.
}

TEST_CASE("circuits to a hub that others cannot dial end there") {
  home x{true};
  x.b.it->be_hub();
  x.a.dial(x.b); // It knows the peer that opens one by a line of its own, too.
  const auto before = x.b.accepted.size();
  x.open();
  CHECK(x.b.accepted.size() == before + 1);
}

TEST_CASE("who floods a hub with circuits' frames is not read for a while, and "
          "goes in the end") {
  home x{true};
  auto [near, far] = x.open();
  const auto line = x.hub.accepted.front();
  const auto flood = [&](double frames) {
    for (double i = 0; i < frames; ++i)
      x.a.it->send(x.to_hub, {encode(circuit_close{77, true, ""}), {}});
  };
  const auto saved
      = limits::letters_of_a_stranger_at_once / cost_of(circuit_close{});
  flood(saved / 2);
  x.w.run();
  CHECK(x.hub.held.empty());
  // The circuit of who pays goes on beside it.
  flood(saved);
  x.a.it->send(near, frame_of("letter"));
  for (int i = 0; i < 20; ++i)
    x.w.network.deliver(x.w.now += 10ms);
  CHECK(x.hub.held.at(line));
  x.w.run();
  CHECK_FALSE(x.hub.held.at(line));
  REQUIRE(x.b.frames[far].size() == 1);
  CHECK(x.a.closed.empty());
  flood(saved + limits::letters_dropped + 1);
  x.w.run();
  CHECK(x.a.closed.count(x.to_hub) == 1);
  CHECK(x.b.closed.count(far) == 1);
  CHECK(x.b.closed.count(x.b_to_hub) == 0);
}

TEST_CASE("messages of circuits that do not exist mean nothing") {
  home x{false};
  for (bool here : {false, true}) {
    auto body = frame_of("", 10).body;
    x.a.it->send(x.to_hub, {encode(circuit_data{77, here}), body});
    x.a.it->send(x.to_hub, {encode(circuit_credit{77, here, 1}), {}});
    x.a.it->send(x.to_hub, {encode(circuit_close{77, here, ""}), {}});
  }
  x.w.run();
  auto [near, far] = x.open();
  // Nor does a guest say where the other end is.
  x.b.it->send(x.b_to_hub,
               {encode(circuit_open{1, x.a.id, "victim", true}), {}});
  x.a.it->send(x.to_hub, {encode(circuit_open{1, x.b.id, "victim", true}), {}});
  x.w.run();
  CHECK(x.b.closed.count(far) == 0);
  // The number of a circuit that is open, once more.
  x.a.it->send(x.to_hub, {encode(circuit_open{1, x.b.id}), {}});
  x.w.run();
  CHECK(x.a.closed.count(near) == 1);
  CHECK(x.b.closed.count(far) == 1);
}
