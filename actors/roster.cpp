#include "actors/roster.hpp"

#include <utility>

#include "actors/behavior.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/membership/handshake.hpp"
#include "runtime/membership/limits.hpp"

namespace potluck {

namespace {

known_peers::line line_of(const peer_joined& x) {
  return {x.who, x.role, x.relayed, x.is_hub};
}

} // namespace

void roster_state::init(roster_actor::pointer self, roster_config config) {
  self_ = self;
  config_ = std::move(config);
  crier_.init(self);
  people_.emplace(known_peers::settings{config_.self, config_.role,
                                        config_.seeds, config_.pins,
                                        config_.hints, config_.seed},
                  now());
  contact_.emplace(config_.seeds, now());
  reach_.init(self,
              {config_.self, config_.role, config_.announce, config_.seed,
               config_.mapper},
              [this](bool matters) {
                people_->look_soon();
                if (in_a_run() && matters)
                  report_to(news_.all(people_->guests(), kept(), now()));
              });
  lookup_.emplace(config_.self, config_.role, config_.run, now());
}

// ---- telling the others

void roster_state::tell_of(const peer_joined& x) {
  auto news = x;
  news.routes = people_->guests().find(x.who.id)->routes;
  crier_.tell_everybody(news);
}

void roster_state::on(const roster_handles& w) {
  // Before the gateway is known nobody could be dialled.
  if (!wired_.gateway)
    self_->send(self_, tick{});
  wired_ = w;
  if (links_)
    tell(wired_.router, *links_);
  crier_.wire(w);
  reach_.wire(w);
  // Whoever is new hears who is here; to the others it is nothing new.
  for (auto& [id, x] : seats_.all())
    tell_of(x.news);
  duration max_age = news_.mine().contributes ? limits::members_report_life
                                              : limits::report_max_age;
  for (auto& report : people_->ledger().reports(now(), max_age))
    tell_report({report, people_->guests().find(report.id) != nullptr});
  if (lookup_->looked_up())
    tell(wired_.cell, run_looked_up{lookup_->records_stored()});
}

// ---- coming and going

void roster_state::on(const peer_joined& x, const session_actor& session) {
  const auto arrival = seats_.arrives(x, session);
  if (arrival == seats::arrival::again)
    return note_line(x);
  if (arrival == seats::arrival::changed) {
    // Its admission came, or ended: it is somebody else to us from here on.
    people_->starts_anew(x.who.id);
    crier_.tell_everybody(
        peer_left{x.who.id, "its admission has changed", true});
  }
  if (!people_->admits(line_of(x), now())) {
    self_->send(wired_.gateway, drop_peer{x.who.id, "not welcome for now"});
    return;
  }
  contact_->reached();
  // A peer that had lost everybody may be somewhere else now.
  reach_.seen_by(x, seats_.empty());
  if (x.dialled_us)
    reach_.came(x.who);
  const auto& guest = people_->joined(line_of(x), now());
  seats_.take(x, session);
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
  people_->moved(line_of(x), now());
  reach_.seen_by(x, false);
  tell_of(x);
  say({"way", {{"peer", short_name(x.who.id)}, {"relayed", x.relayed}}});
}

void roster_state::on_down(const caf::down_msg& x) {
  const auto seat = seats_.ended(x.source);
  if (!seat)
    return;
  // A normal exit carries no sentence: it is no error.
  peer_left news{seat->news.who.id, x.reason ? cause_of(x) : "said goodbye",
                 x.reason == caf::exit_reason::normal};
  news.unneeded = news.orderly && seat->unneeded;
  if (!news.orderly) // It may be on another side.
    lookup_->is_missing();
  people_->left(news.id, {news.orderly, news.unneeded}, oneself(), now());
  crier_.tell_everybody(news);
  say({"departure",
       {{"peer", short_name(news.id)},
        {"orderly", news.orderly},
        {"reason", news.reason}}});
}

void roster_state::on(const offence_seen& x) {
  if (x.who == config_.self || people_->ledger().is_banned(x.who, now()))
    return;
  auto proof
      = misconduct_.note(x.who, x.witness, x.occasion, x.evidence, now());
  if (!proof)
    return;
  people_->ban(x.who, now());
  self_->send(wired_.gateway, drop_peer{x.who, "banned: " + *proof});
  say({"ban", {{"peer", short_name(x.who)}, {"detail", *proof}}});
  // Others may not have seen enough of it, and invite it.
  tell(wired_.conductor, members_doubted{{x.who}, "banned", peer_ledger::ban});
}

// ---- dialling

void roster_state::dial(const contact& who) {
  auto way = people_->route_to(who, oneself());
  self_->send(wired_.gateway,
              dial_contact{std::move(way.who), std::move(way.hubs),
                           std::move(way.also)});
}

void roster_state::on(const links_wanted& x) {
  dial_choice::links wanted{x.everybody, x.newcomers, x.who, {x.farther}};
  for (const auto* who : {&x.nearer, &x.better}) {
    wanted.besides.push_back(who->id);
    if (!who->id.empty() && !people_->guests().find(who->id))
      dial(*who);
  }
  if (people_->want(std::move(wanted), news_.mine()))
    lookup_->start_over();
  news_.tell_cells_soon();
  links_ = x;
  tell(wired_.router, x);
}

void roster_state::on(const more_seeds& x) {
  for (auto& where : x.where)
    people_->add_hint(where, now());
}

void roster_state::on(const dial_failed& x) {
  contact_->dial_failed(x.reason);
  if (people_->dial_failed(x.where, x.expected, x.through_hub, now()))
    crier_.tell_everybody(peer_left{x.expected, "cannot be reached", false});
}

void roster_state::on(const peer_refused& x) {
  // It may have said hello first.
  const bool late = people_->is_here(x.where);
  if (late && people_->guests().all().size() == 1 && is_ban(x.sentence))
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
  auto heard = people_->heard(from, said, now());
  if (heard.has_address)
    tell(wired_.address_keeper, answered_at{{from, heard.report.where}, false});
  if (!heard.is_news)
    return;
  lookup_->heard(heard.report, now());
  if (heard.node == guest_book::change::routes)
    tell(wired_.router, seats_.at(from).news);
  else if (heard.node == guest_book::change::routes_no_more)
    tell(wired_.router, routes_no_more{from});
  tell_report({std::move(heard.report), true});
}

void roster_state::on(const records_looked_up& x) {
  using hearsay = known_peers::hearsay;
  auto finding = lookup_->found(x.records, x.stored, x.answers,
                                people_->guests().heard_anybody(), now());
  for (auto& [report, age] : finding.reports) {
    const auto verdict = people_->heard_of(report, age, oneself(), now());
    if (verdict == hearsay::old)
      continue;
    lookup_->heard(report, now());
    if (verdict == hearsay::of_guest)
      continue;
    tell_report({report, false});
    if (verdict == hearsay::beyond)
      crier_.tell_everybody(peer_left{report.id, "cannot be reached", false});
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
    people_->look_soon();
  if (change == report_news::change::ended) {
    report_to(news_.all(people_->guests(), kept(), now()));
    if (wired_.router && reach_.is_listening()
        && lookup_->publishes(situation(), now()))
      publish(); // A peer that comes now should know why everybody leaves.
  } else if (x.urgent) {
    report_to(news_.round(people_->guests(), kept(), now()));
  }
  if (x.report.charter.empty())
    lookup_->due_at(now());
}

void roster_state::report_to(const std::vector<peer_id>& whom) {
  auto where = reach_.where();
  if (!reach_.reachable())
    where.port = 0;
  news_.sign(config_.self, config_.role, where, reach_.also(), reach_.kind(),
             people_->guests().hubs());
  for (auto& id : whom)
    self_->send(seats_.at(id).session, parcel{id, news_.by(now()), {}});
}

void roster_state::publish() {
  report_to(news_.round(people_->guests(), kept(), now()));
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
  for (auto& who : people_->due(oneself(), now()))
    dial(who);
  for (auto& id : people_->surplus(oneself(), now())) {
    seats_.is_unneeded(id);
    self_->send(wired_.gateway, drop_peer{id, "hands its gradients to others"});
  }
  if (auto word
      = contact_->look(people_->ledger().most_failed_seed_dials(), now()))
    word->over ? self_->send(wired_.observer, peer_over{word->sentence, true})
               : say(fault_news("no contact yet", word->sentence));
  reach_.look(people_->choice().decided(), news_.mine().contributes,
              people_->guests());
  tell_address();
  if (in_a_run()) {
    if (news_.due(now()))
      report_to(news_.round(people_->guests(), kept(), now()));
    report_to(news_.cells(people_->guests(), kept(), now()));
    if (lookup_->due(now()) && wired_.router && reach_.is_listening()) {
      // Its members tell it enough.
      if (people_->choice().has_names(news_.mine()))
        lookup_->due_at(now() + limits::publish_interval);
      else
        publish();
    }
  }
  duration pause = people_->settled(oneself())
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
