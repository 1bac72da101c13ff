#include "actors/roster.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/line_way.hpp"

namespace potluck {

namespace {

using parting = peer_ledger::parting;

parting why(const peer_left& x) {
  if (!x.orderly)
    return parting::lost;
  return x.unneeded ? parting::unneeded : parting::left;
}

} // namespace

void roster_state::init(roster_actor::pointer self, roster_config config) {
  self_ = self;
  config_ = std::move(config);
  ledger_.emplace(config_.self, config_.seed);
  for (auto& seed : config_.seeds)
    ledger_->add_seed(seed, now());
  for (auto& hint : config_.hints)
    ledger_->add_hint(hint, now());
  guests_.emplace(config_.self, config_.role);
  contact_.emplace(config_.seeds, now());
  reach_.init(self,
              {config_.self, config_.role, config_.announce, config_.seed,
               config_.mapper},
              [this](bool matters) {
                dialling_.look_soon();
                if (in_a_run() && matters)
                  report_to(news_.all(*guests_, kept(), now()));
              });
  lookup_.emplace(config_.self, config_.role, config_.run, now());
}

// ---- telling the others

template <class News>
void roster_state::tell_everybody(const News& news) {
  const auto& w = wired_;
  auto all = [&](const auto&... listeners) { (tell(listeners, news), ...); };
  all(w.router, w.address_keeper, w.charter_shelf, w.hole_maker, w.registrar,
      w.admission_keeper, w.artifact_keeper, w.state_keeper, w.cell,
      w.conductor, w.matchmaking, w.averager, w.expert_host, w.expert_caller,
      w.amendment_keeper, w.history_keeper, w.beside);
}

void roster_state::tell_of(const peer_joined& x) {
  auto news = x;
  news.routes = guests_->find(x.who.id)->routes;
  tell_everybody(news);
}

void roster_state::tell_address() {
  if (reach_.where() == told_address_)
    return;
  told_address_ = reach_.where();
  ledger_->is_seen_at(told_address_.host);
  tell(wired_.expert_host, reachable_at{told_address_});
  tell(wired_.address_keeper, reachable_at{told_address_});
  tell(wired_.beside, reachable_at{told_address_});
}

void roster_state::tell_conductors(const report_heard& x) {
  // With the charter here, the registrar has nothing to find out any more.
  if (news_.mine().charter.empty())
    tell(wired_.registrar, x);
  tell(wired_.hole_maker, x);
  tell(wired_.cell, x);
  tell(wired_.conductor, x);
}

void roster_state::on(const roster_handles& w) {
  // Before the gateway is known nobody could be dialled.
  if (!wired_.gateway)
    self_->send(self_, tick{});
  wired_ = w;
  if (links_)
    tell(wired_.router, *links_);
  told_address_ = {}; // Whoever hears it may be new.
  reach_.wire(w);
  // Whoever is new hears who is here; to the others it is nothing new.
  for (auto& [id, x] : seats_)
    tell_of(x.news);
  duration max_age = news_.mine().contributes ? limits::members_report_life
                                              : limits::report_max_age;
  for (auto& report : ledger_->reports(now(), max_age))
    tell_conductors({report, guests_->find(report.id) != nullptr});
  if (lookup_->looked_up())
    tell(wired_.cell, run_looked_up{lookup_->records_stored()});
}

// ---- coming and going

void roster_state::on(const peer_joined& x, const session_actor& session) {
  if (auto seat = seats_.find(x.who.id);
      seat != seats_.end() && seat->second.session == session) {
    if (seat->second.news.role == x.role)
      return note_line(x);
    // Its admission came, or ended: it is somebody else to us from here on.
    sessions_.erase(session.address());
    seats_.erase(seat);
    guests_->left(x.who.id);
    tell_everybody(peer_left{x.who.id, "its admission has changed", true});
  }
  if (!ledger_->connected(x.who, now(), x.role == role::bootstrap)) {
    self_->send(wired_.gateway, drop_peer{x.who.id, "not welcome for now"});
    return;
  }
  contact_->reached();
  // A peer that had lost everybody may be somewhere else now.
  reach_.seen_by(x, seats_.empty());
  if (x.dialled_us)
    reach_.came(x.who);
  const auto& guest = guests_->joined(x.who, x.role, now());
  guests_->line(x.who, x.relayed, x.is_hub);
  if (ledger_->is_seed(x.who.id))
    guests_->is_seed(x.who.id);
  seats_[x.who.id] = {x, session};
  sessions_[session.address()] = x.who.id;
  self_->monitor(session);
  tell_address(); // Before they begin what takes one.
  tell_of(x);
  say({"join",
       {{"peer", short_name(x.who.id)},
        {"role", to_string(x.role)},
        {"address", x.relayed ? std::string{"by way of a hub"}
                              : to_string(x.who.where)}}});
  if (in_a_run() && news_.hears(guest))
    report_to({x.who.id});
}

void roster_state::note_line(const peer_joined& x) {
  seats_.at(x.who.id).news = x;
  ledger_->connected(x.who, now(), x.role == role::bootstrap);
  guests_->line(x.who, x.relayed, x.is_hub);
  reach_.seen_by(x, false);
  tell_of(x);
  say({"way", {{"peer", short_name(x.who.id)}, {"relayed", x.relayed}}});
}

void roster_state::on_down(const caf::down_msg& x) {
  auto found = sessions_.find(x.source);
  if (found == sessions_.end())
    return;
  // A normal exit carries no sentence: it is no error.
  peer_left news{found->second, x.reason ? cause_of(x) : "said goodbye",
                 x.reason == caf::exit_reason::normal};
  sessions_.erase(found);
  auto seat = seats_.find(news.id);
  if (seat == seats_.end() || seat->second.session.address() != x.source)
    return; // It has come back with another session.
  news.unneeded = news.orderly && seat->second.unneeded;
  seats_.erase(seat);
  guests_->left(news.id);
  if (!news.orderly) // It may be on another side.
    lookup_->is_missing();
  dialling_.look_soon_for(news.id, scene());
  if (!ledger_->is_banned(news.id, now()))
    ledger_->disconnected(news.id, why(news), now());
  tell_everybody(news);
  say({"departure",
       {{"peer", short_name(news.id)},
        {"orderly", news.orderly},
        {"reason", news.reason}}});
}

void roster_state::on(const offence_seen& x) {
  if (x.who == config_.self || ledger_->is_banned(x.who, now()))
    return;
  auto proof
      = misconduct_.note(x.who, x.witness, x.occasion, x.evidence, now());
  if (!proof)
    return;
  ledger_->disconnected(x.who, parting::misbehaved, now());
  self_->send(wired_.gateway, drop_peer{x.who, "banned: " + *proof});
  say({"ban", {{"peer", short_name(x.who)}, {"detail", *proof}}});
  // Others may not have seen enough of it, and invite it.
  tell(wired_.conductor, members_doubted{{x.who}, "banned", peer_ledger::ban});
}

// ---- dialling

void roster_state::dial(const contact& who) {
  auto said = ledger_->last_report(who.id);
  if (said == nullptr) {
    // Of a seed the user may know who has to answer.
    auto pin = config_.pins.find(who.where);
    const bool pinned = who.id.empty() && pin != config_.pins.end();
    return self_->send(
        wired_.gateway,
        dial_contact{pinned ? contact{pin->second, who.where} : who});
  }
  const bool only = way_to(*said, reach_.reachable()) == line_way::through_hub;
  self_->send(
      wired_.gateway,
      dial_contact{{who.id, only ? address{} : who.where},
                   dial_choice::hubs(*said, reach_.where().host, *guests_),
                   only ? address{} : said->also});
}

void roster_state::on(const links_wanted& x) {
  dial_choice::links wanted{x.everybody, x.newcomers, x.who, {x.farther}};
  for (const auto* who : {&x.nearer, &x.better}) {
    wanted.besides.push_back(who->id);
    if (!who->id.empty() && !guests_->find(who->id))
      dial(*who);
  }
  if (dialling_.want(std::move(wanted), news_.mine()))
    lookup_->start_over();
  guests_->newcomers_route(x.newcomers);
  news_.tell_cells_soon();
  links_ = x;
  tell(wired_.router, x);
}

void roster_state::on(const more_seeds& x) {
  for (auto& where : x.where)
    ledger_->add_hint(where, now());
}

void roster_state::on(const dial_failed& x) {
  contact_->dial_failed(x.reason);
  dialling_.look_soon();
  ledger_->dial_failed({x.expected, x.where}, now());
  if (config_.pins.count(x.where) != 0)
    ledger_->dial_failed({{}, x.where}, now()); // It was dialled as a seed.
  // Nobody must wait for a peer that cannot be reached, whatever records say;
  // but a hub may lead to it.
  auto said = ledger_->last_report(x.expected);
  const bool all_tried = said && (x.through_hub || said->hubs.empty());
  if (all_tried && !guests_->find(x.expected))
    tell_everybody(peer_left{x.expected, "cannot be reached", false});
}

void roster_state::on(const peer_refused& x) {
  // It may have said hello first.
  const auto& here = guests_->all();
  const bool late = std::any_of(here.begin(), here.end(), [&](auto& g) {
    return g.second.who.where == x.where;
  });
  if (late && here.size() == 1 && is_ban(x.sentence))
    contact_->lost();
  if (x.dialled && contact_->is_refused_by_all(x.where, x.sentence))
    self_->send(wired_.observer, peer_over{x.sentence, !is_ban(x.sentence)});
  else if (!late)
    say({"fault",
         {{"peer", to_string(x.where)},
          {"what", std::string{x.dialled ? "refused us" : "refused by us"}},
          {"detail", x.sentence}}});
}

// ---- reports

void roster_state::read(const peer_id& from, const progress_report& said,
                        const shared_bytes&) {
  auto guest = guests_->find(from);
  if (!guest || said.id != from)
    return; // Nobody speaks for somebody else.
  auto report = said;
  auto before = ledger_->last_report(from);
  if (!dialling_.decided()
      && (!before || before->charter != report.charter
          || before->contributes != report.contributes))
    dialling_.look_soon();
  if (report.where.host.empty())
    report.where = guest->who.where;
  if ((report.reach == reach::open || report.reach == reach::mapped)
      && (!before || before->reach != report.reach
          || before->where != report.where)
      && !guest->relayed && report.where.host == guest->who.where.host)
    tell(wired_.address_keeper, answered_at{{from, report.where}, false});
  if (!peer_ledger::is_news(ledger_->report(report, now())))
    return;
  lookup_->heard(report, now());
  auto change = guests_->heard(report);
  if (change == guest_book::change::routes)
    tell(wired_.router, seats_.at(from).news);
  else if (change == guest_book::change::routes_no_more)
    tell(wired_.router, routes_no_more{from});
  tell_conductors({report, true});
}

void roster_state::on(const records_looked_up& x) {
  auto finding = lookup_->found(x.records, x.stored, x.answers,
                                guests_->heard_anybody(), now());
  for (auto& [report, age] : finding.reports) {
    if (guests_->find(report.id)) { // It tells us the rest itself.
      lookup_->heard(report, now());
      continue;
    }
    auto verdict = ledger_->report(report, now(), age);
    if (!peer_ledger::is_news(verdict))
      continue;
    lookup_->heard(report, now());
    if (verdict == peer_ledger::verdict::added
        || report.phase != phase::joining)
      dialling_.look_soon_for(report.id, scene());
    tell_conductors({report, false});
    if (way_to(report, reach_.reachable()) == line_way::none)
      tell_everybody(peer_left{report.id, "cannot be reached", false});
    else
      lookup_->is_missing();
  }
  if (finding.first)
    tell(wired_.cell, run_looked_up{lookup_->records_stored()});
  // Whoever founds a run has to know all that would.
  if (finding.whole)
    tell(wired_.registrar, x);
}

void roster_state::on(const own_report& x) {
  // It gets whole gradients from here on.
  if (std::exchange(sponsor_, x.report.sponsor) != x.report.sponsor
      && !sponsor_.empty() && wired_.gateway)
    self_->send(wired_.gateway, no_strangers{{sponsor_}});
  news_.leads(x.leader);
  auto change = news_.take(x.report, now());
  if (change == report_news::change::person)
    dialling_.look_soon();
  if (change == report_news::change::ended) {
    report_to(news_.all(*guests_, kept(), now()));
    if (wired_.router && reach_.is_listening()
        && lookup_->publishes(situation(), now()))
      publish(); // A peer that comes now should know why everybody leaves.
  } else if (x.urgent) {
    report_to(news_.round(*guests_, kept(), now()));
  }
  if (x.report.charter.empty())
    lookup_->due_at(now());
}

void roster_state::report_to(const std::vector<peer_id>& whom) {
  auto where = reach_.where();
  if (!reach_.reachable())
    where.port = 0;
  news_.sign(config_.self, config_.role, where, reach_.also(), reach_.kind(),
             guests_->hubs());
  for (auto& id : whom)
    self_->send(seats_.at(id).session, parcel{id, news_.by(now()), {}});
}

void roster_state::publish() {
  report_to(news_.round(*guests_, kept(), now()));
  auto turn = lookup_->take_turn(situation(), now());
  if (turn.publish)
    self_->send(wired_.router,
                publish_record{*turn.publish, limits::report_copies});
  if (auto& x = turn.look_up)
    self_->send(wired_.router,
                look_up_records{x->key, caf::actor_cast<roster_actor>(self_),
                                std::move(x->known), x->most, x->matters});
}

void roster_state::on(const tick&) {
  for (auto& who : dialling_.due(*ledger_, scene(), now()))
    dial(who);
  for (auto& id : dialling_.surplus(scene(), now())) {
    seats_.at(id).unneeded = true;
    self_->send(wired_.gateway, drop_peer{id, "hands its gradients to others"});
  }
  if (auto word = contact_->look(ledger_->most_failed_seed_dials(), now()))
    word->over
        ? self_->send(wired_.observer, peer_over{word->sentence, true})
        : say({"fault",
               {{"what", "no contact yet"}, {"detail", word->sentence}}});
  reach_.look(dialling_.decided(), news_.mine().contributes, *guests_);
  tell_address();
  if (in_a_run()) {
    if (news_.due(now()))
      report_to(news_.round(*guests_, kept(), now()));
    report_to(news_.cells(*guests_, kept(), now()));
    if (lookup_->due(now()) && wired_.router && reach_.is_listening()) {
      if (dialling_.has_names(news_.mine())) // Its members tell it enough.
        lookup_->due_at(now() + limits::publish_interval);
      else
        publish();
    }
  }
  duration pause = dialling_.settled(scene())
                       ? until_next_look(now(), look_pause_, config_.self)
                       : duration{limits::roster_interval};
  if (strikes(fault_point::roster_late))
    pause += std::chrono::seconds{1};
  self_->delayed_send(self_, pause, tick{});
}

roster_actor::behavior_type
roster(roster_actor::stateful_pointer<roster_state> self,
       roster_config config) {
  return behave<roster_actor, roster_state>(self, std::move(config));
}

} // namespace potluck
