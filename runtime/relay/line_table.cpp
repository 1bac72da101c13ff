#include "runtime/relay/line_table.hpp"

#include <algorithm>
#include <utility>

#include "runtime/dialable.hpp"

namespace potluck {

line_table::opening line_table::opened(connection_id id, const address& remote,
                                       const peer_id& proven,
                                       const peer_id& self, time_point now) {
  auto* l = find(id);
  if (!l)
    return opening::unknown;
  l->since = now;
  l->proven = proven;
  if (relaying_transport::is_circuit(id))
    l->hub_sees = remote.host;
  if (l->reached) {
    // Unencrypted, whoever answers there counts.
    l->reached = proven.empty() || proven == l->expected;
    return *l->reached ? opening::seen : opening::unseen;
  }
  if (l->asks_for_port)
    return opening::listened;
  return is_another(*l, proven, self) ? opening::missed : opening::greeted;
}

std::optional<line_table::link> line_table::take(connection_id id) {
  const auto i = links_.find(id);
  if (i == links_.end())
    return std::nullopt;
  strangers_.erase(id);
  return links_.extract(i).mapped();
}

void line_table::welcome(connection_id id, const peer_id& who, time_point now) {
  auto& l = links_.at(id);
  l.peer = who;
  strangers_.erase(id);
  handshakes_.observed(peer_id{}, now - l.since);
}

bool line_table::is_on_its_way(const peer_id& who) const {
  if (who.empty()) // Each is another.
    return false;
  return std::any_of(strangers_.begin(), strangers_.end(), [&](auto id) {
    const auto& l = links_.at(id);
    return l.dialled && !l.reached && !l.asks_for_port && !l.punched
           && l.expected == who;
  });
}

line_table::hurried line_table::hurry(const guest_lines& guests,
                                      time_point now) {
  hurried result;
  for (auto id : strangers_) {
    auto& l = links_.at(id);
    if (relaying_transport::is_circuit(id) || guests.has(l.expected)
        || now - l.since < limits::circuit_head_start)
      continue;
    if (!l.hubs.empty()) {
      l.hubs_tried = true;
      result.detours.push_back(
          {{l.expected, l.remote}, std::exchange(l.hubs, {})});
    }
    if (dialable(l.also))
      result.others.push_back(id);
  }
  return result;
}

std::vector<connection_id> line_table::overdue(time_point now) {
  std::vector<connection_id> result;
  const auto patience = handshakes_.patience_for_a_stranger();
  for (auto id : strangers_)
    if (auto& l = links_.at(id); now - l.since > patience) {
      l.late = true;
      result.push_back(id);
    }
  return result;
}

} // namespace potluck
