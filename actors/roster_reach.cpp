/// The roster's part in who can be dialled (runtime/membership/reachability).
#include <algorithm>

#include "actors/roster.hpp"
#include "runtime/config.hpp"
#include "runtime/dialable.hpp"
#include "runtime/random.hpp"

namespace potluck {

// ---- this peer
// ------------------------------------------------------------

void roster_state::ask_for_reach() {
  // A bootstrap peer is told of by its user, and who contributes is dialled by
  // nobody that could not do without.
  auto matters = config_.role == role::trainer
                     ? links_ && (!mine_.report.contributes || !told_reachable_)
                     : config_.role != role::bootstrap;
  if (!matters || listening_.port == 0 || !config_.announce.host.empty())
    return;
  auto now = self_->clock().now();
  if (auto mine = own_address(); mine != tried_address_) {
    if (!tried_address_.host.empty())
      reach_.moved();
    tried_address_ = mine;
  }
  if (!reach_.asks(now))
    return;
  std::vector<std::pair<std::uint64_t, peer_id>> order; // Each has its own.
  for (auto& [id, g] : guests_)
    if (!g.contributes)
      order.emplace_back(mix(config_.seed, seed_of(id)), id);
  std::sort(order.begin(), order.end());
  std::vector<peer_id> candidates;
  for (auto& [chance, id] : order)
    candidates.push_back(id);
  if (auto whom = reach_.ask(candidates, now))
    self_->send(guests_.at(*whom).session,
                parcel{*whom, reach_request{listening_.port}, {}});
}

void roster_state::read(const peer_id& from, const reach_answer& x) {
  reach_.answered(from, x.reached, self_->clock().now());
  note_reach();
}

void roster_state::note_reach() {
  if (reach_.reachable() == told_reachable_)
    return;
  told_reachable_ = reach_.reachable();
  tell_reach();
  if (in_a_run())
    tell_everybody_mine();
  auto where = to_string(own_address());
  auto detail = told_reachable_
                    ? "others can connect to " + where
                    : "others cannot connect to " + where
                          + ", so this peer averages nothing for them; forward "
                            "a port and name it with --announce HOST:PORT";
  self_->send(
      wired_.observer,
      event{"reach", {{"reachable", told_reachable_}, {"detail", detail}}});
}

void roster_state::tell_reach() {
  if (wired_.gateway)
    self_->send(wired_.gateway, reach_known{told_reachable_});
  if (wired_.cell)
    self_->send(wired_.cell, reach_known{told_reachable_});
}

// ---- others
// ------------------------------------------------------------

void roster_state::read(const peer_id& from, const reach_request& x) {
  auto guest = guests_.find(from);
  if (guest == guests_.end())
    return;
  auto now = self_->clock().now();
  auto& tried = guest->second.tried;
  // Nobody makes us knock all the time, or anywhere but at its own host.
  const contact who{from, {guest->second.news.who.where.host, x.port}};
  if ((tried && now - *tried < limits::reach_pause) || !dialable(who))
    return;
  tried = now;
  self_->send(wired_.gateway, try_to_reach{who});
}

} // namespace potluck
