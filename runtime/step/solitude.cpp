#include "runtime/step/solitude.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

void solitude::left(const peer_id& who, time_point now) {
  if (connected_.erase(who) == 0)
    return;
  if (absent_.size() >= most) { // Hearsay makes room.
    auto at = std::find_if(absent_.begin(), absent_.end(),
                           [](auto& x) { return !x.second.lost; });
    if (at == absent_.end())
      return;
    absent_.erase(at);
  }
  absent_[who] = {now, now, 0, true, {}};
}

void solitude::heard_of(const progress_report& x, time_point now) {
  if (x.role != role::trainer || x.phase == phase::finished
      || connected_.count(x.id) > 0)
    return;
  auto at = absent_.find(x.id);
  if (at == absent_.end()) {
    if (absent_.size() >= most)
      return;
    at = absent_.emplace(x.id, absence{now, now, 0, false, {}}).first;
  }
  at->second.heard = now;
  at->second.where = x.where;
  ++at->second.reports;
}

bool solitude::lives(const absence& x, time_point now) const {
  return now - x.heard < proof
         && (x.lost ? x.heard - x.since >= proof
                    : x.reports >= proving_reports);
}

std::optional<solitude::word> solitude::fetched() {
  trouble_.clear();
  met_ = false;
  if (std::exchange(steps_, 0) == 0)
    return std::nullopt;
  return word{false, "this peer trains with others again"};
}

std::optional<solitude::word> solitude::stepped(bool company, time_point now) {
  if (company)
    return fetched();
  const absence* first = nullptr;
  peer_id name;
  std::size_t count = 0;
  for (auto i = absent_.begin(); i != absent_.end();) {
    if (now - i->second.heard > 3 * proof) {
      i = absent_.erase(i);
      continue;
    }
    if (lives(i->second, now)) {
      met_ = met_ || i->second.lost;
      if (count++ == 0) {
        first = &i->second;
        name = i->first;
      }
    }
    ++i;
  }
  trouble_.clear();
  if (!first)
    return std::nullopt;
  if (steps_++ == 0) {
    pause_ = first_pause;
    next_word_ = now;
  }
  whom_ = "peer " + short_name(name);
  trouble_ = "alone: no line to " + whom_;
  if (count > 1)
    whom_ += " and " + std::to_string(count - 1) + " more";
  whom_ += first->where.port == 0 && !first->where.host.empty()
               ? " cannot be dialled"
               : " cannot be reached at " + to_string(first->where);
  if (now < next_word_)
    return std::nullopt;
  next_word_ = now + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
  return word{true, sentence(), met_};
}

std::string solitude::sentence() const {
  return std::to_string(steps_) + (steps_ == 1 ? " step was" : " steps were")
         + " taken alone although others train in this run: " + whom_
         + ". What is learnt apart is lost when they meet. Name a machine that "
           "all can reach as a peer (`potluck bootstrap --run NAME` there), "
           "or open a port of one of you, and set announce to it";
}

std::optional<solitude::word> solitude::last_word() const {
  if (steps_ == 0)
    return std::nullopt;
  return word{true, sentence(), met_};
}

} // namespace potluck
