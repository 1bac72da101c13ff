#include "actors/gateway.hpp"

#include "actors/behavior.hpp"
#include "actors/mail_listener.hpp"
#include "messages/codec.hpp"
#include "runtime/dialable.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/ports/usual_port.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

void gateway_state::init(gateway_actor::pointer self, gateway_config config) {
  self_ = self;
  config_ = std::move(config);
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
  guests_.init(self,
               {config_.introduction.id, config_.observer,
                config_.session_started, config_.guests, config_.gate,
                config_.wall_clock, config_.relays_experts,
                config_.probes_line},
               network_, links_);
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
  local_ = network_->local_addresses();
  for (const auto& also : config_.also_listen)
    if (const auto other = network_->listen(also))
      local_.push_back(*other);
    else if (failed.empty())
      failed = other.error();
  if (!failed.empty()) {
    self_->send(config_.observer, peer_over{failed, true});
    return;
  }
  bound_ = *bound;
  config_.introduction.listen_port = bound->port;
  config_.introduction.is_hub = is_hub();
  self_->send(config_.supervisor, gateway_ready{*bound, local_});
}

gateway_state::~gateway_state() {
  // Ends the transport's thread and drops its listener, which holds us alive.
  if (network_)
    network_->stop();
  // Only now: until then that thread notes frames that are to pass us.
  if (config_.guests)
    config_.guests->clear();
}

void gateway_state::on(const gateway_handles& w) {
  links_.wire(w);
  wired_ = w;
  if (bound_ && wired_.roster)
    self_->send(wired_.roster, gateway_ready{*bound_, local_});
  guests_.wire(w);
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
  if (guests_.tell(gone->peer, x))
    guests_.note_ways(gone->peer);
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
    guests_.tell(l->peer, x);
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
      guests_.welcome(x.id, *l, *theirs);
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

// ---- what others want -------------------------------------------------------

void gateway_state::on(const parcel& x) {
  guests_.tell(x.to, x);
}

void gateway_state::on(const call& x) {
  if (!guests_.tell(x.to.id, parcel{x.to.id, x.content, x.body}))
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
  const bool relayed = guests_.relayed(x.who.id);
  if (guests_.has(x.who.id) && !(relayed && dialable(x.who.where)))
    return; // It is connected, wherever that is.
  if (dialable(x.who.where))
    links_.dial(x.who.where, x.who.id,
                relayed ? std::vector<contact>{} : x.hubs, x.also);
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
  const bool open = is_open(x.kind);
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
  guests_.dismiss([this](const peer_id& id,
                         const std::string& run) { return is_banned(id, run); },
                  leave_run{ban_from(x.run)});
}

bool gateway_state::is_banned(const peer_id& who,
                              const std::string& run) const {
  auto bans = banned_.find(run);
  return bans != banned_.end() && bans->second.count(who) != 0;
}

void gateway_state::on(const drop_peer& x) {
  guests_.tell(x.id, leave_run{x.reason});
}

void gateway_state::on(const leave_run& x) {
  guests_.tell_all(x);
  links_.leave();
  if (links_.none())
    self_->quit();
}

void gateway_state::on(const tick&) {
  links_.look();
}

void gateway_state::on_down(const caf::down_msg& x) {
  guests_.ended(x.source);
}

void gateway_state::on(const traffic_seen& x) {
  if (config_.rests)
    network_->rest(config_.rests());
  guests_.on(x);
}

gateway_actor::behavior_type
gateway(gateway_actor::stateful_pointer<gateway_state> self,
        gateway_config config) {
  return behave<gateway_actor, gateway_state>(self, std::move(config));
}

} // namespace potluck
