#include "tools/lab/network/packet_network.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

packet_network::packet_network(std::uint64_t seed)
    : lines_{seed, line_emulator::load::packets} {
}

packet_network::host packet_network::add(std::uint32_t address,
                                         const access_line& line) {
  return hosts_[address] = lines_.add(line);
}

std::size_t packet_network::cut(time_point now, host which) {
  std::vector<packet_bytes> resets;
  std::size_t count = 0;
  for (const auto& [address, x] : hosts_)
    if (x == which)
      count += flows_.break_all(address, resets);
  for (auto& bytes : resets)
    send_back(now, std::move(bytes));
  return count;
}

void packet_network::send_back(time_point now, packet_bytes bytes) {
  auto segment = read_tcp(bytes);
  if (!segment)
    return;
  auto from = hosts_.find(segment->from.host);
  auto to = hosts_.find(segment->to.host);
  if (from != hosts_.end() && to != hosts_.end())
    transmit(now, {from->second, to->second, std::move(bytes)}, segment, true);
}

bool packet_network::passes_routers(time_point now, const packet& x,
                                    const std::optional<tcp_segment>& segment) {
  if (!segment || lines_.separated(x.from, x.to))
    return true; // The lines see to the latter.
  if (segment->carries_data() && lines_.line_of(x.to).deaf)
    return false;
  if (flows_.see(*segment) == tcp_flows::verdict::broken) {
    if (auto reset = tcp_flows::answer(*segment))
      send_back(now, std::move(*reset));
    return false;
  }
  connections_ += segment->opens();
  return true;
}

void packet_network::send(time_point now, packet x) {
  advance(now);
  const auto segment = read_tcp(x.bytes);
  if (passes_routers(now, x, segment))
    transmit(now, std::move(x), segment, false);
}

void packet_network::transmit(time_point now, packet x,
                              const std::optional<tcp_segment>& segment,
                              bool spared) {
  line_emulator::parcel parcel;
  parcel.from = x.from;
  parcel.to = x.to;
  parcel.bytes = x.bytes.size();
  parcel.spared = spared;
  if (segment && segment->carries_data())
    parcel.bits = 8 * (segment->end - segment->payload);
  const auto how = lines_.send(now, parcel, pairs_[{x.from, x.to}]);
  if (how.what != line_emulator::passage::fate::passes)
    return;
  if (how.flipped)
    flip_payload_bit(x.bytes, *segment, *how.flipped);
  for (auto i = how.copies; i > 1; --i)
    launch(how.arrives, false, x);
  launch(how.arrives, false, std::move(x));
}

void packet_network::launch(time_point at, bool received, packet what) {
  flights_.push({at, next_number_++, received, std::move(what)});
}

std::optional<time_point> packet_network::next() const {
  if (!ready_.empty())
    return time_point{};
  if (flights_.empty())
    return std::nullopt;
  return flights_.top().at;
}

void packet_network::advance(time_point now) {
  while (!flights_.empty() && flights_.top().at <= now) {
    // The queue gives no access to move from; what is popped next is ours.
    auto x = std::move(const_cast<flight&>(flights_.top()));
    flights_.pop();
    if (x.received) {
      ready_.push_back(std::move(x.what));
      continue;
    }
    line_emulator::parcel parcel;
    parcel.from = x.what.from;
    parcel.to = x.what.to;
    parcel.bytes = x.what.bytes.size();
    if (auto end
        = lines_.come_down(x.at, parcel, pairs_[{parcel.from, parcel.to}]))
      launch(*end, true, std::move(x.what));
  }
}

std::vector<packet_network::packet> packet_network::arrived(time_point now) {
  advance(now);
  auto result = std::exchange(ready_, {});
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
