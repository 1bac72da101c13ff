#include "runtime/lines/upload_turns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace potluck {

namespace {

double seconds(duration x) {
  return std::chrono::duration<double>(x).count();
}

/// The nearest number of them, one at least: a window is spent in packets, and
/// a rest of one would decide which connection has a packet more.
std::size_t whole_packets(double bytes) {
  auto packets = std::round(bytes / upload_turns::packet);
  return static_cast<std::size_t>(std::max(1.0, packets))
         * upload_turns::packet;
}

} // namespace

void upload_turns::best_rate::add(double rate) {
  seen.push_back(rate);
  if (seen.size() > looks)
    seen.erase(seen.begin());
}

double upload_turns::best_rate::value() const {
  double best = 0;
  for (std::size_t n = 1; n <= std::min(looks_together, seen.size()); ++n) {
    best = 0;
    for (std::size_t i = 0; i + n <= seen.size(); ++i) {
      double sum = 0;
      for (std::size_t j = i; j < i + n; ++j)
        sum += seen[j];
      best = std::max(best, sum / static_cast<double>(n));
    }
    if (best * static_cast<double>(n) * seconds(limits::line_interval)
        >= telling_bytes)
      break;
  }
  return best;
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
    if (x.round_trip > duration::zero())
      own.wait += (seconds(x.round_trip - x.least_round_trip) - own.wait) / 4;
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
  return std::max(
      {2 * turn_bytes(), static_cast<std::size_t>(bytes), line_.next()});
}

std::size_t upload_turns::window(connection_id who, double part) const {
  auto grown = emptied_.find(who);
  auto least = grown == emptied_.end() ? 0 : grown->second.next();
  auto i = flows_.find(who);
  if (i == flows_.end())
    return std::max(packet, least);
  const auto& x = i->second;
  const auto round_trips = 2 * seconds(x.least_round_trip);
  if (auto p = planned_.find(who); p != planned_.end()) {
    auto bytes = p->second.queue + p->second.rate * round_trips;
    return std::max(whole_packets(bytes), least);
  }
  auto carried = x.value() * round_trips;
  auto calm
      = std::clamp((long_wait - x.wait) / (long_wait - short_wait), 0.0, 1.0);
  auto spare = 1 + (most_spare_packets - 1) * calm;
  auto bytes = spare * static_cast<double>(packet) + carried;
  return std::max(static_cast<std::size_t>(part * bytes), least);
}

double upload_turns::share(std::size_t wanted) const {
  if (!serving_ || most_wanted_ <= wanted)
    return 1; // Outside of `serve` nobody else waits.
  return std::max(std::sqrt(static_cast<double>(wanted)
                            / static_cast<double>(most_wanted_)),
                  least_share);
}

std::size_t upload_turns::room(connection_id who, std::size_t wanted) const {
  if (sum_under_way_ >= window())
    return 0;
  auto i = under_way_.find(who);
  auto own = i == under_way_.end() ? 0 : i->second;
  auto most = window(who, share(wanted));
  auto bytes = std::min(turn_bytes(), most > own ? most - own : 0);
  bytes -= bytes % packet;
  return own == 0 ? std::max(packet, bytes) : bytes;
}

std::size_t upload_turns::take(connection_id who, std::size_t wanted) {
  if (left_alone())
    return wanted;
  bool waits = waiting_.count(who) != 0;
  auto may = (served_ == who || waiting_.empty()) ? room(who, wanted) : 0;
  if (wanted <= small_write && !waits)
    may = std::max(may, small_write);
  if (may == 0) {
    if (waiting_.empty() && !serving_) { // From here on there are checks.
      line_.given = 0;
      for (auto& [id, x] : emptied_)
        x.given = 0;
    }
    waiting_.try_emplace(who, place{0, next_number_++}).first->second.wanted
        = wanted;
    return 0;
  }
  auto bytes = std::min(wanted, may);
  served_ = 0; // One turn, then the next in line.
  under_way_[who] += bytes;
  sum_under_way_ += bytes;
  if (!waiting_.empty() || serving_) { // Else no check looks at it.
    line_.given += bytes;
    emptied_[who].given += bytes;
  }
  return bytes;
}

void upload_turns::note_what_arrived() {
  bool empty = std::all_of(under_way_.begin(), under_way_.end(),
                           [](const auto& x) { return x.second == 0; });
  if (!empty) {
    if (++checks_not_empty_ < full_checks)
      return;
    line_ = {};
    emptied_.clear();
    return;
  }
  checks_not_empty_ = 0;
  auto note = [](emptied& x) {
    x.carried = std::max(x.carried, std::exchange(x.given, 0));
  };
  note(line_);
  for (auto& [id, x] : emptied_)
    note(x);
}

void upload_turns::serve(std::map<connection_id, std::size_t> under_way) {
  under_way_ = std::move(under_way);
  note_what_arrived();
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
  most_wanted_ = 0;
  for (const auto& [id, x] : waiting_)
    most_wanted_ = std::max(most_wanted_, x.wanted);
  std::map<connection_id, place> in_vain;
  serving_ = true;
  while (!waiting_.empty() && sum_under_way_ < window()) {
    auto next = std::max_element(waiting_.begin(), waiting_.end(), less);
    auto who = next->first;
    auto where = next->second;
    waiting_.erase(next);
    if (room(who, where.wanted) == 0) { // On its own connection.
      in_vain.emplace(who, where);
      continue;
    }
    oldest_next_ = !oldest_next_;
    served_ = who;
    turn_(who);
    served_ = 0;
  }
  waiting_.merge(in_vain);
  serving_ = false;
}

void upload_turns::plan(connection_id who, const planned_window& x) {
  if (x.queue > 0)
    planned_[who] = x;
  else
    planned_.erase(who);
}

void upload_turns::forget(connection_id who) {
  flows_.erase(who);
  planned_.erase(who);
  emptied_.erase(who);
  if (auto i = under_way_.find(who); i != under_way_.end()) {
    sum_under_way_ -= std::min(sum_under_way_, i->second);
    under_way_.erase(i);
  }
  waiting_.erase(who);
}

} // namespace potluck
