#include "runtime/history/electorates.hpp"

#include <algorithm>

#include "runtime/contract_members.hpp"

namespace potluck {

namespace {

double median(std::vector<double> x) {
  const auto half = x.size() / 2;
  std::sort(x.begin(), x.end());
  return x.size() % 2 == 1 ? x[half] : (x[half - 1] + x[half]) / 2;
}

electorates::weights weights_in(const group_contract& x,
                                const std::vector<std::uint8_t>& left_out) {
  std::map<peer_id, std::uint64_t> samples;
  for (const auto* member : trainers_behind(x, left_out))
    samples[member->who.id] = member->samples;
  return electorates::weights_of(samples);
}

} // namespace

electorates::weights
electorates::weights_of(const std::map<peer_id, std::uint64_t>& samples) {
  std::vector<double> some;
  for (const auto& x : samples)
    if (x.second > 0)
      some.push_back(static_cast<double>(x.second));
  const auto usual = some.empty() ? 1 : median(some);
  weights result;
  for (const auto& [id, n] : samples)
    result[id] = std::min(static_cast<double>(n) / usual, heaviest);
  return result;
}

bool electorates::made(const group_contract& x,
                       const std::vector<std::uint8_t>& left_out) {
  auto next = weights_in(x, left_out);
  if (next.size() < 2)
    return false;
  auto newer = next;
  all_.push_back(std::move(next));
  for (auto i = all_.size() - 1; i-- > 0;) {
    const auto size = newer.size();
    newer.insert(all_[i].begin(), all_[i].end());
    if (newer.size() == size)
      all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (all_.size() > most)
    all_.pop_front();
  return true;
}

bool electorates::has(const peer_id& who) const {
  return std::any_of(all_.begin(), all_.end(),
                     [&](auto& x) { return x.count(who) != 0; });
}

electorates::weights electorates::behind(std::size_t index) const {
  weights result;
  for (auto i = all_.size(); i-- > index;) // The newest of each stays.
    result.insert(all_[i].begin(), all_[i].end());
  return result;
}

electorates::electorate electorates::last_with(const condition& any) const {
  for (auto i = all_.size(); i-- > 0;) {
    if (std::none_of(all_[i].begin(), all_[i].end(),
                     [&](auto& x) { return any(x.first); }))
      continue;
    electorate result{all_[i], behind(i + 1)};
    for (auto& x : result.members)
      result.later.erase(x.first);
    return result;
  }
  return {};
}

electorates::electorate electorates::of_all() const {
  return {behind(0), {}};
}

} // namespace potluck
