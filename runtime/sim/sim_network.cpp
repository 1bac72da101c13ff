#include "runtime/sim/sim_network.hpp"

#include "runtime/sim/sim_network_core.hpp"

namespace potluck {

namespace {

class sim_transport : public transport {
public:
  sim_transport(std::shared_ptr<sim_network::core> net, const std::string& host,
                const peer_id& who)
      : net_(std::move(net)),
        self_(std::make_shared<sim_network::core::endpoint>()) {
    self_->on = net_->machine_of(host);
    self_->who = who;
    ++self_->on->running;
    net_->endpoints.push_back(self_);
  }
  ~sim_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    self_->listener = std::move(listener);
  }

  expected<address> listen(const address& where) override {
    const auto& host = self_->on->name;
    auto port = where.port;
    if (port == 0)
      for (port = 1000; net_->listening.count({host, port});)
        ++port;
    if (!net_->listening.emplace(address{host, port}, self_).second)
      return failure{"Cannot listen on " + to_string(where)
                     + ": the address is in use; choose another port."};
    self_->port = port;
    return address{where.host, port};
  }

  connection_id dial(const address& where) override {
    return net_->dial(self_, where);
  }
  void send(connection_id id, outgoing_frame frame) override {
    net_->send(self_, id, std::move(frame));
  }
  void close(connection_id id, std::uint32_t) override {
    net_->close(self_, id);
  }
  transport_traffic traffic() const override {
    return self_->traffic;
  }
  void stop() override {
    net_->stop(self_, false, false);
  }

private:
  std::shared_ptr<sim_network::core> net_;
  std::shared_ptr<sim_network::core::endpoint> self_;
};

} // namespace

sim_network::sim_network(std::uint64_t seed)
    : core_(std::make_shared<core>(seed)) {
}

sim_network::~sim_network() {
  // What is still due holds connections, and those hold the machines.
  core_->due = {};
  for (auto& [name, x] : core_->machines) {
    x->frozen_mail.clear();
    x->unread.clear();
    x->forge = nullptr;
  }
  core_->before = nullptr;
  core_->see = nullptr;
}

std::unique_ptr<transport> sim_network::make_transport(const std::string& host,
                                                       const peer_id& who) {
  return std::make_unique<sim_transport>(core_, host, who);
}

void sim_network::set_line(const std::string& host, const line& x) {
  core_->machine_of(host)->access = x;
}

sim_network::line sim_network::line_of(const std::string& host) const {
  return core_->machine_of(host)->access;
}

void sim_network::behind_nat(const std::string& host, bool yes) {
  core_->machine_of(host)->nat = yes;
}

std::uint64_t sim_network::part(std::set<std::string> side) {
  auto number = ++core_->partitions;
  for (auto& host : side)
    core_->machine_of(host)->partitions.insert(number);
  return number;
}

void sim_network::reunite(std::uint64_t partition) {
  core_->reunite(partition);
}

void sim_network::freeze(const std::string& host, bool yes) {
  auto x = core_->machine_of(host);
  if (yes)
    x->frozen = true;
  else if (x->frozen)
    core_->thaw(*x);
}

void sim_network::deafen(const std::string& host, bool yes) {
  auto x = core_->machine_of(host);
  if (yes)
    x->deaf = true;
  else if (x->deaf)
    core_->read_again(*x);
}

void sim_network::cut(const std::string& host) {
  core_->cut(core_->machine_of(host));
}

void sim_network::crash(const std::string& host, bool silent) {
  auto x = core_->machine_of(host);
  for (auto& weak : core_->endpoints)
    if (auto y = weak.lock(); y && y->on == x)
      core_->stop(y, true, silent);
  x->frozen = false;
  x->deaf = false;
  x->frozen_mail.clear();
  x->unread.clear();
}

void sim_network::corrupt_host(const std::string& host, forger x) {
  core_->machine_of(host)->forge = std::move(x);
}

void sim_network::watch(watcher x) {
  core_->see = std::move(x);
}

std::optional<duration> sim_network::next() const {
  if (core_->due.empty())
    return std::nullopt;
  return core_->due.top().at;
}

std::size_t
sim_network::run_until(duration now,
                       const std::function<void(const std::string&)>& before) {
  core_->before = before;
  std::size_t count = 0;
  while (!core_->due.empty() && core_->due.top().at <= now) {
    // The queue only lends its top; moving out of it spares a copy.
    auto& top = const_cast<core::task&>(core_->due.top());
    core_->now = std::max(core_->now, top.at);
    auto run = std::move(top.run);
    core_->due.pop();
    run();
    ++count;
  }
  core_->now = std::max(core_->now, now);
  core_->before = nullptr;
  return count;
}

std::size_t sim_network::open_connections() const {
  return core_->open;
}

std::uint64_t sim_network::bytes_in_flight() const {
  return core_->in_flight;
}

sim_network::statistics sim_network::totals() const {
  return core_->totals;
}

} // namespace potluck
