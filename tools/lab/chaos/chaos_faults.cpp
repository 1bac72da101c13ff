#include "tools/lab/chaos/chaos_faults.hpp"

#include <algorithm>

#include "tools/lab/scenario/faulty_line.hpp"

namespace potluck::tools {

chaos_faults::chaos_faults(const scenario& what, const fault_plan& plan,
                           netlab::host_network& network,
                           std::vector<chaos_peer>& peers)
    : what_{what}, plan_{plan}, network_{network}, peers_{peers} {
}

void chaos_faults::begin(const fault_event& x) {
  if (x.kind == fault_kind::isolate)
    partitions_[x.number] = network_.part({x.peers.begin(), x.peers.end()});
  if (trait_of(x.kind).lasts)
    lasting_[x.number] = x;
  for (auto number : x.peers)
    befall(x, number);
}

void chaos_faults::befall(const fault_event& x, std::size_t number) {
  auto& peer = peers_[number];
  switch (x.kind) {
    case fault_kind::kill:
      peer.kill();
      break;
    case fault_kind::power_cut:
      // First the line, so that nobody hears of it.
      dark_[number] = network_.part({number});
      peer.kill();
      break;
    case fault_kind::leave:
      peer.leave();
      break;
    case fault_kind::stop:
      peer.stop(x.number);
      break;
    case fault_kind::slow:
      peer.slow(x.number, x.amount);
      break;
    case fault_kind::fill_disk:
      peer.fill_disk(x.number);
      break;
    case fault_kind::cut:
      network_.cut(number);
      break;
    case fault_kind::router_reboots:
      network_.reboot_router(number);
      break;
    case fault_kind::address_changes:
      network_.move_home(number);
      break;
    default:
      draw_line(number);
  }
}

bool chaos_faults::end(const fault_event& x) {
  if (lasting_.count(x.of) == 0)
    return false;
  relieve(x);
  return true;
}

void chaos_faults::relieve(const fault_event& x) {
  lasting_.erase(x.of);
  if (auto i = partitions_.find(x.of); i != partitions_.end()) {
    network_.reunite(i->second);
    partitions_.erase(i);
  }
  for (auto number : x.peers) {
    peers_[number].end_fault(x.of);
    draw_line(number);
  }
}

void chaos_faults::end_all() {
  while (!lasting_.empty()) {
    auto x = lasting_.begin()->second;
    x.of = x.number;
    relieve(x);
  }
}

void chaos_faults::draw_line(std::size_t number) {
  const auto& peer = plan_.peers()[number];
  auto line = usual_line(peer, what_.groups[peer.group]);
  for (const auto& [of, x] : lasting_)
    if (std::find(x.peers.begin(), x.peers.end(), number) != x.peers.end())
      potluck::befall(line, x.kind, x.amount);
  network_.set_line(number, line);
}

void chaos_faults::power_on(std::size_t number) {
  if (auto i = dark_.find(number); i != dark_.end()) {
    network_.reunite(i->second);
    dark_.erase(i);
  }
}

bool chaos_faults::any_under_way() const {
  return std::any_of(lasting_.begin(), lasting_.end(),
                     [&](const auto& x) { return plan_.ends(x.first); });
}

} // namespace potluck::tools
