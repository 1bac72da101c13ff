#include "actors/gateway.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/mail_listener.hpp"
#include "actors/session.hpp"
#include "messages/codec.hpp"
#include "runtime/dialable.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/ports/usual_port.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

void gateway_state::init(gateway_actor::pointer self, gateway_config config) {
  self_ = self;
  config_ = std::move(config);
  line_.init(self, config_.observer, config_.probes_line);
  auto& clock = self->home_system().clock();
  network_ = std::make_shared<relaying_transport>(
      config_.make_transport(), [&clock] { return clock.now(); },
      [me = self->address()] {
        if (auto it = caf::actor_cast<gateway_actor>(me))
          caf::anon_send(it, circuits_owe{});
      });
  links_.init(self, network_, config_.introduction.id);
  if (config_.gate)
    network_->only_for(
        [gate = config_.gate](const peer_id& who, const std::string& run) {
          return gate->passes(who, run);
        });
  if (is_hub())
    network_->be_hub();
  if (!config_.guests)
    config_.guests = std::make_shared<guest_list>();
  network_->start(std::make_shared<mail_listener>(
      caf::actor_cast<gateway_actor>(self), config_.intake, config_.guests,
      clock, config_.gate));
  auto say = [this](std::string sentence) {
    self_->send(config_.observer,
                event{"notice", {{"message", std::move(sentence)}}});
  };
  auto bound
      = listen_as_usual(*network_, config_.listen, config_.usual_port, say);
  auto failed = bound ? std::string{} : bound.error();
  for (const auto& also : config_.also_listen)
    if (const auto other = network_->listen(also); failed.empty() && !other)
      failed = other.error();
  if (!failed.empty()) {
    self_->send(config_.observer, peer_over{failed, true});
    return;
  }
  bound_ = *bound;
  config_.introduction.listen_port = bound->port;
  config_.introduction.is_hub = is_hub();
  self_->send(config_.supervisor, gateway_ready{*bound});
}

gateway_state::~gateway_state() {
  if (config_.guests)
    config_.guests->clear();
  // Ends the transport's thread and drops its listener, which holds us alive.
  if (network_)
    network_->stop();
}

void gateway_state::on(const gateway_handles& w) {
  line_.wire(w.conductor);
  links_.wire(w);
  auto new_roster = w.roster && w.roster != wired_.roster;
  wired_ = w;
  if (bound_ && wired_.roster)
    self_->send(wired_.roster, gateway_ready{*bound_});
  for (auto& [id, g] : guests_) {
    self_->send(g.session, w.sessions);
    if (new_roster)
      self_->send(wired_.roster, g.news, g.session);
  }
}

bool gateway_state::is_hub() const {
  const auto& own = config_.introduction.role;
  return own == role::bootstrap || own == role::auxiliary;
}

// ---- connections ------------------------------------------------------------

void gateway_state::greet(connection_id id, const address& remote) {
  config_.introduction.seen_host = remote.host;
  config_.introduction.seen_port = remote.port;
  if (config_.wall_clock)
    config_.introduction.clock_ms = config_.wall_clock();
  if (config_.gate)
    config_.introduction.admission = config_.gate->own();
  network_->send(id, {encode(config_.introduction), {}});
}

void gateway_state::on(const connection_accepted& x) {
  if (links_.accepted(x))
    greet(x.id, x.remote);
}

void gateway_state::on(const connection_opened& x) {
  if (links_.opened(x))
    greet(x.id, x.remote);
}

void gateway_state::on(const connection_closed& x) {
  config_.guests->remove(x.id);
  const auto gone = links_.closed(x);
  if (!gone)
    return;
  if (auto g = guests_.find(gone->peer); g != guests_.end()) {
    self_->send(g->second.session, x);
    note_ways(gone->peer);
  }
  if (links_.leaving() && links_.none())
    self_->quit();
}

void gateway_state::on(const frame_arrived& x) {
  pass(x);
  config_.guests->passed(x.id);
}

void gateway_state::pass(const frame_arrived& x) {
  const auto* l = links_.find(x.id);
  if (!l || l->reached)
    return; // One that was only tried is about to close.
  if (!l->peer.empty()) {
    if (auto g = guests_.find(l->peer); g != guests_.end())
      self_->send(g->second.session, x);
    return;
  }
  auto content
      = decode(x.frame.head.data(), x.frame.head.size(), x.frame.body.size);
  if (!content) {
    network_->close(x.id, 0);
    return;
  }
  if (links_.is_about_reach(x.id, *content))
    return;
  if (auto theirs = std::get_if<hello>(&*content)) {
    auto sentence = objection(config_.introduction, *theirs);
    // Proven, its line is being closed already.
    const auto& answers = l->proven.empty() ? theirs->id : l->proven;
    if (sentence.empty() && links_.is_another(*l, answers))
      return links_.missed(x.id, answers);
    if (auto lie = false_claim(l->proven, theirs->id); !lie.empty())
      sentence = lie;
    if (sentence.empty() && is_banned(theirs->id, theirs->run))
      sentence = ban_from(theirs->run);
    if (sentence.empty())
      welcome(x.id, *l, *theirs);
    else
      refuse(x.id, *l, *theirs, sentence);
    return;
  }
  if (auto no = std::get_if<refusal>(&*content); no && wired_.roster)
    self_->send(wired_.roster,
                peer_refused{l->remote, no->sentence, l->dialled});
  network_->close(x.id, 0);
}

void gateway_state::refuse(connection_id id, const link& l, const hello& theirs,
                           const std::string& sentence) {
  network_->send(id, {encode(refusal{sentence}), {}});
  network_->close(id);
  const bool lied = !false_claim(l.proven, theirs.id).empty();
  if (l.dialled && theirs.id == config_.introduction.id && !lied)
    links_.dialled_self(l);
  // Their refusal may cross ours and be lost with the connection. Who dialled
  // is told what it says, since it is up to them to change something.
  auto advice
      = l.dialled && !lied ? objection(theirs, config_.introduction) : sentence;
  if (wired_.roster)
    self_->send(wired_.roster, peer_refused{l.remote, advice, l.dialled});
}

void gateway_state::welcome(connection_id id, const link& l,
                            const hello& theirs) {
  const bool circuit = relaying_transport::is_circuit(id);
  if (partners_.has(theirs.id))
    network_->no_stranger(id);
  show(theirs); // Before a circuit of theirs is looked at.
  auto waited = links_.welcome(id, theirs);
  auto& g = guests_[theirs.id];
  auto& session = g.session;
  auto& news = g.news;
  if (!session || (news.relayed && !circuit)) {
    news.seen_host = theirs.seen_host;
    news.dialled_us = !circuit && links_.came_from_afar(l);
    g.is_hub = theirs.is_hub;
    g.role = theirs.role;
    if (!session)
      note_standing(theirs.id, g);
    news.was_dialled = l.dialled;
    if (config_.wall_clock && theirs.clock_ms != 0)
      news.clock_ahead_ms
          = static_cast<std::int64_t>(theirs.clock_ms - config_.wall_clock());
    // Where it is that comes through a hub, only the hub says; nobody is
    // dialled for it.
    news.who
        = {theirs.id, circuit ? address{l.hub_sees, 0}
                              : address{l.remote.host, theirs.listen_port}};
  }
  if (session) {
    self_->send(session, connection_added{id});
    config_.guests->add(id, theirs.id, session);
    note_ways(theirs.id);
    on(admission_news{theirs.id});
    return;
  }
  news.relayed = circuit;
  news.run = theirs.run;
  news.charter = theirs.charter;
  g.trusted = std::make_shared<std::atomic<bool>>(partners_.has(theirs.id));
  session_config how{news.who,
                     id,
                     network_,
                     caf::actor_cast<gateway_actor>(self_),
                     config_.relays_experts,
                     g.trusted,
                     homes_,
                     config_.gate,
                     theirs.role == role::bootstrap};
  session = self_->spawn(potluck::session, std::move(how));
  self_->monitor(session);
  if (config_.session_started)
    config_.session_started("session", caf::actor_cast<caf::actor>(session));
  self_->send(session, wired_.sessions);
  if (wired_.roster)
    self_->send(wired_.roster, news, session);
  // What comes from now on finds everybody prepared.
  config_.guests->add(id, theirs.id, session);
  if (!circuit)
    line_.joined(theirs.id, news.role, session);
  for (auto& x : waited)
    self_->send(session, std::move(x));
}

void gateway_state::show(const hello& theirs) {
  if (!config_.gate || theirs.role == role::bootstrap)
    return;
  const auto problem = config_.gate->show(theirs.id, theirs.admission);
  if (!problem.empty() && !theirs.admission.empty())
    self_->send(config_.observer,
                event{"fault",
                      {{"peer", short_name(theirs.id)},
                       {"what", std::string{"bad admission"}},
                       {"detail", "it " + problem},
                       {"refused", config_.gate->refused()}}});
}

bool gateway_state::note_standing(const peer_id& who, guest& g) const {
  const bool inside
      = !config_.gate || g.role == role::bootstrap || config_.gate->admits(who);
  const auto before = g.news.role;
  g.news.role = inside ? g.role : role::bootstrap;
  g.news.is_hub = inside && g.is_hub;
  return g.news.role != before;
}

void gateway_state::on(const admission_news& x) {
  if (!config_.gate)
    return; // Everybody is admitted.
  const bool own = x.of == config_.introduction.id;
  const auto mine = own ? config_.gate->own() : std::string{};
  for (auto& [id, g] : guests_) {
    if (!own && id != x.of)
      continue;
    if (!mine.empty())
      self_->send(g.session, parcel{id, admission_shown{mine}, {}});
    if (!note_standing(id, g))
      continue;
    if (!g.news.relayed)
      line_.joined(id, g.news.role, g.session);
    if (wired_.roster)
      self_->send(wired_.roster, g.news, g.session);
  }
}

void gateway_state::note_ways(const peer_id& who) {
  auto& g = guests_.at(who);
  const bool relayed = links_.only_circuits_to(who);
  if (relayed == g.news.relayed || links_.of(who).empty())
    return;
  g.news.relayed = relayed;
  if (!relayed)
    line_.joined(who, g.news.role, g.session);
  if (wired_.roster)
    self_->send(wired_.roster, g.news, g.session);
}

// ---- what others want -------------------------------------------------------

void gateway_state::on(const parcel& x) {
  if (auto g = guests_.find(x.to); g != guests_.end())
    self_->send(g->second.session, x);
}

void gateway_state::on(const call& x) {
  if (auto g = guests_.find(x.to.id); g != guests_.end())
    self_->send(g->second.session, parcel{x.to.id, x.content, x.body});
  else
    links_.call_up(x);
}

void gateway_state::on(const dial_contact& x) {
  if (links_.leaving())
    return;
  if (wired_.roster && is_banned(x.who.id, config_.introduction.run)) {
    self_->send(wired_.roster,
                dial_failed{x.who.where, x.who.id, "banned by the organiser"});
    return;
  }
  auto g = guests_.find(x.who.id);
  const bool relayed = g != guests_.end() && g->second.news.relayed;
  if (g != guests_.end() && !(relayed && dialable(x.who.where)))
    return; // It is connected, wherever that is.
  if (dialable(x.who.where))
    links_.dial(x.who.where, x.who.id,
                relayed ? std::vector<contact>{} : x.hubs);
  else
    links_.go_through(x.who, x.hubs);
}

void gateway_state::on(const try_to_reach& x) {
  links_.try_to_reach(x);
}

void gateway_state::on(const ask_for_port& x) {
  links_.ask_for_port(x.who);
}

void gateway_state::on(const punch_holes& x) {
  links_.punch(x);
}

void gateway_state::on(const reach_known& x) {
  const auto port = bound_ ? bound_->port : std::uint16_t{0};
  config_.introduction.listen_port = !x.reachable ? 0 : x.port ? x.port : port;
  const bool open = x.kind == reach::open || x.kind == reach::mapped;
  const bool trains = config_.introduction.role == role::trainer;
  const bool hub = x.reachable && (is_hub() || (trains && open));
  config_.introduction.is_hub = hub;
  network_->be_hub(hub, trains ? limits::trainers_hub : limits::usual_hub);
}

void gateway_state::on(const circuits_owe&) {
  if (network_->give_credit())
    self_->delayed_send(self_, limits::credit_interval, circuits_owe{});
}

void gateway_state::on(const charter_known& x) {
  config_.introduction.charter = x.id;
  config_.introduction.settings = x.settings;
}

void gateway_state::on(const bans_known& x) {
  banned_[x.run] = x.who;
  for (auto& [id, g] : guests_)
    if (is_banned(id, g.news.run))
      self_->send(g.session, leave_run{ban_from(x.run)});
}

bool gateway_state::is_banned(const peer_id& who,
                              const std::string& run) const {
  auto bans = banned_.find(run);
  return bans != banned_.end() && bans->second.count(who) != 0;
}

void gateway_state::on(const drop_peer& x) {
  if (auto g = guests_.find(x.id); g != guests_.end())
    self_->send(g->second.session, leave_run{x.reason});
}

void gateway_state::on(const leave_run& x) {
  for (auto& [id, g] : guests_)
    self_->send(g.session, x);
  links_.leave();
  if (links_.none())
    self_->quit();
}

void gateway_state::on(const tick&) {
  links_.look();
}

void gateway_state::on_down(const caf::down_msg& x) {
  auto found = std::find_if(guests_.begin(), guests_.end(), [&](auto& g) {
    return g.second.session.address() == x.source;
  });
  if (found == guests_.end())
    return;
  line_.left(found->first);
  config_.guests->ended(found->first);
  if (config_.gate)
    config_.gate->left(found->first);
  links_.parted(found->first);
  guests_.erase(found);
}

// ---- what passes ------------------------------------------------------------

void gateway_state::on(const traffic_seen& x) {
  if (config_.rests)
    network_->rest(config_.rests());
  for (const auto& seen : x.traffic) {
    const auto* l = links_.find(seen.id);
    if (!l || l->peer.empty())
      continue;
    if (auto g = guests_.find(l->peer); g != guests_.end() && seen.received > 0)
      self_->send(g->second.session, traffic_seen{x.interval, {seen}});
    line_.passed(l->peer, seen);
  }
  line_.observe(x.interval);
}

void gateway_state::on(const no_strangers& x) {
  if (wired_.roster)
    self_->send(wired_.roster, x);
  for (const auto& id : x.ids) {
    if (!partners_.add(id))
      continue;
    for (auto connection : links_.of(id))
      network_->no_stranger(connection);
    if (auto g = guests_.find(id); g != guests_.end())
      *g->second.trusted = true;
  }
}

void gateway_state::on(const windows_planned& x) {
  for (auto& [id, g] : guests_)
    if (std::exchange(g.planned, false))
      for (auto connection : links_.of(id))
        network_->plan_window(connection, {});
  for (const auto& [peer, window] : x.windows)
    if (auto g = guests_.find(peer); g != guests_.end()) {
      g->second.planned = true;
      for (auto connection : links_.of(peer))
        network_->plan_window(connection, window);
    }
}

gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self,
        gateway_config config) {
  return behave<gateway_actor, gateway_state>(self, std::move(config));
}

} // namespace potluck
