/// Somebody on the network that is of the run by its own word, and says
/// whatever it is told to.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "messages/codec.hpp"
#include "tests/support/scribbler.hpp"
#include "tests/support/test_world.hpp"

namespace potluck {

template <class Scribbler>
class talker : public transport_listener {
public:
  talker(test_world& world, std::uint8_t number, Scribbler& words)
      : words_(words),
        net_(world.network.make_transport(host(number), peer(number))) {
    greeting.id = peer(number);
    greeting.run = "soup";
    greeting.listen_port = 1000;
    net_->start(std::shared_ptr<transport_listener>{this, [](auto*) {}});
  }
  ~talker() override {
    net_->stop();
  }
  void on_accepted(connection_id, const address&, const peer_id&) override {
  }
  void on_connected(connection_id id, const address&, const peer_id&) override {
    net_->send(id, {encode(greeting), {}});
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
    for (std::size_t i = 0; i < size; ++i) // A long one repeats itself.
      (*body)[i] = i < 64 ? static_cast<std::uint8_t>(words_.chance().next())
                          : (*body)[i - 64];
    const auto* bytes = body->data();
    net_->send(at_, {encode(what), {std::move(body), bytes, size}});
    ++said;
  }

  hello greeting; ///< What it says first; others may be set before it speaks.
  std::size_t said = 0;
  bool closed = false;

private:
  Scribbler& words_;
  std::unique_ptr<transport> net_;
  connection_id at_ = 0;
  bool open_ = false;
  bool dialling_ = false;
};

} // namespace potluck
