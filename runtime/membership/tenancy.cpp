#include "runtime/membership/tenancy.hpp"

#include <algorithm>

namespace potluck {

void tenancy::joined(const peer_id& who, const std::string& run) {
  if (run.empty() || !(rules_.any || named(run)) || peers_.count(who) != 0)
    return;
  peers_[who] = run;
  runs_[run].there.insert(who);
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
  x.not_before = x.leaving ? time_point{} : now + rest;
  x.finished = finished;
  x.has_tenant = x.leaving = x.moves = false;
  if (x.there.empty())
    runs_.erase(found);
}

tenancy::work tenancy::due(time_point now) {
  work result;
  for (auto& [name, x] : runs_) {
    if (auto why = must_end(x, now); !why.empty()) {
      x.leaving = true;
      result.end.emplace_back(name, why);
    } else if (may_begin(name, x, now)) {
      x.has_tenant = true;
      x.begun = now;
      result.begin.push_back(name);
    }
  }
  return result;
}

bool tenancy::has_room(const std::string& name) const {
  if (named(name))
    return true;
  const auto strangers
      = std::count_if(runs_.begin(), runs_.end(), [this](auto& x) {
          return x.second.has_tenant && !named(x.first);
        });
  return static_cast<std::size_t>(strangers) < rules_.most;
}

bool tenancy::may_begin(const std::string& name, const run& x,
                        time_point now) const {
  return !x.has_tenant && !x.there.empty() && !paused_ && !x.finished
         && now >= x.not_before && has_room(name);
}

std::string tenancy::must_end(const run& x, time_point now) const {
  if (!x.has_tenant || x.leaving)
    return "";
  if (paused_)
    return "the month's traffic is used up";
  if (x.there.empty() && now - x.emptied >= idle)
    return "nobody of the run has been here for a while";
  if (x.moves && now - x.begun >= settled)
    return "others reach this machine elsewhere";
  return "";
}

} // namespace potluck
