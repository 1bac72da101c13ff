#include "runtime/uv/faces.hpp"

#include <utility>

#include "runtime/uv/circuit_stream.hpp"

namespace potluck {

namespace {

class uv_face final : public transport {
public:
  uv_face(std::shared_ptr<shared_transport> house, const key_pair& key)
      : house_(std::move(house)), self_(std::make_shared<transport_face>()) {
    self_->id = key.id();
    self_->tls = std::make_shared<tls_context>(key);
  }
  ~uv_face() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    self_->listener = std::move(listener);
    house_->enter(self_);
  }
  expected<address> listen(const address& where) override {
    return house_->listen_as(self_, where);
  }
  connection_id dial(const address& where, const peer_id& expected) override {
    return house_->dial_as(self_, where, expected);
  }
  connection_id punch(const address& at, bool begins) override {
    return house_->punch_as(self_, at, begins);
  }
  stream_maker streams() override {
    return [tls = self_->tls](bool begins, frame_stream_listener& to) {
      return make_circuit_stream(*tls, begins, to);
    };
  }
  std::vector<address> local_addresses() const override {
    return house_->local_addresses();
  }
  void send(connection_id id, outgoing_frame frame) override {
    house_->send(id, std::move(frame));
  }
  void close(connection_id id, std::uint32_t linger_ms) override {
    house_->close(id, linger_ms);
  }
  void plan_window(connection_id id, const planned_window& x) override {
    house_->plan_window(id, x);
  }
  void hold(connection_id id, bool yes) override {
    house_->hold(id, yes);
  }
  void no_stranger(connection_id id) override {
    house_->no_stranger(id);
  }
  transport_traffic traffic() const override {
    return house_->traffic();
  }
  void stop() override {
    house_->leave(self_);
  }

private:
  const std::shared_ptr<shared_transport> house_;
  const shared_face self_;
};

} // namespace

std::unique_ptr<transport> make_face(std::shared_ptr<shared_transport> house,
                                     const key_pair& key) {
  return std::make_unique<uv_face>(std::move(house), key);
}

} // namespace potluck
