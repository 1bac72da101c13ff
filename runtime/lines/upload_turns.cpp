#include "runtime/lines/upload_turns.hpp"

#include <algorithm>

namespace potluck {

namespace {

double seconds(duration x) {
  return std::chrono::duration<double>(x).count();
}

} // namespace

void upload_turns::best_rate::add(double rate) {
  seen.push_back(rate);
  if (seen.size() > looks)
    seen.pop_front();
}

double upload_turns::best_rate::value() const {
  return seen.empty() ? 0 : *std::max_element(seen.begin(), seen.end());
}

upload_turns::upload_turns(std::function<void(connection_id)> turn)
    : turn_(std::move(turn)) {
}

void upload_turns::observe(const std::vector<flow>& flows) {
  double sum = 0;
  bool backlogged = false;
  duration farthest{0};
  for (const auto& x : flows) {
    sum += x.rate;
    auto& own = flows_[x.id];
    own.least_round_trip = x.least_round_trip;
    own.silent_looks = x.rate > 0 ? 0 : own.silent_looks + 1;
    if (!x.backlogged)
      continue;
    backlogged = true;
    own.add(x.rate);
    farthest = std::max(farthest, x.least_round_trip);
  }
  if (!backlogged && sum <= all_.value())
    return; // Says what there was to send, and nothing of the line.
  all_.add(sum);
  if (backlogged)
    all_.least_round_trip = farthest;
}

double upload_turns::rate() const {
  return all_.seen.empty() ? unmeasured_line : all_.value();
}

bool upload_turns::left_alone() const {
  return rate() >= fast_line;
}

std::size_t upload_turns::turn_bytes() const {
  auto bytes = static_cast<std::size_t>(rate() * turn_seconds);
  return std::clamp(bytes, least_turn, largest_turn);
}

/// Twice what a round trip needs, so that a rate that was estimated too low
/// grows; and the queue.
std::size_t upload_turns::window() const {
  auto bytes = rate() * (2 * seconds(all_.least_round_trip) + queue_seconds);
  return std::max(2 * turn_bytes(), static_cast<std::size_t>(bytes));
}

std::size_t upload_turns::window(connection_id who) const {
  auto i = flows_.find(who);
  if (i == flows_.end())
    return 2 * turn_bytes();
  auto bytes = i->second.value()
               * (2 * seconds(i->second.least_round_trip)
                  + queues_elsewhere * queue_seconds);
  return std::max(2 * turn_bytes(), static_cast<std::size_t>(bytes));
}

bool upload_turns::room(connection_id who) const {
  auto i = under_way_.find(who);
  auto own = i == under_way_.end() ? 0 : i->second;
  auto turn = turn_bytes();
  return sum_under_way_ < window() && (own == 0 || own + turn <= window(who));
}

std::size_t upload_turns::take(connection_id who, std::size_t wanted) {
  if (left_alone())
    return wanted;
  bool waits = waiting_.count(who) != 0;
  bool may = (wanted <= small_write && !waits)
             || ((served_ == who || waiting_.empty()) && room(who));
  if (!may) {
    waiting_.try_emplace(who, place{0, next_number_++}).first->second.wanted
        = wanted;
    return 0;
  }
  auto bytes = std::min(wanted, turn_bytes());
  served_ = 0; // One turn, then the next in line.
  under_way_[who] += bytes;
  sum_under_way_ += bytes;
  return bytes;
}

void upload_turns::serve(std::map<connection_id, std::size_t> under_way) {
  under_way_ = std::move(under_way);
  sum_under_way_ = 0;
  for (const auto& [id, bytes] : under_way_)
    if (auto i = flows_.find(id);
        i == flows_.end() || i->second.silent_looks < stuck_looks)
      sum_under_way_ += bytes;
  auto less = [this](const auto& a, const auto& b) {
    return !oldest_next_ && a.second.wanted != b.second.wanted
               ? a.second.wanted < b.second.wanted
               : a.second.number > b.second.number;
  };
  std::map<connection_id, place> in_vain;
  while (!waiting_.empty() && sum_under_way_ < window()) {
    auto next = std::max_element(waiting_.begin(), waiting_.end(), less);
    auto who = next->first;
    auto where = next->second;
    waiting_.erase(next);
    if (!room(who)) { // On its own connection.
      in_vain.emplace(who, where);
      continue;
    }
    oldest_next_ = !oldest_next_;
    served_ = who;
    turn_(who);
    served_ = 0;
  }
  waiting_.merge(in_vain);
}

void upload_turns::forget(connection_id who) {
  flows_.erase(who);
  if (auto i = under_way_.find(who); i != under_way_.end()) {
    sum_under_way_ -= std::min(sum_under_way_, i->second);
    under_way_.erase(i);
  }
  waiting_.erase(who);
}

} // namespace potluck
