#include "runtime/averaging/round/bulk_watch.hpp"

namespace potluck {

namespace {

/// Bulk is news for so many times the usual time.
constexpr int most_times_usual = 2;

/// So often in one round bulk that is sent anew has time.
constexpr unsigned most_times = 8;

/// Those of so many others that have to be done: more than half, so that those
/// which bring little at once do not hurry the rest; of two one.
std::size_t most_of(std::size_t others) {
  return others == 2 ? 1 : others / 2 + 1;
}

} // namespace

bulk_watch::bulk_watch(const group_contract& contract, const chunk_map& map,
                       const direct_lines& lines, std::size_t self,
                       double planned, time_point now)
    : own_{map.chunks_of(self)},
      usual_{std::max<duration>(std::chrono::milliseconds{contract.patience_ms},
                                std::chrono::duration_cast<duration>(
                                    std::chrono::duration<double>(planned)))},
      began_{now} {
  // Parts go out to one owner after the other (part_source): whoever averages
  // few chunks has all its parts early.
  std::uint64_t sent = 0;
  for (std::size_t i = 0; i < map.member_count(); ++i)
    sent += std::min(map.chunks_of(i).count, own_.count);
  if (sent != 0)
    scale_ = static_cast<double>(map.chunk_count()) / static_cast<double>(sent);
  for (std::size_t i = 0; i < contract.members.size(); ++i) {
    const bool owes = i != self && contract.members[i].samples != 0
                      && lines.between(self, i);
    owes_.push_back(owes);
    missing_.push_back(owes ? own_.count : 0);
    others_ += owes;
  }
}

bool bulk_watch::part_came(std::size_t member, std::uint32_t chunk,
                           time_point at) {
  if (!come_.insert({member, chunk}).second)
    return false;
  last_ = std::max(last_, at);
  const bool ours = chunk - own_.first < own_.count;
  if (ours && missing_.at(member) != 0 && --missing_[member] == 0
      && ++complete_ == most_of(others_) && others_ > 1)
    most_ = std::chrono::duration_cast<duration>(scale_ * (at - began_));
  return true;
}

void bulk_watch::forget(std::uint32_t chunk) {
  for (std::size_t i = 0; i < owes_.size(); ++i)
    if (come_.erase({i, chunk}) != 0 && owes_[i]
        && chunk - own_.first < own_.count)
      ++missing_[i];
}

void bulk_watch::begins_anew(time_point now) {
  look(now);
  if (++times_ <= most_times)
    again_ = now;
}

std::optional<time_point> bulk_watch::until() const {
  if (!most_)
    return std::nullopt;
  const auto whole = std::max(usual_, *most_);
  const auto first = began_ + most_times_usual * whole;
  return again_ ? std::max(first, *again_ + whole) : first;
}

void bulk_watch::look(time_point now) {
  if (const auto end = until(); !end || now <= *end)
    return;
  for (std::size_t i = 0; i < missing_.size(); ++i)
    if (missing_[i] != 0)
      late_.insert(i);
}

time_point bulk_watch::last_news(time_point taken) const {
  const auto last = std::max(last_, taken);
  const auto end = until();
  return end ? std::min(last, *end) : last;
}

} // namespace potluck
