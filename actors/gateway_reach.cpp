/// The gateway's part in finding out who can be dialled: connections that are
/// made for that alone.
#include "actors/gateway.hpp"

namespace potluck {

void gateway_state::on(const try_to_reach& x) {
  if (leaving_ || links_.size() >= most_connections)
    return;
  link fresh{x.who.where, true, x.who.id, {}, {}, {}};
  fresh.reached = false;
  fresh.nonce = x.nonce;
  fresh.asker = x.asker;
  dialled_.note(x.who.where.host, self_->clock().now());
  add(network_->dial(x.who.where, x.who.id), fresh);
}

void gateway_state::on(const ask_for_port& x) {
  if (leaving_ || links_.size() >= most_connections)
    return;
  link fresh{x.who.where, true, x.who.id, {}, {}, {}};
  fresh.asks_for_port = true;
  dialled_.note(x.who.where.host, self_->clock().now());
  add(network_->punch(x.who.where, true), fresh);
}

/// Whether that they could connect shows that others can.
bool gateway_state::came_from_afar(const link& l) const {
  return !l.dialled
         && dialled_.proves_something(l.remote.host, self_->clock().now());
}

void gateway_state::on(const charter_known& x) {
  config_.introduction.charter = x.id;
  config_.introduction.settings = x.settings;
}

void gateway_state::on(const reach_known& x) {
  const auto open = bound_ ? bound_->port : std::uint16_t{0};
  config_.introduction.listen_port = !x.reachable ? 0 : x.port ? x.port : open;
  config_.introduction.is_hub = x.reachable && is_hub();
  network_->be_hub(config_.introduction.is_hub);
}

/// Whether that was all that the connection is for: it is closed.
bool gateway_state::is_about_reach(connection_id id, const link& l,
                                   const message& said) {
  const auto* theirs = std::get_if<hello>(&said);
  const auto* proof = std::get_if<reach_proof>(&said);
  if (!proof && !(theirs && l.asks_for_port))
    return false;
  const bool right
      = theirs && (l.proven.empty() ? theirs->id : l.proven) == l.expected;
  // A proof that came by way of a hub proves nothing.
  if (proof && !l.dialled && !relaying_transport::is_circuit(id)
      && wired_.roster)
    self_->send(wired_.roster,
                reach_proven{proof->nonce, l.remote.host, came_from_afar(l)});
  if (right && wired_.roster)
    self_->send(wired_.roster, port_seen{{theirs->seen_host, theirs->seen_port},
                                         l.remote.host});
  network_->close(id, 0);
  return true;
}

} // namespace potluck
