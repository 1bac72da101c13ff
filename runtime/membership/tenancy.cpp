#include "runtime/membership/tenancy.hpp"

namespace potluck {

void tenancy::joined(const peer_id& who, const std::string& run,
                     const std::string& network) {
  if (run.empty() || !(rules_.any || named(run)) || peers_.count(who) != 0)
    return;
  peers_[who] = run;
  runs_[run].there[who] = network;
}

void tenancy::worked(const std::string& run, time_point now) {
  if (auto found = runs_.find(run); found != runs_.end())
    found->second.worked = now;
}

void tenancy::left(const peer_id& who, time_point now) {
  const auto found = peers_.find(who);
  if (found == peers_.end())
    return;
  auto& x = runs_.at(found->second);
  x.there.erase(who);
  x.emptied = now;
  if (x.there.empty() && !x.has_tenant)
    runs_.erase(found->second);
  peers_.erase(found);
}

void tenancy::move() {
  for (auto& [name, x] : runs_)
    x.moves = x.has_tenant;
}

void tenancy::ended(const std::string& run, bool finished, time_point now) {
  const auto found = runs_.find(run);
  if (found == runs_.end() || !found->second.has_tenant)
    return;
  auto& x = found->second;
  // One that was told to leave did not fail.
  if (!x.leaving)
    x.not_before = now + rest;
  x.finished = finished;
  x.has_tenant = x.leaving = x.moves = false;
  if (x.there.empty())
    runs_.erase(found);
}

tenancy::work tenancy::due(time_point now) {
  work result;
  for (auto& [name, x] : runs_) {
    if (auto why = must_end(name, x, now); !why.empty()) {
      x.leaving = true;
      x.not_before = idles(name, x, now) ? now + rest : time_point{};
      result.end.emplace_back(name, why);
    } else if (may_begin(x, now)) {
      auto place = place_for(name, x);
      if (!place)
        continue;
      x.has_tenant = true;
      x.network = *place;
      x.begun = x.worked = now;
      result.begin.push_back(name);
    }
  }
  return result;
}

std::optional<std::string> tenancy::place_for(const std::string& name,
                                              const run& x) const {
  if (named(name))
    return "";
  std::size_t strangers = 0;
  std::set<std::string> taken;
  for (auto& [other, y] : runs_)
    if (y.has_tenant && !named(other)) {
      ++strangers;
      taken.insert(y.network);
    }
  taken.erase("");
  if (strangers < rules_.most)
    for (auto& [who, network] : x.there)
      if (taken.count(network) == 0)
        return network;
  return std::nullopt;
}

bool tenancy::may_begin(const run& x, time_point now) const {
  return !x.has_tenant && !x.there.empty() && !paused_ && !x.finished
         && now >= x.not_before;
}

std::string tenancy::must_end(const std::string& name, const run& x,
                              time_point now) const {
  if (!x.has_tenant || x.leaving)
    return "";
  if (paused_)
    return "the month's traffic is used up";
  if (x.there.empty() && now - x.emptied >= idle)
    return "nobody of the run has been here for a while";
  if (x.moves && now - x.begun >= settled)
    return "others reach this machine elsewhere";
  if (idles(name, x, now))
    return "the run had no round for a while";
  return "";
}

} // namespace potluck
