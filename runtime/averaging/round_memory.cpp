#include "runtime/averaging/round_memory.hpp"

#include <algorithm>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/averaging/value_pool.hpp"
#include "runtime/config.hpp"

namespace potluck {

namespace {

constexpr std::uint64_t value_bytes = sizeof(float);
/// At most: as float16.
constexpr std::uint64_t packed_value_bytes = 2;
/// Of a chunk's reducer, and beside it of each member's part.
constexpr std::uint64_t reducer_bytes = 4096, reduced_part_bytes = 32;
/// Of each chunk of the gradient, whoever averages it.
constexpr std::uint64_t chunk_bytes = 32;
/// Of what is written to a connection, encrypted (uv/README.md, "Out").
constexpr std::uint64_t written_bytes = std::uint64_t{256} << 10;

chunk_map map_of(const group_contract& contract, const share_plan& plan) {
  return {contract.gradient_values, contract.chunk_values, plan.chunks};
}

} // namespace

std::uint64_t planned_values(const group_contract& contract,
                             const share_plan& plan, std::size_t self) {
  const auto map = map_of(contract, plan);
  const auto own = map.chunks_of(self);
  std::uint64_t values = 0;
  for (auto chunk = own.first; chunk < own.first + own.count; ++chunk)
    values += map.range(chunk).count;
  return values;
}

std::uint64_t round_memory(const group_contract& contract,
                           const share_plan& plan, std::size_t self,
                           const averaging_rule& rule) {
  const auto values = planned_values(contract, plan, self);
  // Sums, means, and idle.
  auto a_value = 3 * value_bytes + 2 * packed_value_bytes;
  if (rule.how != aggregator::mean)
    a_value += value_bytes
               * static_cast<std::uint64_t>(std::count_if(
                   contract.members.begin(), contract.members.end(),
                   [](auto& x) { return x.samples != 0; }));
  const auto of_a_line = limits::unread_bytes + written_bytes
                         + value_bytes * contract.chunk_values;
  const auto map = map_of(contract, plan);
  const std::uint64_t members = contract.members.size();
  return values * a_value + map.chunk_count() * chunk_bytes
         + map.chunks_of(self).count
               * (reducer_bytes + members * reduced_part_bytes)
         + std::min<std::uint64_t>(value_pool::most_waiting,
                                   values * value_bytes)
         + (members - 1) * of_a_line;
}

void memory_allowance::favour(const peer_id& who) {
  std::lock_guard<std::mutex> guard{mutex_};
  favoured_.insert(who);
}

bool memory_allowance::take(const peer_id& who, std::uint64_t bytes) {
  std::lock_guard<std::mutex> guard{mutex_};
  if (bytes > each_ && favoured_.count(who) == 0)
    return false;
  std::uint64_t others = 0;
  for (const auto& [id, held] : held_)
    if (id != who)
      others += held;
  if (others > most_ || bytes > most_ - others)
    return false;
  held_[who] = bytes;
  return true;
}

void memory_allowance::release(const peer_id& who) {
  std::lock_guard<std::mutex> guard{mutex_};
  held_.erase(who);
}

} // namespace potluck
