#include "runtime/state/donor_panel.hpp"

#include <algorithm>

#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"

namespace potluck {

void donor_panel::begin(std::vector<peer_id> candidates, std::uint64_t step,
                        preferred_relay relay) {
  donors_.clear();
  relay_ = std::move(relay);
  candidates_ = std::move(candidates);
  candidates_.erase(
      std::remove(candidates_.begin(), candidates_.end(), relay_.id()),
      candidates_.end());
  std::sort(candidates_.begin(), candidates_.end());
  random_stream chance{mix(seed_of(self_), step)};
  chance.shuffle(candidates_);
  if (relay_.is_hub())
    std::sort(candidates_.begin(), candidates_.end(), [this](auto& a, auto& b) {
      return rank(relay_.id(), a) < rank(relay_.id(), b);
    });
}

std::uint64_t donor_panel::rank(const peer_id& hub, const peer_id& candidate) {
  return mix(seed_of(hub), seed_of(candidate));
}

std::vector<peer_id> donor_panel::dismiss() {
  std::vector<peer_id> asked;
  for (auto& [id, x] : donors_)
    asked.push_back(id);
  donors_.clear();
  return asked;
}

// ---- asking -----------------------------------------------------------------

donor_panel::letters donor_panel::ask_for(std::uint64_t step,
                                          const digest& state, bool means_only,
                                          time_point now) {
  wish_.step = step;
  wish_.state = state;
  wish_.means_only = means_only;
  letters result;
  if (!relay_.id().empty())
    result.push_back(ask(relay_.id(), now));
  for (auto& x : ask_more(true, now))
    result.push_back(std::move(x));
  return result;
}

state_letter donor_panel::ask(const peer_id& who, time_point now) {
  auto& x = donors_[who];
  x = {};
  x.wish = wish_;
  x.wish.token = ++token_;
  x.wish.lists_only = relay_.alone() && who != relay_.id();
  x.asked = x.reminded = now;
  return {who, x.wish, {}};
}

std::size_t donor_panel::wanted() const {
  return relay_.alone() ? limits::lists_wanted + 1 : most_;
}

/// @param again Those that have been asked as well.
donor_panel::letters donor_panel::ask_more(bool again, time_point now) {
  letters result;
  for (auto& id : candidates_)
    if (!distrusts(id) && (find(id) ? again : donors_.size() < wanted()))
      result.push_back(ask(id, now));
  return result;
}

std::optional<state_letter> donor_panel::add(const peer_id& candidate,
                                             time_point now) {
  if (std::find(candidates_.begin(), candidates_.end(), candidate)
      == candidates_.end())
    candidates_.push_back(candidate);
  if (donors_.size() >= wanted())
    return std::nullopt;
  return ask(candidate, now);
}

donor_panel::letters donor_panel::ask_for_pieces(time_point now) {
  const auto others = relay_.share();
  letters result;
  for (auto& [id, x] : donors_)
    if (x.wish.lists_only)
      result.push_back(ask(id, now));
  if (others)
    for (auto& x : ask_more(false, now))
      result.push_back(std::move(x));
  return result;
}

donor_panel::letters donor_panel::look(time_point now) {
  letters result;
  for (auto& [id, x] : donors_)
    if (x.said == answer::busy && now >= x.retry) {
      result.push_back(ask(id, now));
    } else if (x.said != answer::busy
               && now - x.reminded >= limits::joiner_sign_of_life) {
      x.reminded = now;
      result.push_back({id, x.wish, {}});
    }
  return result;
}

void donor_panel::remove(const peer_id& who) {
  donors_.erase(who);
  candidates_.erase(std::remove(candidates_.begin(), candidates_.end(), who),
                    candidates_.end());
  if (who == relay_.id())
    relay_.forget();
}

peer_id donor_panel::release_relay(bool as_donor) {
  auto id = relay_.id();
  if (as_donor)
    candidates_.push_back(id);
  donors_.erase(id);
  relay_.forget();
  return id;
}

// ---- answers ----------------------------------------------------------------

donor_panel::donor* donor_panel::find(const peer_id& who) {
  auto at = donors_.find(who);
  return at == donors_.end() ? nullptr : &at->second;
}

void donor_panel::declines(const peer_id& who, const refusal& instead) {
  auto& x = donors_.at(who);
  x.said = answer::declines;
  x.instead = instead;
}

std::set<peer_id> donor_panel::answered() const {
  std::set<peer_id> result;
  for (auto& [id, x] : donors_)
    if (x.said == answer::serves || x.said == answer::declines)
      result.insert(id);
  return result;
}

std::vector<peer_id> donor_panel::that(answer said) const {
  std::vector<peer_id> result;
  for (auto& [id, x] : donors_)
    if (x.said == said && id != relay_.id())
      result.push_back(id);
  return result;
}

donor_panel::tally donor_panel::count() const {
  tally result;
  for (auto& [id, x] : donors_) {
    if (id == relay_.id())
      continue;
    result.waiting += x.said == answer::none;
    result.serving += x.said == answer::serves;
    result.busy += x.said == answer::busy;
    if (x.said != answer::declines)
      continue;
    // One that is not past it has another history: no reason to leave this one.
    result.declining += x.instead.at > wish_.step || wish_.state.empty();
    result.refusals.push_back(x.instead);
  }
  return result;
}

std::vector<peer_id> donor_panel::silent(std::optional<time_point> since,
                                         time_point now) const {
  std::vector<peer_id> result;
  for (auto& id : that(answer::none))
    if (since
        && now - std::max(donors_.at(id).asked, *since)
               > limits::manifest_patience)
      result.push_back(id);
  return result;
}

// ---- trust ------------------------------------------------------------------

void donor_panel::distrust(const peer_id& who, time_point until) {
  distrusted_[who] = until;
  remove(who);
}

void donor_panel::expire_distrust(time_point now) {
  for (auto i = distrusted_.begin(); i != distrusted_.end();)
    i = i->second <= now ? distrusted_.erase(i) : std::next(i);
}

} // namespace potluck
