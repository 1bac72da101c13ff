#include "runtime/membership/report_news.hpp"

#include <algorithm>

#include "messages/limits.hpp"
#include "runtime/fault_points.hpp"
#include "runtime/membership/limits.hpp"
#include "runtime/ways/cells/cell_tally.hpp"
#include "runtime/ways/cells/contributor_pace.hpp"

namespace potluck {

namespace {

/// What it is told takes a hub, or is for one.
bool is_spared(const guest_book::guest& g) {
  return g.relayed || g.role != role::trainer;
}

} // namespace

void report_news::sign(const peer_id& self, role own, const address& where,
                       const address& also, reach how,
                       std::vector<contact> hubs) {
  // Whoever can be dialled needs none.
  const bool open = is_open(how);
  mine_.hubs = open ? std::vector<contact>{} : std::move(hubs);
  mine_.id = self;
  mine_.role = own;
  mine_.where = where;
  mine_.also = also;
  mine_.reach = how;
}

report_news::change report_news::take(const progress_report& x,
                                      time_point now) {
  const auto before = std::exchange(mine_, x);
  // A peer that comes has little to tell but how far it is: others may wait for
  // it.
  const bool was_joining = before.phase == phase::joining;
  const bool person
      = x.charter != before.charter || x.contributes != before.contributes;
  if (was_joining
      && (x.phase != before.phase || x.step != before.step || person))
    last_round_.reset();
  // A leader waits for a peer that falls behind, if it knows: a run with steps
  // as short as the pause between two rounds may leave it behind for ever.
  if (x.phase != phase::joining || !was_joining)
    leaders_due_ = true;
  since_ = now;
  due_ = partners_due_ = relayed_due_ = true;
  if (x.phase == phase::finished && before.phase != phase::finished)
    return change::ended;
  return person ? change::person : change::usual;
}

progress_report report_news::by(time_point now) const {
  auto result = mine_;
  if (result.contributes && result.phase == phase::accumulating) {
    auto age = std::min<duration>(now - since_, limits::longest_look);
    auto more = samples_since(result.samples, result.samples_per_second, age);
    result.samples = std::min(
        result.samples + static_cast<std::uint64_t>(std::min(more, 1e18)),
        max_samples);
  }
  return result;
}

void report_news::say_again(time_point now) {
  if (last_round_ && now - *last_round_ >= limits::report_again)
    due_ = true;
  if (now - relayed_.at >= limits::report_again)
    relayed_due_ = true;
}

bool report_news::hears(const guest_book::guest& g) const {
  // An expert has no use for it. A bootstrap peer only has to know whom not to
  // name to others.
  return g.role != role::expert
         && (g.role != role::bootstrap || mine_.contributes);
}

std::vector<peer_id> report_news::all(const guest_book& guests,
                                      const keeps& kept, time_point now) {
  relayed_due_ = false;
  relayed_ = {headline_now(), now};
  relayed_leader_ = now;
  return usual_all(guests, kept, now);
}

std::vector<peer_id> report_news::usual_all(const guest_book& guests,
                                            const keeps& kept, time_point now) {
  due_ = leaders_due_ = partners_due_ = false;
  last_round_ = last_partners_round_ = last_company_round_ = now;
  to_strangers_.spend(1);
  std::vector<peer_id> result;
  if (!mine_.contributes)
    for (auto& id : guests.near())
      if (hears(*guests.find(id)))
        result.push_back(id);
  for (auto& id : cells(guests, kept, now))
    result.push_back(id);
  return result;
}

bool report_news::cell_news::due(const headline& now_true, duration pause,
                                 time_point now) {
  if (now_true == what && now - at < pause)
    return false;
  what = now_true;
  at = now;
  return true;
}

report_news::headline report_news::headline_now() const {
  return {mine_.step,
          mine_.state,
          mine_.contributes,
          mine_.sponsor,
          mine_.phase != phase::joining && mine_.phase != phase::finished,
          false,
          mine_.phase == phase::waiting};
}

std::vector<peer_id> report_news::cells(const guest_book& guests,
                                        const keeps& kept, time_point now) {
  auto own = headline_now();
  own.has_samples = mine_.samples != 0;
  own.waits = false;
  // A contributor of another cell has to know where this member is, for it may
  // ask for the mean there; a contributor's other member only that it is there.
  auto other = own;
  other.has_samples = false;
  if (mine_.contributes) {
    other.step = 0;
    other.state = {};
  }
  const bool changes = own_cell_.what.contributes != mine_.contributes;
  duration own_pause = limits::cell_news_pause;
  duration others_pause = limits::cell_news_pause;
  if (mine_.contributes) {
    own_pause = pace_;
    others_pause = limits::other_member_news_pause;
  }
  const auto to_own = own_cell_.due(own, own_pause, now);
  const auto to_others = other_cells_.due(other, others_pause, now);
  std::vector<peer_id> result;
  if (!to_own && !to_others)
    return result;
  for (auto& [id, g] : guests.all()) {
    const bool in_a_cell = mine_.contributes || g.contributes;
    const bool own_cell
        = mine_.contributes ? id == mine_.sponsor : g.in_own_cell;
    if (in_a_cell && (own_cell ? to_own : to_others) && hears(g)
        && (changes || (g.role != role::bootstrap && kept(g))))
      result.push_back(id);
  }
  return result;
}

duration report_news::pause_among(std::size_t peers) const {
  const auto many = peers - std::min(peers, limits::few_peers);
  const auto pause = std::min<duration>(limits::report_pause_per_peer
                                            * static_cast<int>(many),
                                        limits::longest_report_round);
  return mine_.phase == phase::joining
             ? std::max<duration>(pause, limits::newcomers_report_pause)
             : pause;
}

std::vector<peer_id> report_news::company(const guest_book& guests,
                                          bool strangers, time_point now) {
  std::vector<peer_id> partners, entering;
  for (auto& id : guests.near()) {
    const auto& g = *guests.find(id);
    const bool enters = strangers && !g.is_partner && g.role == role::trainer
                        && g.averages && entering.size() < limits::few_peers;
    if ((g.is_partner || enters) && hears(g))
      (enters ? entering : partners).push_back(id);
  }
  const auto is_time = [&](std::optional<time_point>& last, std::size_t among) {
    if (last && now - *last < pause_among(among))
      return false;
    last = now;
    return true;
  };
  // Whoever says that it enters does not slow down those that are in.
  if (!is_time(last_partners_round_, partners.size()))
    return {};
  partners_due_ = false;
  if (!entering.empty()
      && is_time(last_company_round_, partners.size() + entering.size())) {
    to_strangers_.spend(1);
    partners.insert(partners.end(), entering.begin(), entering.end());
  }
  return partners;
}

std::vector<peer_id> report_news::round(const guest_book& guests,
                                        const keeps& kept, time_point now) {
  if (strikes(fault_point::news_late))
    return {};
  say_again(now);
  auto result = relayed_round(guests, now);
  if (!due_)
    return result;
  for (auto& id : usual_round(guests, kept, now))
    if (const auto& g = *guests.find(id);
        !is_spared(g) || g.contributes || mine_.contributes)
      result.push_back(id);
  return result;
}

std::vector<peer_id> report_news::relayed_round(const guest_book& guests,
                                                time_point now) {
  std::vector<peer_id> result;
  const auto& near = guests.near();
  if (!relayed_due_)
    return result;
  relayed_due_ = !mine_.contributes
                 && std::any_of(near.begin(), near.end(), [&](auto& id) {
                      const auto& g = *guests.find(id);
                      return is_spared(g) && hears(g);
                    });
  if (!relayed_due_) {
    relayed_.at = now; // Nobody is owed it.
    return result;
  }
  const auto pause = std::max<duration>(limits::relayed_report_pause,
                                        pause_among(near.size()));
  const bool everybody = relayed_.due(headline_now(), pause, now);
  if (!everybody && now - relayed_leader_ < limits::relayed_leader_pause)
    return result;
  relayed_leader_ = now;
  relayed_due_ = !everybody;
  auto leader = leader_;
  for (auto& id : near) {
    const auto& g = *guests.find(id);
    if (leader.empty() && g.role == role::trainer && g.averages)
      leader = id; // As far as this peer knows.
    if (is_spared(g) && hears(g) && (everybody || id == leader))
      result.push_back(id);
  }
  return result;
}

std::vector<peer_id> report_news::usual_round(const guest_book& guests,
                                              const keeps& kept,
                                              time_point now) {
  const auto pause = pause_among(mine_.contributes ? 0 : guests.near().size());
  const bool strangers = to_strangers_.available(now) >= 1;
  if (!last_round_ || (strangers && now - *last_round_ >= pause))
    return usual_all(guests, kept, now);
  std::vector<peer_id> result;
  if (mine_.contributes)
    return result;
  if (partners_due_ && !guests.near_partners().empty())
    result = company(guests, strangers, now);
  // Those that lead, now or next, decide by what they hear. A crowd that only
  // joins does neither, and must not be told in their place.
  if (!std::exchange(leaders_due_, false) || !result.empty())
    return result;
  auto add = [&](const peer_id& id) {
    const auto* g = guests.find(id);
    if (!g || g->role != role::trainer || !g->averages
        || !(g->is_partner || strangers)
        || result.size() >= limits::leaders_told_at_once
        || std::find(result.begin(), result.end(), id) != result.end())
      return;
    result.push_back(id);
  };
  add(leader_);
  for (const auto* those : {&guests.near_partners(), &guests.near()})
    for (const auto& id : *those)
      add(id);
  if (strangers && !result.empty())
    to_strangers_.spend(1);
  return result;
}

} // namespace potluck
