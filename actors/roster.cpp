#include "actors/roster.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "messages/codec.hpp"
#include "runtime/ways/cells/cell_choice.hpp"
#include "runtime/config.hpp"
#include "runtime/dht/routing_table.hpp"

namespace potluck {

namespace {

bool any_interface(const std::string& host) {
  return host.empty() || host == "0.0.0.0" || host == "::";
}

/// The sentence that a session ended with. A normal exit carries none: its
/// reason is no error.
std::string reason_of(const caf::down_msg& x) {
  if (!x.reason)
    return "said goodbye";
  if (x.reason.context().match_elements<std::string>())
    return x.reason.context().get_as<std::string>(0);
  return caf::actor_system_config::render(x.reason);
}

bool loopback(const std::string& host) {
  return host == "::1" || host == "localhost" || host.rfind("127.", 0) == 0;
}

} // namespace

void roster_state::init(roster_actor::pointer self, roster_config config) {
  self_ = self;
  config_ = std::move(config);
  began_ = self_->clock().now();
  next_publication_ = began_;
  ledger_.emplace(config_.self, config_.seed);
  for (auto& seed : config_.seeds)
    ledger_->add_seed(seed, began_);
}

// ---- telling
// ---------------------------------------------------------------------

bool roster_state::routes(const peer_joined& x) const {
  auto guest = guests_.find(x.who.id);
  return guest == guests_.end() || guest->second.routes;
}

bool roster_state::newcomers_route() const {
  if (links_ && !links_->newcomers)
    return false;
  return routing_ < bucket_size;
}

void roster_state::note(const peer_id& id, guest& g, bool contributes,
                        bool routes) {
  if (contributes)
    near_.erase(id);
  else
    near_.insert(id);
  g.contributes = contributes;
  routing_ += routes;
  routing_ -= g.routes;
  g.routes = routes;
}

template <class News>
void roster_state::tell_everybody(const News& news) {
  auto tell = [&](const auto& listener) {
    if (listener)
      self_->send(listener, news);
  };
  if (routes(news))
    tell(wired_.router);
  tell(wired_.registrar);
  tell(wired_.state_keeper);
  tell(wired_.cell);
  tell(wired_.conductor);
  tell(wired_.matchmaking);
  tell(wired_.averager);
  tell(wired_.expert_host);
  tell(wired_.expert_caller);
}

void roster_state::tell_conductors(const report_heard& x) {
  // With the charter here, the registrar has nothing to find out any more.
  if (wired_.registrar && mine_.report.charter.empty())
    self_->send(wired_.registrar, x);
  if (wired_.cell)
    self_->send(wired_.cell, x);
  if (wired_.conductor)
    self_->send(wired_.conductor, x);
}

void roster_state::on(const wiring& w) {
  // Before the gateway is known nobody could be dialled.
  if (!wired_.gateway)
    self_->send(self_, tick{});
  wired_ = w;
  if (links_ && wired_.router)
    self_->send(wired_.router, *links_);
  told_address_ = {}; // The host may be a new one.
  tell_reach();
  // Whoever is new hears who is here; to the others it is nothing new.
  for (auto& [id, g] : guests_)
    tell_everybody(g.news);
  duration max_age = mine_.report.contributes ? limits::members_report_life
                                              : limits::report_max_age;
  for (auto& report : ledger_->reports(self_->clock().now(), max_age))
    tell_conductors({report, guests_.count(report.id) != 0});
  if (looked_up_ && wired_.cell)
    self_->send(wired_.cell, run_looked_up{published_});
}

// ---- coming and going
// ----------------------------------------------------------------

void roster_state::on(const peer_joined& x, const session_actor& session) {
  auto now = self_->clock().now();
  if (!ledger_->connected(x.who, x.role, now)) {
    self_->send(wired_.gateway, drop_peer{x.who.id, "not welcome for now"});
    return;
  }
  reached_anybody_ = true;
  // Who had lost everybody may be somewhere else now.
  if (seen_host_.empty() || loopback(seen_host_) || guests_.empty())
    seen_host_ = x.seen_host;
  if (x.dialled_us) {
    reach_.came(x.who.id, now);
    note_reach();
  }
  // A contributor says so with its first report, which trainers hear at once:
  // who named it to others meanwhile would have them call at it.
  auto routes = x.role != role::trainer
                || (config_.role != role::trainer && newcomers_route());
  auto& g = guests_[x.who.id];
  note(x.who.id, g, false, routes);
  g.news = x;
  g.session = session;
  g.since = now;
  sessions_[session.address()] = x.who.id;
  self_->monitor(session);
  tell_everybody(x);
  self_->send(wired_.observer, event{"join",
                                     {{"peer", short_name(x.who.id)},
                                      {"role", to_string(x.role)},
                                      {"address", to_string(x.who.where)}}});
  if (in_a_run()) {
    write_report();
    tell_mine(g);
  }
}

void roster_state::on_down(const caf::down_msg& x) {
  auto found = sessions_.find(x.source);
  if (found == sessions_.end())
    return;
  peer_left news;
  news.id = found->second;
  news.orderly = x.reason == caf::exit_reason::normal;
  news.reason = reason_of(x);
  sessions_.erase(found);
  auto guest = guests_.find(news.id);
  if (guest == guests_.end() || guest->second.session.address() != x.source)
    return; // It has come back with another session.
  note(news.id, guest->second, false, false);
  near_.erase(news.id);
  guests_.erase(guest);
  acquainted_ = acquainted_ && news.orderly; // It may be on another side.
  dial_sooner(news.id);
  auto now = self_->clock().now();
  if (!ledger_->is_banned(news.id, now))
    ledger_->disconnected(news.id,
                          news.orderly ? peer_ledger::parting::left
                                       : peer_ledger::parting::lost,
                          now);
  tell_everybody(news);
  self_->send(wired_.observer, event{"departure",
                                     {{"peer", short_name(news.id)},
                                      {"orderly", news.orderly},
                                      {"reason", news.reason}}});
}

void roster_state::on(const offence_seen& x) {
  auto now = self_->clock().now();
  if (x.who == config_.self || ledger_->is_banned(x.who, now))
    return;
  auto proof = misconduct_.note(x.who, x.witness, x.occasion, x.evidence, now);
  if (!proof)
    return;
  ledger_->disconnected(x.who, peer_ledger::parting::misbehaved, now);
  self_->send(wired_.gateway, drop_peer{x.who, "banned: " + *proof});
  self_->send(wired_.observer,
              event{"ban", {{"peer", short_name(x.who)}, {"detail", *proof}}});
  // Others may not have seen enough of it, and invite it.
  if (wired_.conductor)
    self_->send(wired_.conductor,
                members_doubted{{x.who}, "banned", peer_ledger::ban});
}

void roster_state::on(const gateway_ready& x) {
  listening_ = x.bound;
}

// ---- reports
// -----------------------------------------------------------------------------

void roster_state::on(const letter& x) {
  if (auto said = std::get_if<progress_report>(&x.content))
    read(x.from, *said);
  else if (auto request = std::get_if<reach_request>(&x.content))
    read(x.from, *request);
  else if (auto answer = std::get_if<reach_answer>(&x.content))
    read(x.from, *answer);
}

void roster_state::read(const peer_id& from, const progress_report& said) {
  auto guest = guests_.find(from);
  if (guest == guests_.end() || said.id != from)
    return; // Nobody speaks for somebody else.
  auto report = said;
  auto before = ledger_->last_report(from);
  if (!links_
      && (!before || before->charter != report.charter
          || before->contributes != report.contributes))
    next_dialling_ = {};
  if (report.where.host.empty())
    report.where = guest->second.news.who.where;
  auto verdict = ledger_->report(report, self_->clock().now());
  if (verdict != peer_ledger::verdict::added
      && verdict != peer_ledger::verdict::known)
    return;
  note_charter(report);
  auto& g = guest->second;
  const auto first = !std::exchange(g.heard, true);
  // Who contributes closes what it does not need: nobody should look for
  // records there.
  auto routes
      = !report.contributes
        && (g.routes || report.phase != phase::joining || newcomers_route());
  // It may have been a node when it was here before.
  const auto known_for_one = g.routes || (first && report.contributes);
  if (wired_.router && routes && !g.routes)
    self_->send(wired_.router, g.news);
  else if (wired_.router && !routes && known_for_one)
    self_->send(wired_.router, routes_no_more{from});
  note(from, g, report.contributes, routes);
  g.in_own_cell = report.contributes && report.sponsor == config_.self;
  tell_conductors({report, true});
}

void roster_state::on(const records_looked_up& x) {
  auto now = self_->clock().now();
  looking_up_ = false;
  const auto partial = asked_for_ != 0 && x.records.size() >= asked_for_;
  published_ = partial ? x.stored : 0;
  acquainted_
      = !partial && (!x.records.empty() || (x.answers > 0 && heard_anybody()));
  for (auto& record : x.records) {
    auto report = decode_progress(record.value);
    if (!report || report->id == config_.self
        || record.subkey
               != std::string(report->id.bytes.begin(), report->id.bytes.end()))
      continue;
    auto left = std::chrono::milliseconds{record.lives_ms};
    auto age = std::max<duration>(limits::report_life - left, duration::zero());
    auto verdict = ledger_->report(*report, now, age);
    if (verdict != peer_ledger::verdict::added
        && verdict != peer_ledger::verdict::known)
      continue;
    note_charter(*report);
    auto connected = guests_.count(report->id) != 0;
    if (!connected
        && (verdict == peer_ledger::verdict::added
            || report->phase != phase::joining))
      dial_sooner(report->id);
    const auto apart
        = !connected && !told_reachable_ && report->where.port == 0;
    acquainted_ = acquainted_ && (connected || apart);
    tell_conductors({*report, connected});
    if (apart) // Neither can dial the other.
      tell_everybody(peer_left{report->id, "cannot be reached", false});
  }
  if (!looked_up_ && x.answers > 0) {
    looked_up_ = true;
    next_publication_ = now; // Of this peer, if there is no run yet.
    if (wired_.cell)
      self_->send(wired_.cell, run_looked_up{published_});
  }
  // Who founds a run has to know all who would.
  if (wired_.registrar && !partial)
    self_->send(wired_.registrar, x);
}

address roster_state::own_address() const {
  if (!config_.announce.host.empty())
    return config_.announce;
  if (!any_interface(listening_.host))
    return listening_;
  return {seen_host_, listening_.port};
}

void roster_state::on(const tick&) {
  auto now = self_->clock().now();
  dial_who_is_due();
  if (now >= next_forgetting_) {
    next_forgetting_ = now + limits::forgetting_interval;
    ledger_->forget_stale(now);
  }
  if (now >= next_tidying_) {
    next_tidying_ = now + limits::tidying_interval;
    close_surplus();
  }
  check_first_contact();
  ask_for_reach();
  if (wired_.expert_host && own_address() != told_address_) {
    told_address_ = own_address();
    self_->send(wired_.expert_host, reachable_at{told_address_});
  }
  if (in_a_run()) {
    if (report_due_)
      spread_report();
    tell_cells();
    if (now >= next_publication_ && wired_.router && listening_.port != 0) {
      if (has_names()) {
        // Its members tell it enough; the DHT is for those who look for any.
        next_publication_ = now + limits::publish_interval;
      } else {
        publish();
      }
    }
  }
  self_->delayed_send(self_,
                      settled_contributor()
                          ? until_next_look(now, pace_.look, config_.self)
                          : duration{limits::roster_interval},
                      tick{});
}

void roster_state::note_charter(const progress_report& x) {
  if (!x.charter.empty())
    charter_heard_at_ = self_->clock().now();
}

roster_actor::behavior_type
roster(roster_actor::stateful_pointer<roster_state> self,
       roster_config config) {
  return behave<roster_actor, roster_state>(self, std::move(config));
}

} // namespace potluck
