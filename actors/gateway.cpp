#include "actors/gateway.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "actors/mail_listener.hpp"
#include "actors/session.hpp"
#include "messages/codec.hpp"
#include "runtime/experts/open_calls.hpp"
#include "runtime/membership/handshake.hpp"

namespace potluck {

namespace {

/// Messages kept for a peer that is being dialled: a look-up asks few things.
constexpr std::size_t messages_waiting_for_a_dial = 64;

} // namespace

void gateway_state::init(gateway_actor::pointer self, gateway_config config) {
  self_ = self;
  config_ = std::move(config);
  line_.init(self, config_.observer, config_.probes_line);
  network_ = config_.make_transport();
  if (!config_.guests)
    config_.guests = std::make_shared<guest_list>();
  network_->start(std::make_shared<mail_listener>(
      caf::actor_cast<gateway_actor>(self), config_.intake, config_.guests,
      self->home_system().clock()));
  auto bound = network_->listen(config_.listen);
  if (!bound) {
    self_->send(config_.observer, peer_over{bound.error(), true});
    return;
  }
  bound_ = *bound;
  config_.introduction.listen_port = bound->port;
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
  if (l.reached) {
    // Unencrypted, whoever answers there counts.
    l.reached = l.proven.empty() || l.proven == l.expected;
    network_->close(x.id, 0);
    return;
  }
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
    on(parcel{gone.expected, reach_answer{*gone.reached}, {}});
  } else if (!gone.peer.empty()) {
    if (auto g = guests_.find(gone.peer); g != guests_.end()) {
      g->second.connections.erase(x.id);
      self_->send(g->second.session, x);
    }
  } else if (gone.dialled) {
    give_up(gone.remote, gone.expected,
            is_another(gone, gone.proven) ? "another peer answers there"
            : gone.late                   ? "no answer in time"
                                          : x.reason);
  }
  if (leaving_ && links_.empty())
    self_->quit();
}

void gateway_state::give_up(const address& where, const peer_id& expected,
                            const std::string& reason) {
  waiting_.erase(expected);
  if (wired_.roster)
    self_->send(wired_.roster, dial_failed{where, expected, reason});
  if (wired_.router)
    self_->send(wired_.router, dial_failed{where, expected, reason});
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
  if (auto theirs = std::get_if<hello>(&*content)) {
    auto sentence = objection(config_.introduction, *theirs);
    if (sentence.empty() && l.proven.empty() && is_another(l, theirs->id)) {
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
  if (l.dialled && wired_.roster)
    self_->send(wired_.roster, dial_succeeded{l.remote, theirs.id});
  auto& [session, news, connections, planned] = guests_[theirs.id];
  connections.insert(id);
  if (session) {
    self_->send(session, connection_added{id});
    config_.guests->add(id, theirs.id, session);
    return;
  }
  news.who = {theirs.id, {l.remote.host, theirs.listen_port}};
  news.role = theirs.role;
  news.run = theirs.run;
  news.charter = theirs.charter;
  news.seen_host = theirs.seen_host;
  news.dialled_us = !l.dialled;
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
  line_.joined(theirs.id, theirs.role, session);
  if (auto queue = waiting_.extract(theirs.id))
    for (auto& x : queue.mapped())
      self_->send(session, std::move(x));
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

void gateway_state::on(const dial_contact& x) {
  if (leaving_)
    return;
  if (guests_.count(x.who.id))
    self_->send(wired_.roster, dial_succeeded{x.who.where, x.who.id});
  else
    dial(x.who.where, x.who.id);
}

void gateway_state::on(const try_to_reach& x) {
  if (leaving_ || links_.size() >= most_connections)
    return;
  link fresh{x.who.where, true, x.who.id, {}, {}, {}};
  fresh.reached = false;
  add(network_->dial(x.who.where, x.who.id), fresh);
}

void gateway_state::on(const reach_known& x) {
  config_.introduction.listen_port = x.reachable && bound_ ? bound_->port : 0;
}

void gateway_state::dial(const address& where, const peer_id& expected) {
  if (own_addresses_.has(where, self_->clock().now())) {
    give_up(where, expected, "this peer itself answers there");
    return;
  }
  if (links_.size() >= most_connections) {
    give_up(where, expected, "too many connections are open");
    return;
  }
  add(network_->dial(where, expected), {where, true, expected, {}, {}, {}});
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
