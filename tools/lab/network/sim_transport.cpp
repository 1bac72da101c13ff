#include <algorithm>

#include "tools/lab/network/sim_streams.hpp"

namespace potluck {

namespace {

class sim_transport : public transport {
public:
  sim_transport(std::shared_ptr<sim_streams> net, const std::string& host,
                const peer_id& who);
  ~sim_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override;
  expected<address> listen(const address& where) override;
  connection_id dial(const address& where, const peer_id&) override;
  connection_id punch(const address& at, bool begins) override;
  std::vector<address> local_addresses() const override;
  void send(connection_id id, outgoing_frame frame) override;
  void close(connection_id id, std::uint32_t) override;
  void no_stranger(connection_id id) override;
  transport_traffic traffic() const override;
  void stop() override;

private:
  std::shared_ptr<sim_streams> net_;
  std::shared_ptr<sim_endpoint> self_;
};

sim_transport::sim_transport(std::shared_ptr<sim_streams> net,
                             const std::string& host, const peer_id& who)
    : net_(std::move(net)), self_(std::make_shared<sim_endpoint>()) {
  self_->on = net_->hosts().named(host);
  self_->who = who;
  auto& on = *self_->on;
  ++on.running;
  on.endpoints.erase(std::remove_if(on.endpoints.begin(), on.endpoints.end(),
                                    [](auto& x) { return x.expired(); }),
                     on.endpoints.end());
  on.endpoints.push_back(self_);
}

void sim_transport::start(std::shared_ptr<transport_listener> listener) {
  self_->listener = std::move(listener);
}

expected<address> sim_transport::listen(const address& where) {
  auto result = net_->ports().open(self_->on->name(), where, self_);
  if (result)
    self_->port = result->port;
  return result;
}

connection_id sim_transport::dial(const address& where, const peer_id&) {
  auto id = self_->next_id++;
  self_->on->ask(
      [net = net_, self = self_, id, where] { net->dial(self, id, where); });
  return id;
}

connection_id sim_transport::punch(const address& at, bool begins) {
  auto id = self_->next_id++;
  self_->on->ask([net = net_, self = self_, id, at, begins] {
    net->punch(self, id, at, begins);
  });
  return id;
}

std::vector<address> sim_transport::local_addresses() const {
  if (self_->port == 0)
    return {};
  return {{self_->on->name(), self_->port}};
}

void sim_transport::send(connection_id id, outgoing_frame frame) {
  auto line = self_->lines.find(id);
  if (line == self_->lines.end())
    return;
  self_->traffic.bytes_sent += frame.head.size() + frame.body.size;
  auto& [to, side] = line->second;
  self_->on->ask(
      [net = net_, to = to, side = side, frame = std::move(frame)]() mutable {
        net->send(to, side, std::move(frame));
      });
}

void sim_transport::close(connection_id id, std::uint32_t) {
  if (self_->on->in_turn())
    self_->closing.insert(id);
  self_->on->ask([net = net_, self = self_, id] { net->close(self, id); });
}

void sim_transport::no_stranger(connection_id id) {
  self_->on->ask([net = net_, self = self_, id] { net->trust(self, id); });
}

transport_traffic sim_transport::traffic() const {
  return self_->traffic;
}

void sim_transport::stop() {
  if (!self_->on->in_turn()) {
    net_->stop(self_, false, false);
    return;
  }
  if (self_->stopped || std::exchange(self_->stopping, true))
    return;
  net_->ports().close({self_->on->name(), self_->port}, self_);
  if (auto listener = std::move(self_->listener))
    for (auto& [id, value] : self_->lines)
      listener->on_closed(id, "stopped");
  self_->on->ask([net = net_, self = self_] { net->stop(self, false, false); });
}

} // namespace

std::unique_ptr<transport> make_sim_transport(std::shared_ptr<sim_streams> net,
                                              const std::string& host,
                                              const peer_id& who) {
  return std::make_unique<sim_transport>(std::move(net), host, who);
}

} // namespace potluck
