#include "tools/lab/network/sim_network.hpp"

#include <algorithm>

#include "tools/lab/network/prefetch.hpp"
#include "tools/lab/network/sim_network_core.hpp"

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
    auto& on = *self_->on;
    ++on.running;
    on.endpoints.erase(std::remove_if(on.endpoints.begin(), on.endpoints.end(),
                                      [](auto& x) { return x.expired(); }),
                       on.endpoints.end());
    on.endpoints.push_back(self_);
  }
  ~sim_transport() override {
    stop();
  }

  void start(std::shared_ptr<transport_listener> listener) override {
    self_->listener = std::move(listener);
  }

  expected<address> listen(const address& where) override {
    return net_->listen(self_, where);
  }

  connection_id dial(const address& where) override {
    auto id = self_->next_id++;
    net_->ask(*self_->on, [net = net_, self = self_, id, where] {
      net->dial(self, id, where);
    });
    return id;
  }
  void send(connection_id id, outgoing_frame frame) override {
    auto line = self_->lines.find(id);
    if (line == self_->lines.end())
      return;
    self_->traffic.bytes_sent += frame.head.size() + frame.body.size;
    auto& [to, side] = line->second;
    net_->ask(
        *self_->on,
        [net = net_, to = to, side = side, frame = std::move(frame)]() mutable {
          net->send(to, side, std::move(frame));
        },
        {&*to, &*to->sides[1 - side].on});
  }
  void close(connection_id id, std::uint32_t) override {
    if (self_->on->in_turn)
      self_->closing.insert(id);
    net_->ask(*self_->on,
              [net = net_, self = self_, id] { net->close(self, id); });
  }
  transport_traffic traffic() const override {
    return self_->traffic;
  }
  void stop() override {
    if (!self_->on->in_turn) {
      net_->stop(self_, false, false);
      return;
    }
    if (self_->stopping || self_->stopped)
      return;
    self_->stopping = true;
    net_->stop_listening(self_);
    auto listener = std::move(self_->listener);
    if (listener)
      for (auto& [id, value] : self_->lines)
        listener->on_closed(id, "stopped");
    net_->ask(*self_->on,
              [net = net_, self = self_] { net->stop(self, false, false); });
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
    x->inbox.clear();
    x->deeds.clear();
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
  core_->set_line(*core_->machine_of(host), x);
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

std::uint64_t sim_network::estrange(const std::set<std::string>& hosts) {
  auto number = ++core_->partitions;
  for (auto& host : hosts)
    core_->machine_of(host)->estrangements.insert(number);
  for (auto& host : hosts)
    core_->cut(core_->machine_of(host),
               [&, a = core_->machine_of(host)](auto& b) {
                 return core_->estranged(*a, b);
               });
  return number;
}

void sim_network::reconcile(std::uint64_t estrangement) {
  core_->reconcile(estrangement);
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
  for (auto& weak : x->endpoints)
    if (auto y = weak.lock())
      core_->stop(y, true, silent);
  x->frozen = false;
  x->deaf = false;
  x->frozen_mail.clear();
  x->inbox.clear();
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
                       const std::function<void(host_number)>& before) {
  core_->before = before;
  std::size_t count = 0;
  while (!core_->due.empty() && core_->due.top().at <= now) {
    // The queue only lends its top; moving out of it spares a copy.
    auto& top = const_cast<core::task&>(core_->due.top());
    core_->now = std::max(core_->now, top.at);
    auto run = std::move(top.run);
    core_->due.pop();
    if (!core_->due.empty())
      core_->due.top().where.look_ahead();
    run();
    ++count;
  }
  core_->now = std::max(core_->now, now);
  core_->before = nullptr;
  return count;
}

// ---- turns
// ---------------------------------------------------------------------

sim_network::host_number sim_network::number_of(const std::string& host) const {
  return core_->machine_of(host)->number;
}

void sim_network::take_turns() {
  core_->turns = true;
}

duration sim_network::shortest_way() const {
  const auto& all = core_->delays;
  return all.size() < 2 ? duration::zero()
                        : *all.begin() + *std::next(all.begin());
}

void sim_network::begin_turn(host_number host) {
  auto& x = core_->at(host);
  x.in_turn = true;
  x.moment = core_->now;
}

void sim_network::deliver(host_number host, duration at) {
  auto& x = core_->at(host);
  x.moment = at;
  while (!x.inbox.empty() && x.inbox.front().first <= at) {
    auto what = std::move(x.inbox.front().second);
    x.inbox.pop_front();
    what();
  }
}

std::optional<duration> sim_network::mail(host_number host) const {
  auto& x = core_->at(host);
  if (x.inbox.empty())
    return std::nullopt;
  return x.inbox.front().first;
}

void sim_network::end_turn(host_number host) {
  core_->at(host).in_turn = false;
}

void sim_network::look_ahead(host_number host, unsigned stage) const {
  auto& x = core_->at(host);
  if (stage == 0)
    prefetch(&x, sizeof(x));
  else if (stage == 1 && !x.inbox.empty())
    prefetch(&x.inbox.front(), sizeof(x.inbox.front()));
}

void sim_network::note(host_number host, std::function<void()> deed) {
  core_->ask(core_->at(host), std::move(deed));
}

void sim_network::settle(const std::vector<host_number>& hosts,
                         const std::function<void(duration)>& clock) {
  struct place {
    std::size_t host;
    core::deed* what;
  };
  std::vector<place> order;
  std::vector<std::vector<core::deed>> all;
  all.reserve(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    auto& deeds = core_->at(hosts[i]).deeds;
    all.push_back(std::move(deeds));
    deeds.clear();
    for (auto& x : all.back())
      order.push_back({i, &x});
  }
  std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) {
    return a.what->at != b.what->at ? a.what->at < b.what->at : a.host < b.host;
  });
  auto now = core_->now;
  constexpr std::size_t ahead = 3;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i + ahead < order.size())
      order[i + ahead].what->where.look_ahead();
    auto& x = *order[i].what;
    core_->now = x.at;
    clock(x.at);
    x.run();
  }
  core_->now = now;
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
