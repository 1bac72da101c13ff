#include "tools/lab/network/sim_network.hpp"

#include <algorithm>

#include "tools/lab/network/sim_streams.hpp"

namespace potluck {

/// What transports hold on to, since they may outlive the network.
struct sim_network::core {
  explicit core(std::uint64_t seed)
      : lines{seed, line_emulator::load::streams} {
  }

  sim_agenda agenda;
  line_emulator lines;
  sim_hosts hosts{agenda, lines};
  sim_streams streams{agenda, lines, hosts};
  std::uint64_t last_estrangement = 0;
};

sim_network::sim_network(std::uint64_t seed)
    : core_(std::make_shared<core>(seed)) {
}

sim_network::~sim_network() {
  // What is still due holds connections, and those hold the machines.
  core_->agenda.clear();
  core_->hosts.clear();
  core_->streams.watch(nullptr);
}

std::unique_ptr<transport> sim_network::make_transport(const std::string& host,
                                                       const peer_id& who) {
  return make_sim_transport({core_, &core_->streams}, host, who);
}

void sim_network::set_line(const std::string& host, const access_line& x) {
  auto on = core_->hosts.named(host);
  auto& lines = core_->lines;
  const auto hears_again = lines.line_of(on->number()).deaf && !x.deaf;
  lines.set_line(on->number(), x);
  if (hears_again)
    core_->streams.read_again(*on);
}

void sim_network::put_behind(const std::string& host, router_kind kind,
                             const std::string& public_host) {
  core_->hosts.put_behind(core_->hosts.named(host), kind, public_host);
}

std::optional<address> sim_network::map_port(const std::string& host,
                                             std::uint16_t port) {
  const auto& router = core_->hosts.named(host)->router;
  if (!router)
    return std::nullopt;
  return router->map_port(core_->agenda.now(), {host, port});
}

void sim_network::reboot_router(const std::string& host) {
  if (const auto& router = core_->hosts.named(host)->router)
    router->reboot();
}

void sim_network::move_home(const std::string& host,
                            const std::string& public_host) {
  core_->hosts.move_home(*core_->hosts.named(host), public_host);
}

std::uint64_t sim_network::part(const std::set<std::string>& side) {
  std::set<host_number> numbers;
  for (auto& host : side)
    numbers.insert(number_of(host));
  return core_->lines.part(numbers);
}

void sim_network::reunite(std::uint64_t partition) {
  core_->lines.reunite(partition);
  core_->streams.send_again();
}

std::uint64_t sim_network::estrange(const std::set<std::string>& hosts) {
  const auto number = ++core_->last_estrangement;
  for (auto& host : hosts)
    core_->hosts.named(host)->estrangements.insert(number);
  for (auto& host : hosts) {
    auto x = core_->hosts.named(host);
    core_->streams.cut(
        *x, [&](auto& other) { return core_->hosts.estranged(*x, other); });
  }
  return number;
}

void sim_network::reconcile(std::uint64_t estrangement) {
  for (auto* x : core_->hosts.all())
    x->estrangements.erase(estrangement);
}

void sim_network::freeze(const std::string& host, bool yes) {
  auto x = core_->hosts.named(host);
  if (yes)
    x->freeze();
  else if (x->frozen())
    core_->hosts.thaw(*x);
}

void sim_network::cut(const std::string& host) {
  core_->streams.cut(*core_->hosts.named(host));
}

void sim_network::crash(const std::string& host, bool silent) {
  auto x = core_->hosts.named(host);
  for (auto& weak : x->endpoints)
    if (auto y = weak.lock())
      core_->streams.stop(y, true, silent);
  x->forget_mail();
}

void sim_network::corrupt_host(const std::string& host, forger x) {
  core_->streams.corrupt(*core_->hosts.named(host), std::move(x));
}

void sim_network::watch(watcher x) {
  core_->streams.watch(std::move(x));
}

std::optional<duration> sim_network::next() const {
  return core_->agenda.next();
}

std::size_t
sim_network::run_until(duration now,
                       const std::function<void(host_number)>& before) {
  core_->hosts.tell_before(before);
  auto count = core_->agenda.run_until(now);
  core_->hosts.tell_before(nullptr);
  return count;
}

// ---- turns -----------------------------------------------------------------

sim_network::host_number sim_network::number_of(const std::string& host) const {
  return core_->hosts.named(host)->number();
}

void sim_network::take_turns() {
  core_->hosts.take_turns();
}

duration sim_network::shortest_way() const {
  return core_->lines.shortest_way();
}

sim_host& sim_network::at(host_number host) const {
  return core_->hosts.at(host);
}

void sim_network::settle(const std::vector<host_number>& hosts,
                         const std::function<void(duration)>& clock) {
  struct place {
    std::size_t host;
    sim_host::deed* what;
  };
  std::vector<place> order;
  std::vector<std::vector<sim_host::deed>> all;
  all.reserve(hosts.size());
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    all.push_back(core_->hosts.at(hosts[i]).take_deeds());
    for (auto& x : all.back())
      order.push_back({i, &x});
  }
  std::stable_sort(order.begin(), order.end(), [](auto& a, auto& b) {
    return a.what->at != b.what->at ? a.what->at < b.what->at : a.host < b.host;
  });
  auto& agenda = core_->agenda;
  const auto now = agenda.now();
  for (auto& [host, x] : order) {
    agenda.set_now(x->at);
    clock(x->at);
    x->run();
  }
  agenda.set_now(now);
}

std::size_t sim_network::open_connections() const {
  return core_->streams.open_connections();
}

std::uint64_t sim_network::highest_queue() const {
  return core_->streams.highest_queue();
}

line_counters sim_network::totals() const {
  return core_->lines.totals();
}

} // namespace potluck
