#include "tools/lab/network/faulty_network.hpp"

#include <algorithm>

#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

namespace {

/// How long a packet that is to be overtaken is kept at most: some packets of a
/// slow line, and less than TCP takes to send it again.
constexpr double longest_detour = 0.05;

network_description nothing_yet(std::uint64_t seed) {
  network_description result;
  result.seed = mix(seed, 1);
  return result;
}

} // namespace

faulty_network::faulty_network(std::uint64_t seed)
    : network_(nothing_yet(seed)), chance_(mix(seed, 2)) {
}

faulty_network::host faulty_network::add(std::uint32_t address) {
  auto result = network_.add({});
  hosts_[address] = result;
  faults_.push_back({});
  return result;
}

std::optional<faulty_network::host>
faulty_network::at(std::uint32_t address) const {
  auto i = hosts_.find(address);
  if (i == hosts_.end())
    return std::nullopt;
  return i->second;
}

void faulty_network::set_line(host which, const access_line& line,
                              const line_faults& faults) {
  network_.set_line(which, line);
  faults_.at(which) = faults;
}

std::uint64_t faulty_network::part(std::set<host> side) {
  partitions_[++next_partition_] = std::move(side);
  return next_partition_;
}

void faulty_network::reunite(std::uint64_t partition) {
  partitions_.erase(partition);
}

bool faulty_network::separated(host a, host b) const {
  return std::any_of(
      partitions_.begin(), partitions_.end(),
      [&](const auto& x) { return x.second.count(a) != x.second.count(b); });
}

bool faulty_network::happens(double share) {
  return share > 0 && chance_.uniform01() < share;
}

void faulty_network::cut(time_point now, host which) {
  std::vector<packet_bytes> resets;
  for (const auto& [address, x] : hosts_)
    if (x == which)
      totals_.cut += flows_.break_all(address, resets);
  for (auto& bytes : resets)
    if (auto segment = read_tcp(bytes))
      send_back(now, *segment, std::move(bytes));
}

/// A reset of our own: no fault of a line befalls it, but for a partition.
void faulty_network::send_back(time_point now, const tcp_segment& x,
                               packet_bytes bytes) {
  auto from = at(x.from.host), to = at(x.to.host);
  if (from && to && !separated(*from, *to))
    network_.send(now, {*from, *to, std::move(bytes)});
}

void faulty_network::send(time_point now, packet x) {
  ++totals_.packets;
  totals_.bytes += x.bytes.size();
  if (separated(x.from, x.to)) {
    ++totals_.blocked;
    return;
  }
  const auto& sender = faults_.at(x.from);
  const auto& receiver = faults_.at(x.to);
  auto share = [&](double line_faults::*what) {
    return 1 - (1 - sender.*what) * (1 - receiver.*what);
  };
  auto segment = read_tcp(x.bytes);
  if (segment) {
    if ((segment->opens() && receiver.closed)
        || (segment->carries_data() && receiver.deaf)) {
      ++totals_.blocked;
      return;
    }
    if (flows_.see(*segment) == tcp_flows::verdict::broken) {
      if (auto reset = tcp_flows::answer(*segment))
        if (auto back = read_tcp(*reset))
          send_back(now, *back, std::move(*reset));
      return;
    }
    totals_.connections += segment->opens();
  }
  if (happens(share(&line_faults::loss))) {
    ++totals_.lost;
    return;
  }
  if (segment && segment->carries_data()
      && happens(share(&line_faults::corrupt))) {
    ++totals_.corrupted;
    flip_payload_bit(x.bytes, *segment,
                     chance_.below(8 * (segment->end - segment->payload)));
  }
  if (happens(share(&line_faults::duplicate))) {
    ++totals_.duplicated;
    network_.send(now, x);
  }
  if (happens(share(&line_faults::reorder))) {
    ++totals_.reordered;
    late_.emplace(now + to_duration(longest_detour * chance_.uniform01()),
                  std::move(x));
    return;
  }
  network_.send(now, std::move(x));
}

std::optional<time_point> faulty_network::next() const {
  auto result = network_.next();
  if (!late_.empty() && (!result || late_.begin()->first < *result))
    result = late_.begin()->first;
  return result;
}

std::vector<faulty_network::packet> faulty_network::arrived(time_point now) {
  while (!late_.empty() && late_.begin()->first <= now) {
    network_.send(now, std::move(late_.begin()->second));
    late_.erase(late_.begin());
  }
  auto result = network_.arrived(now);
  // Of a connection that was cut, only our own resets arrive.
  result.erase(std::remove_if(result.begin(), result.end(),
                              [&](const packet& x) {
                                auto segment = read_tcp(x.bytes);
                                return segment && !segment->reset
                                       && !segment->opens()
                                       && flows_.is_broken(*segment);
                              }),
               result.end());
  return result;
}

} // namespace potluck
