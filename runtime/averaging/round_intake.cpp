#include "runtime/averaging/round_intake.hpp"

#include <algorithm>
#include <utility>

#include "runtime/packing/packing.hpp"

namespace potluck {

round_intake::round_intake(std::size_t least_bytes)
    : least_bytes_{least_bytes} {
}

void round_intake::begin(const group_id& group, std::vector<peer_id> members,
                         std::function<void(arrival)> all_means_here) {
  end();
  std::lock_guard<std::mutex> guard{mutex_};
  group_ = group;
  members_ = std::move(members);
  all_means_here_ = std::move(all_means_here);
}

void round_intake::expect_parts(std::uint32_t chunk,
                                std::shared_ptr<shared_average> where,
                                std::function<void()> complete) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (!members_.empty())
    parts_[chunk] = {std::move(where), std::move(complete)};
}

void round_intake::expect_mean(std::uint32_t chunk, std::size_t owner,
                               std::shared_ptr<std::vector<float>> whole,
                               std::uint64_t offset, std::uint64_t count) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (!members_.empty() && count * sizeof(float) >= least_bytes_)
    means_[chunk] = {owner, std::move(whole), offset, count};
}

void round_intake::close_mean(std::uint32_t chunk) {
  std::lock_guard<std::mutex> guard{mutex_};
  means_.erase(chunk);
}

void round_intake::close_parts(std::uint32_t chunk) {
  std::lock_guard<std::mutex> guard{mutex_};
  parts_.erase(chunk);
}

void round_intake::end() {
  close();
  arrivals();
}

void round_intake::close() {
  std::lock_guard<std::mutex> guard{mutex_};
  members_.clear();
  parts_.clear();
  means_.clear();
  all_means_here_ = nullptr;
}

std::vector<round_intake::arrival> round_intake::arrivals() {
  std::lock_guard<std::mutex> guard{mutex_};
  return std::exchange(arrivals_, {});
}

bool round_intake::take(const peer_id& from, message& content,
                        const shared_bytes& body, time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  auto found = std::find(members_.begin(), members_.end(), from);
  if (found == members_.end())
    return false;
  auto member = static_cast<std::size_t>(found - members_.begin());
  arrival news{from, {}, {nullptr, nullptr, body.size}, now};
  if (auto* part = std::get_if<chunk_part>(&content)) {
    if (!take(member, *part, body))
      return false;
  } else if (auto* mean = std::get_if<chunk_mean>(&content)) {
    if (!take(member, *mean, body, news))
      return false;
  } else {
    return false;
  }
  const bool last
      = means_.empty() && std::holds_alternative<chunk_mean>(content);
  news.content = std::move(content);
  if (last && all_means_here_)
    all_means_here_(std::move(news));
  else
    arrivals_.push_back(std::move(news));
  return true;
}

bool round_intake::take(std::size_t member, const chunk_part& part,
                        const shared_bytes& body) {
  auto place = parts_.find(part.chunk);
  if (part.group != group_ || place == parts_.end())
    return false;
  auto& [where, complete] = place->second;
  // Its reducer is at it: whoever receives has other things to do than wait.
  std::unique_lock<std::mutex> lock{where->mutex, std::try_to_lock};
  if (!lock)
    return false;
  auto verdict = where->average.offer(member, part.samples, part.packing, body);
  if (verdict != chunk_average::verdict::accepted
      && verdict != chunk_average::verdict::complete)
    return false; // It has changed nothing, and will get the same again.
  where->parts[member] = digest_of(body);
  lock.unlock();
  if (verdict == chunk_average::verdict::complete) {
    complete();
    parts_.erase(place);
  }
  return true;
}

bool round_intake::take(std::size_t member, const chunk_mean& mean,
                        const shared_bytes& body, arrival& news) {
  auto place = means_.find(mean.chunk);
  if (mean.group != group_ || mean.version != 1 || place == means_.end())
    return false;
  auto [owner, whole, offset, count] = place->second;
  if (owner != member || body.size != packed_bytes(mean.packing, count))
    return false;
  auto* to = whole->data() + offset;
  means_.erase(place);
  auto sum = unpack_in_place(mean.packing, body, to, count,
                             writing_of(whole->size()));
  if (!sum)
    return false;
  auto* bytes = reinterpret_cast<const std::uint8_t*>(to);
  news.body = {std::move(whole), bytes, body.size, *sum};
  return true;
}

} // namespace potluck
