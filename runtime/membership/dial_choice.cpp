#include "runtime/membership/dial_choice.hpp"

#include <algorithm>

#include "runtime/dialable.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/membership/line_way.hpp"
#include "runtime/ways/cells/cell_choice.hpp"

namespace potluck {

bool dial_choice::want(links x, const progress_report& mine) {
  const bool all_from_now = x.everybody && (!links_ || wants_few(mine));
  links_ = std::move(x);
  look_soon();
  return all_from_now;
}

bool dial_choice::wants_few(const progress_report& mine) const {
  return mine.contributes && links_ && !links_->everybody;
}

bool dial_choice::has_names(const progress_report& mine) const {
  return wants_few(mine) && links_->who.size() >= cell_choice::links;
}

bool dial_choice::lacks_hub(const scene& x) {
  return !x.reachable && x.guests.hubs().empty();
}

bool dial_choice::settled(const scene& x) const {
  return wants_few(x.mine) && !lacks_hub(x)
         && cell_choice::linked(links_->who, x.guests.all());
}

bool dial_choice::named(const peer_id& id) const {
  auto among = [&](const std::vector<peer_id>& ids) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  return among(links_->who) || among(links_->besides);
}

bool dial_choice::keeps(const peer_id& id, const progress_report& mine) const {
  return !wants_few(mine) || named(id);
}

bool dial_choice::wants(const peer_id& id, const scene& x) const {
  if (id.empty()) // A seed; a peer with a sponsor finds others through it.
    return !wants_few(x.mine) || !x.guests.find(x.mine.sponsor) || lacks_hub(x);
  auto said = x.ledger.last_report(id);
  if (said) {
    if (said->contributes) // It says itself whom it needs.
      return false;
    const auto way = way_to(*said, x.reachable);
    if (way != line_way::we_dial && way != line_way::through_hub)
      return false;
  }
  if (!links_)
    return may_know_charter(said, x);
  return named(id)
         || (links_->everybody
             && (links_->newcomers || !said || said->phase != phase::joining));
}

std::vector<contact> dial_choice::hubs(const progress_report& said,
                                       const std::string& own,
                                       const guest_book& guests) {
  std::vector<contact> result;
  for (auto& hub : said.hubs)
    if (guests.find(hub.id) || is_public(hub.where.host) || !is_public(own))
      result.push_back(hub);
  // It may have told others before it told of its hubs, or name those that we
  // cannot dial. A hub of ours that does not know it says so at once.
  for (auto& hub : guests.hubs())
    if (hub.id != said.id
        && std::none_of(result.begin(), result.end(),
                        [&](auto& x) { return x.id == hub.id; }))
      result.push_back(hub);
  return result;
}

bool dial_choice::may_know_charter(const progress_report* said,
                                   const scene& x) const {
  std::size_t trainers = 0;
  std::size_t knowing = 0;
  for (auto& [other, g] : x.guests.all()) {
    trainers += g.role == role::trainer;
    auto heard = x.ledger.last_report(other);
    knowing += heard && !heard->charter.empty();
    if (trainers >= limits::trainers_asked && knowing > 0)
      return false;
  }
  return trainers < limits::trainers_asked
         || (said && !said->charter.empty() && knowing == 0);
}

std::vector<peer_id> dial_choice::surplus(const scene& x, time_point now) {
  std::vector<peer_id> result;
  if (now < next_tidying_ || !wants_few(x.mine))
    return result;
  next_tidying_ = now + limits::tidying_interval;
  // A bootstrap peer keeps its connections for those that have nobody else, and
  // a seed would be dialled again.
  const auto whole = settled(x);
  // Who cannot be dialled is found through its hubs: one, and one more.
  auto hubs = x.reachable && x.sure ? std::vector<contact>{} : x.guests.hubs();
  hubs.resize(std::min(hubs.size(), limits::hubs_kept));
  for (auto& [id, g] : x.guests.all()) {
    const auto& who = g.who.id;
    const bool kept = std::any_of(hubs.begin(), hubs.end(),
                                  [&](auto& hub) { return hub.id == who; });
    const bool named_by_user = g.role == role::bootstrap || g.is_seed;
    if (!kept && (!named_by_user || whole)
        && now - g.since > limits::surplus_age && !named(id))
      result.push_back(id);
  }
  return result;
}

void dial_choice::look_soon_for(const peer_id& id, const scene& x) {
  // Before the charter is known, everybody's news matters to whom it wants.
  if (!links_ || wants(id, x))
    look_soon();
}

std::vector<contact> dial_choice::due(peer_ledger& ledger, const scene& x,
                                      time_point now) {
  const duration rest = limits::dialling_rest_a_peer
                        * static_cast<duration::rep>(ledger.size());
  // A settled contributor needs nobody, the seeds included.
  if (now < std::max(next_look_, last_look_ + rest) || settled(x))
    return {};
  last_look_ = now;
  ledger.forget_stale(now);
  auto result
      = ledger.due_for_dial(now, limits::dials_at_once,
                            [&](const peer_id& id) { return wants(id, x); });
  if (result.size() == limits::dials_at_once)
    return result; // There may be more.
  next_look_
      = now
        + std::max<duration>(limits::dialling_interval,
                             ledger.size() * limits::dialling_pause_a_peer);
  if (auto next = ledger.next_dial(now))
    next_look_ = std::min(next_look_, *next);
  return result;
}

} // namespace potluck
