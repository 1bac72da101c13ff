/// Whole peers that somebody tells everything that there is to say.
#include <doctest/doctest.h>

#include "messages/codec.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/scribbler.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Of the run by its own word; says whatever it is told to.
class talker : public transport_listener {
public:
  talker(test_world& world, std::uint8_t number, scribbler& words)
      : words_(words), number_(number),
        net_(world.network.make_transport(host(number), peer(number))) {
    net_->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
  }
  ~talker() override {
    net_->stop();
  }
  void on_accepted(connection_id, const address&, const peer_id&) override {
  }
  void on_connected(connection_id id, const address&, const peer_id&) override {
    hello x;
    x.id = peer(number_);
    x.run = "soup";
    x.role = role::trainer;
    x.listen_port = 1000;
    net_->send(id, {encode(x), {}});
    open_ = true;
  }
  void on_frame(connection_id id, incoming_frame frame) override {
    auto x = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (!x)
      return;
    if (auto beat = std::get_if<heartbeat>(&*x))
      net_->send(id, {encode(heartbeat_reply{beat->token}), {}});
    words_.learn(std::move(*x));
  }
  void on_closed(connection_id, const std::string&) override {
    open_ = false;
    closed = true;
  }
  /// On its only line.
  void speak(const address& to) {
    if (!open_) {
      if (!std::exchange(dialling_, true))
        at_ = net_->dial(to);
      return;
    }
    const auto what = words_.next();
    auto size = samples::body_size(what);
    if (size > 64 * 1024 || words_.chance().below(8) == 0)
      size = words_.chance().below(3) * 4;
    auto body = std::make_shared<std::vector<std::uint8_t>>(size);
    for (auto& byte : *body)
      byte = static_cast<std::uint8_t>(words_.chance().next());
    const auto* bytes = body->data();
    net_->send(at_, {encode(what), {std::move(body), bytes, size}});
    ++said;
  }

  std::size_t said = 0;
  bool closed = false;

private:
  scribbler& words_;
  const std::uint8_t number_;
  std::unique_ptr<transport> net_;
  connection_id at_ = 0;
  bool open_ = false;
  bool dialling_ = false;
};

} // namespace

TEST_CASE("whatever somebody says, no part of a peer fails, and those of the "
          "run train on") {
  std::size_t said = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    test_world world;
    whole_peer a{world, 1, {}, 100'000};
    whole_peer b{world, 2, {1}, 100'000};
    const auto both = [&](std::uint64_t step) {
      return [&a, &b, step] { return a.step() >= step && b.step() >= step; };
    };
    REQUIRE(world.run_until(both(3), 120s));
    scribbler words{seed};
    // Whoever is sent away comes again as somebody else.
    std::uint8_t number = 7;
    auto x = std::make_unique<talker>(world, number, words);
    for (int i = 0; i < 400; ++i) {
      if (x->closed && number < 250) {
        said += x->said;
        x = std::make_unique<talker>(world, ++number, words);
      }
      x->speak({host(1), 1000});
      world.run_for(10ms);
    }
    said += x->said;
    x.reset();
    for (const auto* who : {&a, &b}) {
      CHECK_FALSE(who->over());
      for (const auto& child : trainers_children)
        CHECK_MESSAGE(who->children.starts(child) == 1, child);
    }
    CHECK(world.run_until(both(std::max(a.step(), b.step()) + 3), 180s));
  }
  CHECK(said > 1000); // Else it was never let speak.
}
