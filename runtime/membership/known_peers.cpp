#include "runtime/membership/known_peers.hpp"

#include <algorithm>

#include "runtime/membership/line_way.hpp"

namespace potluck {

namespace {

peer_ledger::parting parting_of(const known_peers::farewell& x) {
  if (!x.orderly)
    return peer_ledger::parting::lost;
  return x.unneeded ? peer_ledger::parting::unneeded
                    : peer_ledger::parting::left;
}

/// Whether a report changes whom a peer dials that does not know yet whom it
/// needs.
bool changes_choice(const progress_report* before,
                    const progress_report& said) {
  return !before || before->charter != said.charter
         || before->contributes != said.contributes;
}

/// Whether a guest says for the first time that others can dial it where it is
/// seen, too.
bool shows_address(const guest_book::guest& guest,
                   const progress_report* before, const progress_report& said) {
  return is_open(said.reach)
         && (!before || before->reach != said.reach
             || before->where != said.where)
         && !guest.relayed && said.where.host == guest.who.where.host;
}

} // namespace

known_peers::known_peers(settings x, time_point now)
    : pins_(std::move(x.pins)), ledger_(x.self, x.seed),
      guests_(x.self, x.role) {
  for (const auto& seed : x.seeds)
    ledger_.add_seed(seed, now);
  for (const auto& hint : x.hints)
    ledger_.add_hint(hint, now);
}

// ---- coming and going

bool known_peers::admits(const line& x, time_point now) {
  return ledger_.connected(x.who, now, x.role == role::bootstrap);
}

const guest_book::guest& known_peers::joined(const line& x, time_point now) {
  const auto& guest = guests_.joined(x.who, x.role, now);
  guests_.line(x.who, x.relayed, x.is_hub);
  if (ledger_.is_seed(x.who.id))
    guests_.is_seed(x.who.id);
  return guest;
}

void known_peers::moved(const line& x, time_point now) {
  ledger_.connected(x.who, now, x.role == role::bootstrap);
  guests_.line(x.who, x.relayed, x.is_hub);
}

void known_peers::left(const peer_id& who, const farewell& how,
                       const oneself& me, time_point now) {
  guests_.left(who);
  choice_.look_soon_for(who, scene(me));
  if (!ledger_.is_banned(who, now))
    ledger_.disconnected(who, parting_of(how), now);
}

bool known_peers::is_here(const address& where) const {
  const auto& here = guests_.all();
  return std::any_of(here.begin(), here.end(),
                     [&](auto& g) { return g.second.who.where == where; });
}

// ---- reports

known_peers::hearing known_peers::heard(const peer_id& from,
                                        const progress_report& said,
                                        time_point now) {
  hearing result;
  const auto* guest = guests_.find(from);
  if (!guest || said.id != from)
    return result; // Nobody speaks for somebody else.
  auto& report = result.report;
  report = said;
  const auto* before = ledger_.last_report(from);
  if (!choice_.decided() && changes_choice(before, report))
    choice_.look_soon();
  if (report.where.host.empty())
    report.where = guest->who.where;
  result.has_address = shows_address(*guest, before, report);
  result.is_news = peer_ledger::is_news(ledger_.report(report, now));
  if (result.is_news)
    result.node = guests_.heard(report);
  return result;
}

known_peers::hearsay known_peers::heard_of(const progress_report& said,
                                           duration age, const oneself& me,
                                           time_point now) {
  if (guests_.find(said.id))
    return hearsay::of_guest;
  const auto verdict = ledger_.report(said, now, age);
  if (!peer_ledger::is_news(verdict))
    return hearsay::old;
  if (verdict == peer_ledger::verdict::added || said.phase != phase::joining)
    choice_.look_soon_for(said.id, scene(me));
  return way_to(said, me.reachable) == line_way::none ? hearsay::beyond
                                                      : hearsay::in_reach;
}

// ---- dialling

known_peers::route known_peers::route_to(const contact& who,
                                         const oneself& me) const {
  const auto* said = ledger_.last_report(who.id);
  if (!said) {
    // Of a seed the user may know who has to answer.
    const auto pin = pins_.find(who.where);
    const bool pinned = who.id.empty() && pin != pins_.end();
    return {pinned ? contact{pin->second, who.where} : who};
  }
  const bool only = way_to(*said, me.reachable) == line_way::through_hub;
  return {{who.id, only ? address{} : who.where},
          dial_choice::hubs(*said, me.host, guests_),
          only ? address{} : said->also};
}

void known_peers::answered(const address& where, const peer_id& who,
                           time_point now) {
  ledger_.reached(where, who, now);
  if (ledger_.is_seed(who))
    guests_.is_seed(who);
}

bool known_peers::dial_failed(const address& where, const peer_id& expected,
                              bool through_hub, time_point now) {
  choice_.look_soon();
  ledger_.dial_failed({expected, where}, now);
  if (pins_.count(where) != 0)
    ledger_.dial_failed({{}, where}, now); // It was dialled as a seed.
  // A hub may lead to it.
  const auto* said = ledger_.last_report(expected);
  const bool all_tried = said && (through_hub || said->hubs.empty());
  return all_tried && !guests_.find(expected);
}

} // namespace potluck
