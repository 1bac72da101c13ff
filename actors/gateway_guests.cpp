#include "actors/gateway_guests.hpp"

#include <algorithm>
#include <utility>

#include "actors/session.hpp"

namespace potluck {

void gateway_guests::init(gateway_actor::pointer self, settings how,
                          std::shared_ptr<relaying_transport> network,
                          line_maker& links) {
  self_ = self;
  how_ = std::move(how);
  network_ = std::move(network);
  links_ = &links;
  line_.init(self, how_.observer, how_.probes_line);
}

void gateway_guests::wire(const gateway_handles& w) {
  line_.wire(w.conductor);
  const bool new_roster = w.roster && w.roster != roster_;
  roster_ = w.roster;
  sessions_ = w.sessions;
  for (auto& [id, g] : guests_) {
    self_->send(g.session, sessions_);
    if (new_roster)
      tell_roster(g);
  }
}

void gateway_guests::tell_roster(const guest& g) {
  if (roster_)
    self_->send(roster_, g.news, g.session);
}

// ---- how they come and go ---------------------------------------------------

void gateway_guests::welcome(connection_id id, const line_maker::link& l,
                             const hello& theirs) {
  const bool circuit = relaying_transport::is_circuit(id);
  if (partners_.has(theirs.id))
    network_->no_stranger(id);
  show(theirs); // Before a circuit of theirs is looked at.
  auto waited = links_->welcome(id, theirs);
  auto& g = guests_[theirs.id];
  if (!g.session || (g.news.relayed && !circuit))
    note(g, l, theirs, circuit);
  if (g.session) {
    self_->send(g.session, connection_added{id});
    how_.guests->add(id, theirs.id, g.session);
    note_ways(theirs.id);
    on(admission_news{theirs.id});
    return;
  }
  g.news.relayed = circuit;
  g.news.run = theirs.run;
  g.news.charter = theirs.charter;
  begin_session(g, id, theirs);
  tell_roster(g);
  // What comes from now on finds everybody prepared.
  how_.guests->add(id, theirs.id, g.session);
  if (!circuit)
    line_.joined(theirs.id, g.news.role, g.session);
  for (auto& x : waited)
    self_->send(g.session, std::move(x));
}

void gateway_guests::note(guest& g, const line_maker::link& l,
                          const hello& theirs, bool circuit) const {
  auto& news = g.news;
  news.seen_host = theirs.seen_host;
  news.dialled_us = !circuit && links_->came_from_afar(l);
  g.is_hub = theirs.is_hub;
  g.role = theirs.role;
  if (!g.session)
    note_standing(theirs.id, g);
  news.was_dialled = l.dialled;
  if (how_.wall_clock && theirs.clock_ms != 0)
    news.clock_ahead_ms
        = static_cast<std::int64_t>(theirs.clock_ms - how_.wall_clock());
  // Where it is that comes through a hub, only the hub says; nobody is dialled
  // for it.
  news.who = {theirs.id, circuit ? address{l.hub_sees, 0}
                                 : address{l.remote.host, theirs.listen_port}};
}

void gateway_guests::begin_session(guest& g, connection_id id,
                                   const hello& theirs) {
  g.trusted = std::make_shared<std::atomic<bool>>(partners_.has(theirs.id));
  session_config how{g.news.who,
                     id,
                     network_,
                     caf::actor_cast<gateway_actor>(self_),
                     how_.relays_experts,
                     g.trusted,
                     homes_,
                     held_,
                     how_.gate,
                     theirs.role == role::bootstrap};
  g.session = self_->spawn(potluck::session, std::move(how));
  self_->monitor(g.session);
  if (how_.session_started)
    how_.session_started("session", caf::actor_cast<caf::actor>(g.session));
  self_->send(g.session, sessions_);
}

void gateway_guests::note_ways(const peer_id& who) {
  auto at = guests_.find(who);
  if (at == guests_.end())
    return;
  auto& g = at->second;
  const bool relayed = links_->only_circuits_to(who);
  if (relayed == g.news.relayed || links_->of(who).empty())
    return;
  g.news.relayed = relayed;
  if (!relayed)
    line_.joined(who, g.news.role, g.session);
  tell_roster(g);
}

void gateway_guests::ended(const caf::actor_addr& session) {
  auto found = std::find_if(guests_.begin(), guests_.end(), [&](auto& g) {
    return g.second.session.address() == session;
  });
  if (found == guests_.end())
    return;
  line_.left(found->first);
  how_.guests->ended(found->first);
  if (how_.gate)
    how_.gate->left(found->first);
  links_->parted(found->first);
  guests_.erase(found);
}

// ---- admission --------------------------------------------------------------

void gateway_guests::show(const hello& theirs) {
  if (!how_.gate || theirs.role == role::bootstrap)
    return;
  const auto problem = how_.gate->show(theirs.id, theirs.admission);
  if (!problem.empty() && !theirs.admission.empty())
    self_->send(how_.observer, event{"fault",
                                     {{"peer", short_name(theirs.id)},
                                      {"what", std::string{"bad admission"}},
                                      {"detail", "it " + problem},
                                      {"refused", how_.gate->refused()}}});
}

bool gateway_guests::note_standing(const peer_id& who, guest& g) const {
  const bool inside
      = !how_.gate || g.role == role::bootstrap || how_.gate->admits(who);
  const auto before = g.news.role;
  g.news.role = inside ? g.role : role::bootstrap;
  g.news.is_hub = inside && g.is_hub;
  return g.news.role != before;
}

void gateway_guests::on(const admission_news& x) {
  if (!how_.gate)
    return; // Everybody is admitted.
  const bool own = x.of == how_.own;
  const auto mine = own ? how_.gate->own() : std::string{};
  for (auto& [id, g] : guests_) {
    if (!own && id != x.of)
      continue;
    if (!mine.empty())
      self_->send(g.session, parcel{id, admission_shown{mine}, {}});
    if (!note_standing(id, g))
      continue;
    if (!g.news.relayed)
      line_.joined(id, g.news.role, g.session);
    tell_roster(g);
  }
}

// ---- what passes ------------------------------------------------------------

void gateway_guests::on(const traffic_seen& x) {
  for (const auto& seen : x.traffic) {
    const auto* l = links_->find(seen.id);
    if (!l || l->peer.empty())
      continue;
    if (seen.received > 0)
      tell(l->peer, traffic_seen{x.interval, {seen}});
    line_.passed(l->peer, seen);
  }
  line_.observe(x.interval);
}

void gateway_guests::on(const no_strangers& x) {
  if (roster_)
    self_->send(roster_, x);
  for (const auto& id : x.ids) {
    if (!partners_.add(id))
      continue;
    for (auto connection : links_->of(id))
      network_->no_stranger(connection);
    if (auto g = guests_.find(id); g != guests_.end())
      *g->second.trusted = true;
  }
}

void gateway_guests::on(const windows_planned& x) {
  for (auto& [id, g] : guests_)
    if (std::exchange(g.planned, false))
      for (auto connection : links_->of(id))
        network_->plan_window(connection, {});
  for (const auto& [peer, window] : x.windows)
    if (auto g = guests_.find(peer); g != guests_.end()) {
      g->second.planned = true;
      for (auto connection : links_->of(peer))
        network_->plan_window(connection, window);
    }
}

} // namespace potluck
