#include "runtime/ways/cells/gathering.hpp"

#include <algorithm>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/averaging/chunk_map.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

/// Contributors asked at a time: a gradient's memory each. Of a small model
/// many more: as many gradients as fit, since each of them first ends a batch.
constexpr std::size_t contributors_at_once = 8;
constexpr std::uint64_t contribution_bytes_in_flight = 32 << 20;
/// Gathering takes longer by so many times what the gradients take on their
/// lines.
constexpr int gathering_share = 2;

} // namespace

duration gathering_time(const progress_report& sponsor, std::uint64_t bytes) {
  using seconds = std::chrono::duration<double>;
  auto over = [&](double rate, double gradients) {
    return rate > 0 ? gradients * static_cast<double>(bytes) / rate : 0;
  };
  auto at_once = gathering::at_once(bytes);
  auto turns = (sponsor.contributors + at_once - 1) / at_once;
  auto longest = std::max(
      over(std::max(sponsor.download_bytes_per_second,
                    sponsor.upload_bytes_per_second),
           sponsor.contributors),
      over(sponsor.upload_bytes_per_second, static_cast<double>(turns)));
  return std::chrono::duration_cast<duration>(
      std::min<seconds>(seconds{longest}, limits::longest_gathering));
}

duration gathering_patience(const progress_report& sponsor,
                            std::uint64_t parameters, duration computing) {
  const auto said
      = gathering_share * gathering_time(sponsor, parameters * sizeof(float));
  return std::min(said, std::max<duration>(computing, limits::least_gathering));
}

std::size_t gathering::at_once(std::uint64_t bytes) {
  auto fitting
      = contribution_bytes_in_flight / std::max<std::uint64_t>(1, bytes);
  return std::max<std::size_t>(contributors_at_once, fitting);
}

gathering::gathering(std::uint64_t number, std::uint64_t step,
                     const digest& state, shape what,
                     std::vector<peer_id> contributors, std::size_t at_once)
    : number_{number}, step_{step}, state_{state}, shape_{what},
      chunks_{count_chunks(what.gradient_values, what.part_values)},
      at_once_{std::max<std::size_t>(at_once, 1)}, waiting_{std::move(
                                                       contributors)} {
  std::reverse(waiting_.begin(), waiting_.end());
}

std::vector<peer_id> gathering::next() {
  std::vector<peer_id> result;
  while (open_.size() < at_once_ && !waiting_.empty()) {
    if (open_.try_emplace(waiting_.back()).second)
      result.push_back(waiting_.back());
    waiting_.pop_back();
  }
  return result;
}

gathering::verdict gathering::refuse(const peer_id& from, const char* why) {
  reason_ = why;
  open_.erase(from);
  return verdict::refused;
}

gathering::verdict gathering::offer(const peer_id& from,
                                    const contribution_part& part,
                                    const std::uint8_t* body,
                                    std::size_t size) {
  auto found = open_.find(from);
  if (found == open_.end() || part.number != number_ || found->second.complete)
    return verdict::unasked;
  auto& half = found->second;
  auto& x = half.so_far;
  if (part.chunk != half.next_chunk)
    return refuse(from, "its chunks are out of order");
  if (part.chunk == 0) {
    x.from = from;
    x.step = step_;
    x.samples = part.samples;
    x.loss_sum = part.loss_sum;
    x.gradient.reserve(shape_.gradient_values);
  } else if (part.samples != x.samples) {
    return refuse(from, "its chunks are over different samples");
  }
  auto have = x.gradient.size();
  auto count = std::min<std::size_t>(shape_.gradient_values - have,
                                     shape_.part_values);
  if (size != packed_bytes(part.packing, count))
    return refuse(from, "a chunk has another length than the run's");
  x.gradient.resize(have + count);
  auto* values = x.gradient.data() + have;
  if (!unpack(part.packing, body, size, values, count)
      || !all_within(values, count, largest_contributed_value))
    return refuse(from, unfit_values);
  if (++half.next_chunk < chunks_)
    return verdict::placed;
  half.complete = true;
  return verdict::complete;
}

std::optional<contribution> gathering::take(const peer_id& from) {
  auto found = open_.find(from);
  if (found == open_.end() || !found->second.complete)
    return std::nullopt;
  auto result = std::move(found->second.so_far);
  open_.erase(found);
  return result;
}

void gathering::without(const peer_id& from) {
  open_.erase(from);
  waiting_.erase(std::remove(waiting_.begin(), waiting_.end(), from),
                 waiting_.end());
}

std::vector<peer_id> gathering::unfinished() const {
  std::vector<peer_id> result;
  for (const auto& [id, half] : open_)
    result.push_back(id);
  return result;
}

} // namespace potluck
