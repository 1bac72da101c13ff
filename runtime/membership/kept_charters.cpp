#include "runtime/membership/kept_charters.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/state/run_manifest.hpp"

namespace potluck {

void kept_charters::drop(std::map<std::string, charter_held>::iterator at) {
  bytes_ -= at->second.what->size();
  kept_.erase(at);
}

void kept_charters::make_room(std::size_t needed) {
  while (!kept_.empty()
         && (kept_.size() >= most_runs || bytes_ + needed > most_bytes))
    drop(std::min_element(kept_.begin(), kept_.end(), [](auto& a, auto& b) {
      return a.second.used < b.second.used;
    }));
}

digest kept_charters::favourite(const std::string& run, time_point now) const {
  std::map<digest, std::size_t> votes;
  std::set<digest> shown;
  if (auto kept = kept_.find(run); kept != kept_.end())
    shown.insert(kept->second.is);
  if (auto all = runs_.find(run); all != runs_.end())
    for (auto& [id, x] : all->second)
      if (!x->has.empty() && !(x->asked && now - x->asked_at >= patience)) {
        ++votes[x->has];
        if (x->sent)
          shown.insert(x->has);
      }
  digest best;
  std::size_t most = 0;
  for (auto& [which, count] : votes)
    if (shown.count(which) > 0 && count > most) {
      best = which;
      most = count;
    }
  return best;
}

void kept_charters::ask(guest& x, time_point now) {
  x.asked = true;
  x.asked_at = now;
  x.ask_at = now + pause;
}

kept_charters::peers kept_charters::joined(const peer_id& who,
                                           const std::string& run,
                                           const digest& has, time_point now) {
  const auto known = guests_.find(who);
  const bool as_before = known != guests_.end() && known->second.run == run
                         && known->second.has == has;
  if (!as_before)
    left(who);
  auto& x = guests_[who];
  x.run = run;
  x.has = has;
  runs_[run][who] = &x;
  auto kept = kept_.find(run);
  if (has.empty() || given_.count(run) != 0 || (as_before && x.asked)
      || (kept != kept_.end() && kept->second.is == has))
    return {};
  ask(x, now);
  return {who};
}

void kept_charters::left(const peer_id& who) {
  auto at = guests_.find(who);
  if (at == guests_.end())
    return;
  pauses_.left(who);
  auto run = runs_.find(at->second.run);
  run->second.erase(who);
  auto kept = kept_.find(run->first);
  const bool held
      = kept == kept_.end()
        || std::any_of(run->second.begin(), run->second.end(), [&](auto& x) {
             return x.second->has == kept->second.is;
           });
  if (!held)
    drop(kept);
  if (run->second.empty())
    runs_.erase(run);
  guests_.erase(at);
}

kept_charters::peers kept_charters::whom_to_ask(const std::string& run,
                                                const peer_id& asker,
                                                time_point now) {
  const auto wanted = favourite(run, now);
  std::vector<std::pair<time_point, peer_id>> all;
  // Those that say nothing may have founded it since they came.
  for (auto& [id, x] : runs_[run])
    if (id != asker && (wanted.empty() || x->has == wanted)
        && (!x->asked || now - x->asked_at >= patience) && now >= x->ask_at)
      all.push_back({x->ask_at, id});
  // Each has its turn, however many have nothing.
  std::sort(all.begin(), all.end());
  if (all.size() > asked_at_once)
    all.resize(asked_at_once);
  peers result;
  for (auto& [since, id] : all) {
    ask(guests_.at(id), now);
    result.push_back(id);
  }
  return result;
}

kept_charters::bytes kept_charters::answer_for(const std::string& run,
                                               time_point now) {
  if (auto given = given_.find(run); given != given_.end())
    return given->second;
  auto kept = kept_.find(run);
  if (kept == kept_.end() || kept->second.is != favourite(run, now))
    return nullptr;
  kept->second.used = now;
  return kept->second.what;
}

kept_charters::answer kept_charters::requested(const peer_id& from,
                                               const std::string& run,
                                               time_point now) {
  auto at = guests_.find(from);
  if (at == guests_.end() || at->second.run != run)
    return {};
  auto what = answer_for(run, now);
  if (!what)
    return {nullptr, whom_to_ask(run, from, now)};
  if (!pauses_.answers(from, now))
    return {nullptr, {}, true};
  return {std::move(what), {}, false};
}

std::string kept_charters::answered(const peer_id& from,
                                    const std::string& charter,
                                    time_point now) {
  auto at = guests_.find(from);
  if (at == guests_.end() || !std::exchange(at->second.asked, false))
    return {};
  auto& x = at->second;
  x.sent = false;
  if (charter.empty()) {
    x.has = {};
    return {};
  }
  auto read = read_charter(x.run, charter);
  if (!read || (!x.has.empty() && read->digest() != x.has)) {
    x.has = {};
    x.ask_at = time_point::max();
    return "sent a charter that is not the one of run '" + shown_run(x.run)
           + "'";
  }
  x.has = read->digest();
  x.sent = true;
  if (favourite(x.run, now) != x.has)
    return {};
  if (auto old = kept_.find(x.run); old != kept_.end())
    drop(old);
  make_room(charter.size());
  bytes_ += charter.size();
  kept_[x.run] = {std::make_shared<const std::string>(charter), x.has, now};
  return {};
}

} // namespace potluck
