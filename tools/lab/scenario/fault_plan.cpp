#include "tools/lab/scenario/fault_plan.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tools/lab/scenario/fault_crowd.hpp"
#include "tools/lab/scenario/limits.hpp"

namespace potluck {

namespace {

// What streams are for: mixed into the seed.
enum stream_kind : std::uint64_t {
  of_a_peer = 1,
  of_a_visit,
  of_a_rules_times,
  of_a_strike,
  of_a_seed,
};

constexpr double slowest_peer = 1e-3;

duration at_least_shortest(double seconds) {
  return std::max<duration>(to_duration(seconds), limits::scenario_shortest);
}

bool takes_away(fault_kind x) {
  return x == fault_kind::kill || x == fault_kind::power_cut
         || x == fault_kind::leave;
}

} // namespace

fault_plan::fault_plan(const scenario& what, std::uint64_t seed)
    : scenario_(what), seed_(seed) {
  for (std::size_t g = 0; g < scenario_.groups.size(); ++g)
    for (std::size_t i = 0; i < scenario_.groups[g].count; ++i) {
      auto peer = add_peer(g);
      // Behind what `add_peer` draws, from the same stream.
      auto chance = stream(of_a_seed, peer);
      schedule(to_duration(scenario_.groups[g].joins_at.draw(chance)),
               scenario_.groups[g].role == "bootstrap" ? step::bootstrap
                                                       : step::join,
               peer);
    }
  for (std::size_t r = 0; r < scenario_.faults.size(); ++r) {
    rules_.push_back({stream(of_a_rules_times, r), 0});
    schedule(to_duration(scenario_.faults[r].at.draw(rules_[r].times)),
             step::rule, r);
  }
}

random_stream fault_plan::stream(std::uint64_t kind,
                                 std::uint64_t number) const {
  return random_stream{mix(mix(seed_, kind), number)};
}

void fault_plan::schedule(duration at, step what, std::uint64_t number) {
  queue_.insert({at, what, number});
}

std::size_t fault_plan::add_peer(std::size_t group) {
  const auto& like = scenario_.groups[group];
  scripted_peer x;
  x.number = peers_.size();
  x.group = group;
  auto chance = stream(of_a_peer, x.number);
  x.samples_per_second
      = std::max(slowest_peer, like.samples_per_second.draw(chance));
  x.clock_drift
      = std::max(limits::slowest_clock, like.clock_drift.draw(chance));
  x.delay = to_duration(like.line.delay.draw(chance));
  x.upload = std::max(0.0, like.line.upload.draw(chance));
  x.download = std::max(0.0, like.line.download.draw(chance));
  x.seed = chance.next();
  peers_.push_back(x);
  visits_.emplace_back();
  return x.number;
}

// ---- coming and going -------------------------------------------------------

void fault_plan::begin_visit(std::size_t peer, duration now) {
  const auto& like = scenario_.groups[peers_[peer].group];
  auto& v = visits_[peer];
  auto chance
      = random_stream{mix(mix(mix(seed_, of_a_visit), peer), v.count++)};
  v.keeps_disk = chance.uniform01() < like.keeps_disk;
  v.orderly = chance.uniform01() < like.leaves_orderly;
  if (!like.stays)
    return;
  v.until = now + at_least_shortest(like.stays->draw(chance));
  v.away = at_least_shortest(like.away.draw(chance));
  v.departure = pending{*v.until, step::departure, peer};
  queue_.insert(*v.departure);
}

/// It returns after `back_after`, else after its group's `away`, else never.
void fault_plan::end_visit(std::size_t peer, duration now,
                           const std::optional<duration>& back_after) {
  auto& v = visits_[peer];
  if (v.departure)
    queue_.erase(*v.departure);
  v.departure.reset();
  if (back_after)
    schedule(now + std::max<duration>(*back_after, limits::scenario_shortest),
             step::back, peer);
  else if (v.until)
    schedule(now + v.away, step::back, peer);
  v.until.reset();
}

fault_event fault_plan::come(duration at, std::size_t peer, bool again,
                             fault_crowd& there) {
  fault_event x;
  x.at = at;
  x.action = again ? fault_event::what::back : fault_event::what::join;
  x.kind = fault_kind::join;
  x.peers = {peer};
  x.keeps_disk = visits_[peer].keeps_disk;
  x.number = ++events_;
  begin_visit(peer, at);
  there.add(peer);
  return x;
}

std::optional<fault_event> fault_plan::depart(duration at, std::size_t peer,
                                              fault_crowd& there) {
  auto& v = visits_[peer];
  v.departure.reset();
  if (!there.remove(peer)) {
    v.until.reset();
    return std::nullopt;
  }
  fault_event x;
  x.at = at;
  x.kind = v.orderly ? fault_kind::leave : fault_kind::kill;
  x.peers = {peer};
  end_visit(peer, at, std::nullopt);
  x.number = ++events_;
  history_.note(x, std::nullopt);
  return x;
}

// ---- rules ------------------------------------------------------------------

std::vector<std::size_t> fault_plan::choose(const fault_target& who,
                                            random_stream& chance,
                                            const fault_crowd& there) const {
  std::vector<std::size_t> result;
  if (!who.peers.empty()) {
    for (auto number : who.peers)
      if (there.has(number))
        result.push_back(number);
    std::sort(result.begin(), result.end());
    return result;
  }
  for (auto number : there.all()) {
    if (number >= peers_.size())
      continue;
    const auto& group = scenario_.groups[peers_[number].group];
    if (who.group.empty() ? group.role != "bootstrap" && !is_stranger(group)
                          : group.name == who.group)
      result.push_back(number);
  }
  auto count = who.count;
  // Half of four is two, whatever the share's last bit says.
  if (who.share > 0)
    count = static_cast<std::size_t>(
        std::ceil(who.share * static_cast<double>(result.size()) - 1e-9));
  chance.shuffle(result);
  result.resize(std::min(result.size(), count));
  std::sort(result.begin(), result.end());
  return result;
}

fault_event fault_plan::welcome(duration at, const fault_rule& rule,
                                fault_crowd& there) {
  fault_event x;
  x.at = at;
  x.action = fault_event::what::join;
  x.kind = fault_kind::join;
  x.detail = rule.detail;
  std::size_t group = 0;
  while (scenario_.groups[group].name != rule.detail)
    ++group;
  for (std::size_t i = 0; i < rule.who.count; ++i) {
    if (peers_.size() >= limits::scenario_peers)
      break;
    auto peer = add_peer(group);
    begin_visit(peer, at);
    there.add(peer);
    x.peers.push_back(peer);
  }
  return x;
}

std::optional<fault_event> fault_plan::strike(duration at, std::size_t number,
                                              fault_crowd& there) {
  const auto& rule = scenario_.faults[number];
  auto& state = rules_[number];
  auto chance = random_stream{
      mix(mix(mix(seed_, of_a_strike), number), state.strikes++)};
  if (rule.every) {
    auto again = at + at_least_shortest(rule.every->draw(state.times));
    if (!rule.until || again <= *rule.until)
      schedule(again, step::rule, number);
  }
  std::optional<duration> lasts, back;
  if (rule.lasts)
    lasts = at_least_shortest(rule.lasts->draw(chance));
  if (rule.back_after)
    back = to_duration(rule.back_after->draw(chance));
  fault_event x;
  if (rule.kind == fault_kind::join) {
    x = welcome(at, rule, there);
  } else {
    x.at = at;
    x.kind = rule.kind;
    x.amount = rule.amount;
    x.detail = rule.detail;
    x.peers = choose(rule.who, chance, there);
  }
  if (x.peers.empty())
    return std::nullopt;
  x.number = ++events_;
  history_.note(x, lasts);
  if (lasts) {
    lasting_[x.number] = x;
    schedule(at + *lasts, step::end, x.number);
  }
  if (takes_away(rule.kind))
    for (auto peer : x.peers) {
      there.remove(peer);
      end_visit(peer, at, back);
    }
  return x;
}

// ---- the owner's questions --------------------------------------------------

std::optional<fault_event> fault_plan::happen(const pending& x,
                                              fault_crowd& there) {
  auto [at, what, number] = x;
  switch (what) {
    case step::bootstrap:
    case step::join:
      return come(at, number, false, there);
    case step::back:
      return come(at, number, true, there);
    case step::departure:
      return depart(at, number, there);
    case step::rule:
      return strike(at, number, there);
    case step::end:
      break;
  }
  auto ended = lasting_.at(number);
  lasting_.erase(number);
  ended.at = at;
  ended.action = fault_event::what::end;
  ended.of = number;
  ended.number = ++events_;
  return ended;
}

std::optional<duration> fault_plan::next() const {
  if (queue_.empty())
    return std::nullopt;
  return std::get<duration>(*queue_.begin());
}

std::vector<fault_event> fault_plan::due(duration now,
                                         const std::set<std::size_t>& present) {
  fault_crowd there{present};
  std::vector<fault_event> result;
  while (!queue_.empty() && std::get<duration>(*queue_.begin()) <= now) {
    auto x = *queue_.begin();
    queue_.erase(queue_.begin());
    latest_ = std::max(latest_, std::get<duration>(x));
    if (auto event = happen(x, there))
      result.push_back(std::move(*event));
  }
  return result;
}

void fault_plan::wind_down() {
  for (auto i = queue_.begin(); i != queue_.end();)
    i = std::get<step>(*i) == step::end ? std::next(i) : queue_.erase(i);
}

bool fault_plan::over(duration now) const {
  return queue_.empty() && now >= latest_;
}

} // namespace potluck
