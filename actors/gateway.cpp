#include "actors/gateway.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/mail_listener.hpp"
#include "actors/session.hpp"
#include "messages/codec.hpp"
#include "runtime/experts/open_calls.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/ports/usual_port.hpp"

namespace potluck {

namespace {

/// Messages kept for a peer that is being dialled: a look-up asks few things.
constexpr std::size_t messages_waiting_for_a_dial = 64;

} // namespace

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
  if (is_hub())
    network_->be_hub();
  if (!config_.guests)
    config_.guests = std::make_shared<guest_list>();
  network_->start(
      std::make_shared<mail_listener>(caf::actor_cast<gateway_actor>(self),
                                      config_.intake, config_.guests, clock));
  auto bound = listen_as_usual(
      *network_, config_.listen, config_.usual_port,
      [this](std::string sentence) {
        self_->send(config_.observer,
                    event{"notice", {{"message", std::move(sentence)}}});
      });
  auto failed = bound ? std::string{} : bound.error();
  for (const auto& also : config_.also_listen)
    if (failed.empty())
      if (const auto other = network_->listen(also); !other)
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

/// Whether we dialled somebody else. Ourselves is a case of its own: `refuse`.
bool gateway_state::is_another(const link& l, const peer_id& who) const {
  return l.dialled && !l.expected.empty() && !who.empty() && who != l.expected
         && who != config_.introduction.id;
}

void gateway_state::add(connection_id id, link fresh) {
  fresh.since = self_->clock().now();
  links_[id] = std::move(fresh);
  strangers_.insert(id);
  watch_handshakes();
}

void gateway_state::greet(connection_id id, const address& remote) {
  config_.introduction.seen_host = remote.host;
  config_.introduction.seen_port = remote.port;
  if (config_.wall_clock)
    config_.introduction.clock_ms = config_.wall_clock();
  network_->send(id, {encode(config_.introduction), {}});
}

void gateway_state::on(const connection_accepted& x) {
  if (leaving_ || links_.size() >= most_connections) {
    network_->close(x.id, 0);
    return;
  }
  add(x.id, {x.remote, false, {}, x.proven, {}, {}});
  greet(x.id, x.remote);
}

void gateway_state::on(const connection_opened& x) {
  auto i = links_.find(x.id);
  if (i == links_.end()) {
    network_->close(x.id, 0);
    return;
  }
  auto& l = i->second;
  l.since = self_->clock().now();
  l.proven = x.proven;
  if (!relaying_transport::is_circuit(x.id))
    dialled_.note(x.remote.host, l.since);
  if (l.reached) {
    // Unencrypted, whoever answers there counts.
    l.reached = l.proven.empty() || l.proven == l.expected;
    if (*l.reached)
      network_->send(x.id, {encode(reach_proof{l.nonce}), {}});
    network_->close(x.id);
    return;
  }
  if (l.asks_for_port)
    return;
  if (!l.proven.empty() && is_another(l, l.proven)) {
    network_->close(x.id, 0); // Ends in `give_up`.
    return;
  }
  greet(x.id, x.remote);
}

void gateway_state::on(const connection_closed& x) {
  config_.guests->remove(x.id);
  auto i = links_.find(x.id);
  if (i == links_.end())
    return;
  const auto gone = links_.extract(i).mapped();
  strangers_.erase(x.id);
  if (gone.reached) {
    on(parcel{gone.asker, reach_answer{*gone.reached, gone.nonce}, {}});
  } else if (gone.asks_for_port) {
    // It has said what it sees, or will not.
  } else if (!gone.peer.empty()) {
    if (auto g = guests_.find(gone.peer); g != guests_.end()) {
      g->second.connections.erase(x.id);
      self_->send(g->second.session, x);
      note_ways(gone.peer);
    }
  } else if (gone.dialled) {
    const bool another = is_on_its_way(gone.expected);
    // If it comes through a hub, it is none itself.
    if (!another)
      go_on(gone.expected, false);
    if (!gone.hubs.empty() && !leaving_ && guests_.count(gone.expected) == 0)
      go_through({gone.expected, gone.remote}, gone.hubs);
    else if (!another && !waits_for_hub(gone.expected))
      give_up(gone.remote, gone.expected,
              is_another(gone, gone.proven) ? "another peer answers there"
              : gone.late                   ? "no answer in time"
                                            : x.reason,
              gone.hubs_tried || relaying_transport::is_circuit(x.id));
  }
  if (leaving_ && links_.empty())
    self_->quit();
}

void gateway_state::on(const frame_arrived& x) {
  pass(x);
  config_.guests->passed(x.id);
}

void gateway_state::pass(const frame_arrived& x) {
  auto i = links_.find(x.id);
  if (i == links_.end())
    return;
  auto& l = i->second;
  if (l.reached)
    return; // It was only tried, and is about to close.
  if (!l.peer.empty()) {
    if (auto g = guests_.find(l.peer); g != guests_.end())
      self_->send(g->second.session, x);
    return;
  }
  auto content
      = decode(x.frame.head.data(), x.frame.head.size(), x.frame.body.size);
  if (!content) {
    network_->close(x.id, 0);
    return;
  }
  if (is_about_reach(x.id, l, *content))
    return;
  if (auto theirs = std::get_if<hello>(&*content)) {
    auto sentence = objection(config_.introduction, *theirs);
    if (sentence.empty() && is_another(l, theirs->id)) {
      l.proven = theirs->id; // As far as anything is, without encryption.
      network_->close(x.id, 0);
      return;
    }
    if (auto lie = false_claim(l.proven, theirs->id); !lie.empty())
      sentence = lie;
    if (sentence.empty())
      welcome(x.id, l, *theirs);
    else
      refuse(x.id, l, *theirs, sentence);
    return;
  }
  if (auto no = std::get_if<refusal>(&*content); no && wired_.roster)
    self_->send(wired_.roster, peer_refused{l.remote, no->sentence, l.dialled});
  network_->close(x.id, 0);
}

void gateway_state::refuse(connection_id id, const link& l, const hello& theirs,
                           const std::string& sentence) {
  network_->send(id, {encode(refusal{sentence}), {}});
  network_->close(id);
  const auto& ours = config_.introduction.id;
  const bool lied = !false_claim(l.proven, theirs.id).empty();
  if (l.dialled && theirs.id == ours && !lied) {
    own_addresses_.answered(l.remote, self_->clock().now());
    if (wired_.roster)
      self_->send(wired_.roster, dial_succeeded{l.remote, theirs.id});
  }
  // Their refusal may cross ours and be lost with the connection. Who dialled
  // is told what it says, since it is up to them to change something.
  auto advice
      = l.dialled && !lied ? objection(theirs, config_.introduction) : sentence;
  if (wired_.roster)
    self_->send(wired_.roster, peer_refused{l.remote, advice, l.dialled});
}

void gateway_state::welcome(connection_id id, link& l, const hello& theirs) {
  l.peer = theirs.id;
  strangers_.erase(id);
  handshakes_.observed(theirs.id, self_->clock().now() - l.since);
  const bool circuit = relaying_transport::is_circuit(id);
  network_->belongs(id, theirs.id, theirs.is_hub, theirs.run);
  if (l.dialled && !circuit && wired_.roster)
    self_->send(wired_.roster, dial_succeeded{l.remote, theirs.id});
  auto& [session, news, connections, planned] = guests_[theirs.id];
  connections.insert(id);
  if (!session || (news.relayed && !circuit)) {
    news.seen_host = theirs.seen_host;
    news.dialled_us = !circuit && came_from_afar(l);
    news.is_hub = theirs.is_hub;
    // Nobody proves through a hub where it is, and a link of that kind names
    // what was dialled in vain.
    news.who
        = {theirs.id,
           circuit ? address{} : address{l.remote.host, theirs.listen_port}};
  }
  if (session) {
    self_->send(session, connection_added{id});
    config_.guests->add(id, theirs.id, session);
    note_ways(theirs.id);
    go_on(theirs.id, true);
    return;
  }
  news.relayed = circuit;
  news.role = theirs.role;
  news.run = theirs.run;
  news.charter = theirs.charter;
  session = self_->spawn(potluck::session,
                         session_config{news.who, id, network_,
                                        caf::actor_cast<gateway_actor>(self_)});
  self_->monitor(session);
  if (config_.session_started)
    config_.session_started("session", caf::actor_cast<caf::actor>(session));
  self_->send(session, wired_.sessions);
  if (wired_.roster)
    self_->send(wired_.roster, news, session);
  // What comes from now on finds everybody prepared.
  config_.guests->add(id, theirs.id, session);
  if (!circuit)
    line_.joined(theirs.id, theirs.role, session);
  if (auto queue = waiting_.extract(theirs.id))
    for (auto& x : queue.mapped())
      self_->send(session, std::move(x));
  go_on(theirs.id, true);
}

void gateway_state::on(const parcel& x) {
  if (auto g = guests_.find(x.to); g != guests_.end())
    self_->send(g->second.session, x);
}

void gateway_state::on(const call& x) {
  if (auto g = guests_.find(x.to.id); g != guests_.end()) {
    self_->send(g->second.session, parcel{x.to.id, x.content, x.body});
    return;
  }
  if (leaving_ || x.to.id == config_.introduction.id || x.to.where.port == 0)
    return;
  auto [queue, fresh] = waiting_.try_emplace(x.to.id);
  // All open calls of experts may be for one host.
  if (queue->second.size()
      < messages_waiting_for_a_dial + limits::expert_calls_open)
    queue->second.push_back({x.to.id, x.content, x.body});
  if (fresh)
    dial(x.to.where, x.to.id);
}

void gateway_state::on(const charter_known& x) {
  config_.introduction.charter = x.id;
  config_.introduction.settings = x.settings;
}

void gateway_state::on(const drop_peer& x) {
  if (auto g = guests_.find(x.id); g != guests_.end())
    self_->send(g->second.session, leave_run{x.reason});
}

void gateway_state::on(const leave_run& x) {
  leaving_ = true;
  for (auto& [id, g] : guests_)
    self_->send(g.session, x);
  for (auto& [id, l] : links_)
    if (l.peer.empty())
      network_->close(id, 0);
  if (links_.empty())
    self_->quit();
}

void gateway_state::watch_handshakes() {
  if (ticking_)
    return;
  ticking_ = true;
  self_->delayed_send(self_, limits::handshake_check, tick{});
}

void gateway_state::on(const tick&) {
  ticking_ = false;
  auto now = self_->clock().now();
  hurry();
  for (auto id : strangers_) {
    auto& l = links_.at(id);
    if (now - l.since > handshakes_.patience_for_a_stranger()) {
      l.late = true;
      network_->close(id, 0);
    }
  }
  if (!strangers_.empty())
    watch_handshakes();
}

void gateway_state::on_down(const caf::down_msg& x) {
  auto found = std::find_if(guests_.begin(), guests_.end(), [&](auto& g) {
    return g.second.session.address() == x.source;
  });
  if (found == guests_.end())
    return;
  line_.left(found->first);
  config_.guests->ended(found->first);
  const auto gone = guests_.extract(found);
  for (auto id : gone.mapped().connections)
    network_->close(id);
}

void gateway_state::on(const traffic_seen& x) {
  if (config_.rests)
    network_->rest(config_.rests());
  for (const auto& seen : x.traffic) {
    auto i = links_.find(seen.id);
    if (i == links_.end() || i->second.peer.empty())
      continue;
    if (auto g = guests_.find(i->second.peer);
        g != guests_.end() && seen.received > 0)
      self_->send(g->second.session, traffic_seen{x.interval, {seen}});
    line_.passed(i->second.peer, seen);
  }
  line_.observe(x.interval);
}

void gateway_state::on(const windows_planned& x) {
  for (auto& [id, g] : guests_)
    if (std::exchange(g.planned, false))
      for (auto connection : g.connections)
        network_->plan_window(connection, {});
  for (const auto& [peer, window] : x.windows)
    if (auto g = guests_.find(peer); g != guests_.end()) {
      g->second.planned = true;
      for (auto connection : g->second.connections)
        network_->plan_window(connection, window);
    }
}

gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self,
        gateway_config config) {
  return behave<gateway_actor, gateway_state>(self, std::move(config));
}

} // namespace potluck
