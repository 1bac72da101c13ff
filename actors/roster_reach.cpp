/// The roster's part in who can be dialled (runtime/membership/reachability).
#include <algorithm>
#include <tuple>

#include "actors/roster.hpp"
#include "runtime/config.hpp"
#include "runtime/dialable.hpp"
#include "runtime/random.hpp"

namespace potluck {

// ---- this peer
// ------------------------------------------------------------

void roster_state::ask_for_reach() {
  // A bootstrap peer is told of by its user. Who contributes is dialled by
  // nobody that could not do without, but plans count those who could not
  // average: one answer is enough for it.
  auto matters = config_.role == role::trainer
                     ? links_
                           && (!mine_.report.contributes || !told_reachable_
                               || !reach_found_out_)
                     : config_.role != role::bootstrap;
  // Others dial the host that they see: what the user says of another one is
  // believed.
  const auto& said = config_.announce.host;
  if (!matters || listening_.port == 0 || !(said.empty() || said == seen_host_))
    return;
  auto now = self_->clock().now();
  const auto mine = own_address();
  if (mine != tried_address_) {
    if (!tried_address_.host.empty())
      reach_.moved();
    reach_found_out_ = false;
    tried_address_ = mine;
  }
  if (!reach_.asks(now))
    return;
  // Each has an order of its own, in which those of its own house come last.
  std::vector<std::tuple<bool, std::uint64_t, peer_id>> order;
  for (auto& [id, g] : guests_)
    if (!g.contributes)
      order.emplace_back(is_local(g.news.who.where.host),
                         mix(config_.seed, seed_of(id)), id);
  std::sort(order.begin(), order.end());
  std::vector<peer_id> candidates;
  std::set<std::string> hosts; // A vote each.
  for (auto& [local, chance, id] : order)
    if (hosts.insert(guests_.at(id).news.who.where.host).second)
      candidates.push_back(id);
  if (auto whom = reach_.ask(candidates, now))
    self_->send(guests_.at(*whom).session,
                parcel{*whom, reach_request{mine.port}, {}});
  else {
    reach_found_out_ = true;
    note_reach(); // Those that were asked are all that there are.
  }
}

void roster_state::read(const peer_id& from, const reach_answer& x) {
  reach_.answered(from, x.reached, self_->clock().now());
  reach_found_out_ = reach_found_out_ || x.reached;
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
  auto therefore = config_.role == role::expert
                       ? std::string{", so they cannot call its experts"}
                       : std::string{", so it averages nothing for them"};
  auto detail = told_reachable_
                    ? "others can connect to this peer at " + where
                    : "others cannot connect to this peer at " + where
                          + therefore
                          + "; forward a port and name it with --announce "
                            "HOST:PORT";
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
  // Nobody makes us knock all the time, or anywhere but at its own host.
  const contact who{from, {guest->second.news.who.where.host, x.port}};
  for (auto i = tried_.begin(); i != tried_.end();)
    i = now - i->second >= limits::reach_pause ? tried_.erase(i) : std::next(i);
  if (!dialable(who) || tried_.size() >= limits::reach_tries
      || !tried_.emplace(who.where.host, now).second)
    return;
  self_->send(wired_.gateway, try_to_reach{who});
}

} // namespace potluck
