/// The part of the gateway that gets lines to peers: by a dial, or through a
/// hub.
#include <algorithm>

#include "actors/gateway.hpp"
#include "runtime/dialable.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

bool gateway_state::is_hub() const {
  const auto& own = config_.introduction.role;
  return own == role::bootstrap || own == role::auxiliary;
}

void gateway_state::on(const dial_contact& x) {
  if (leaving_)
    return;
  auto g = guests_.find(x.who.id);
  const bool relayed = g != guests_.end() && g->second.news.relayed;
  if (g != guests_.end() && !(relayed && dialable(x.who.where)))
    return; // It is connected, wherever that is.
  if (dialable(x.who.where))
    dial(x.who.where, x.who.id, relayed ? std::vector<contact>{} : x.hubs);
  else
    go_through(x.who, x.hubs);
}

void gateway_state::on(const drop_peer& x) {
  if (auto g = guests_.find(x.id); g != guests_.end())
    self_->send(g->second.session, leave_run{x.reason});
}

void gateway_state::dial_by_hearsay(const contact& who) {
  if (is_on_its_way(who.id))
    return;
  const auto now = self_->clock().now();
  if (own_addresses_.has(who.where, now)
      || (may_knock(seen_host_, who.where.host)
          && hearsay_.spend(who.where, now))) {
    dial(who.where, who.id);
    return;
  }
  waiting_.erase(who.id);
  if (wired_.router)
    self_->send(wired_.router, dial_failed{who.where, who.id,
                                           "nobody was there lately", false});
}

void gateway_state::dial(const address& where, const peer_id& expected,
                         std::vector<contact> hubs) {
  if (own_addresses_.has(where, self_->clock().now())) {
    give_up(where, expected, "this peer itself answers there");
    return;
  }
  if (links_.size() >= most_connections) {
    give_up(where, expected, "too many connections are open");
    return;
  }
  link fresh{where, true, expected, {}, {}, {}};
  fresh.hubs = std::move(hubs);
  dialled_.note(where.host, self_->clock().now());
  add(network_->dial(where, expected), std::move(fresh));
}

void gateway_state::give_up(const address& where, const peer_id& expected,
                            const std::string& reason, bool through_hub) {
  waiting_.erase(expected);
  if (!through_hub && dialable(where))
    hearsay_.failed(where, self_->clock().now());
  const dial_failed news{where, expected, reason, through_hub};
  if (wired_.roster)
    self_->send(wired_.roster, news);
  if (wired_.router)
    self_->send(wired_.router, news);
  go_on(expected, false);
}

// ---- through hubs -----------------------------------------------------------

void gateway_state::go_through(const contact& who, std::vector<contact> hubs) {
  const auto without = [&hubs](const contact& hub) {
    std::vector<contact> rest;
    for (const auto& x : hubs)
      if (x.id != hub.id)
        rest.push_back(x);
    return rest;
  };
  if (leaving_)
    hubs.clear();
  for (const auto& hub : hubs) {
    auto g = guests_.find(hub.id);
    if (g == guests_.end() || links_.size() >= most_connections)
      continue;
    // The newest: an older one may be dead, unnoticed.
    const auto& all = g->second.connections;
    const auto newest = std::find_if_not(all.rbegin(), all.rend(),
                                         relaying_transport::is_circuit);
    if (newest == all.rend())
      continue;
    link fresh{who.where, true, who.id, {}, {}, {}};
    fresh.hubs = without(hub);
    add(network_->dial_through(*newest, who.id), std::move(fresh));
    return;
  }
  for (const auto& hub : hubs)
    if (dialable(hub) && hub.id != config_.introduction.id
        && hub.id != who.id) {
      const bool comes = is_on_its_way(hub.id);
      // Where it is may be a stranger's word.
      if (!comes && !hub_knocks_.spend(hub.where.host, self_->clock().now()))
        continue;
      through_[hub.id].push_back({who, without(hub)});
      if (!comes)
        dial(hub.where, hub.id);
      return;
    }
  if (!is_on_its_way(who.id))
    give_up(who.where, who.id, "no hub leads to it", true);
}

void gateway_state::go_on(const peer_id& hub, bool there) {
  auto all = through_.extract(hub);
  if (!all)
    return;
  for (auto& x : all.mapped()) {
    if (guests_.count(x.who.id) > 0)
      continue;
    if (there)
      x.hubs.insert(x.hubs.begin(), contact{hub, {}});
    go_through(x.who, std::move(x.hubs));
  }
}

bool gateway_state::is_on_its_way(const peer_id& who) const {
  if (who.empty()) // Each is another.
    return false;
  return std::any_of(strangers_.begin(), strangers_.end(), [&](auto id) {
    const auto& l = links_.at(id);
    return l.dialled && !l.reached && !l.asks_for_port && l.expected == who;
  });
}

bool gateway_state::waits_for_hub(const peer_id& who) const {
  return std::any_of(through_.begin(), through_.end(), [&](auto& x) {
    return std::any_of(x.second.begin(), x.second.end(),
                       [&](auto& waits) { return waits.who.id == who; });
  });
}

void gateway_state::hurry() {
  const auto now = self_->clock().now();
  std::vector<dial_contact> slow;
  for (auto id : strangers_) {
    auto& l = links_.at(id);
    if (!l.hubs.empty() && !relaying_transport::is_circuit(id)
        && now - l.since >= limits::circuit_head_start
        && guests_.count(l.expected) == 0) {
      l.hubs_tried = true;
      slow.push_back({{l.expected, l.remote}, std::exchange(l.hubs, {})});
    }
  }
  for (auto& x : slow)
    go_through(x.who, std::move(x.hubs));
}

void gateway_state::note_ways(const peer_id& who) {
  auto& g = guests_.at(who);
  const bool relayed
      = !g.connections.empty()
        && std::all_of(g.connections.begin(), g.connections.end(),
                       relaying_transport::is_circuit);
  if (relayed == g.news.relayed || g.connections.empty())
    return;
  g.news.relayed = relayed;
  if (!relayed)
    line_.joined(who, g.news.role, g.session);
  if (wired_.roster)
    self_->send(wired_.roster, g.news, g.session);
}

void gateway_state::on(const circuits_owe&) {
  if (network_->give_credit())
    self_->delayed_send(self_, limits::credit_interval, circuits_owe{});
}

} // namespace potluck
