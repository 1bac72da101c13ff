#include "tools/lab/network/line_emulator.hpp"

#include <algorithm>
#include <cmath>

namespace potluck {

namespace {

/// A queue holds so much at least, so that a slow line passes whole packets and
/// a first window of TCP.
constexpr std::size_t least_queue_bytes = 16 * 1024;
/// Of TCP, in a stream.
constexpr double bytes_a_packet = 1400;
/// As kernels have it: at least so long, and twice the round trip.
constexpr duration shortest_retransmission = std::chrono::milliseconds{200};
/// What urgent parcels wait for at each line: as much of what others have to
/// send is in the line already, as in `upload_turns`; and no more waits for a
/// downlink, since what stands in a router's queue makes its senders slow down.
constexpr duration queue_in_the_line = std::chrono::milliseconds{250};
/// How much later comes at most what is overtaken: less than TCP takes to send
/// it again.
constexpr duration longest_detour = std::chrono::milliseconds{50};

duration time_for(std::size_t bytes, double rate) {
  return rate > 0
             ? duration{std::llround(static_cast<double>(bytes) / rate * 1e9)}
             : duration{0};
}

/// When a parcel has passed a line whose queue would let it go at `end`.
time_point overtake(time_point end, time_point now,
                    const line_emulator::parcel& x, double rate,
                    time_point& last) {
  if (x.urgent)
    end = std::min(end, std::max(now + queue_in_the_line, last)
                            + time_for(x.bytes, rate));
  last = end;
  return end;
}

duration share_of(duration x, random_stream& chance) {
  return duration{static_cast<duration::rep>(chance.uniform01()
                                             * static_cast<double>(x.count()))};
}

} // namespace

line_counters& line_counters::operator+=(const line_counters& x) {
  sent += x.sent;
  bytes_sent += x.bytes_sent;
  received += x.received;
  bytes_received += x.bytes_received;
  dropped += x.dropped;
  lost += x.lost;
  blocked += x.blocked;
  duplicated += x.duplicated;
  reordered += x.reordered;
  corrupted += x.corrupted;
  return *this;
}

line_emulator::line_emulator(std::uint64_t seed, load what)
    : load_{what}, chance_{seed} {
}

line_emulator::host line_emulator::add(const access_line& line) {
  hosts_.emplace_back();
  hosts_.back().line = line;
  return hosts_.size() - 1;
}

void line_emulator::block(host a, host b) {
  pairs_[{a, b}].blocked = true;
}

void line_emulator::limit(host a, host b, double rate, duration delay) {
  auto& x = pairs_[{a, b}];
  if (rate > 0)
    x.limit = rate;
  x.delay += delay;
}

std::uint64_t line_emulator::part(const std::set<host>& side) {
  ++last_partition_;
  for (auto x : side)
    hosts_[x].partitions.insert(last_partition_);
  return last_partition_;
}

void line_emulator::reunite(std::uint64_t partition) {
  for (auto& x : hosts_)
    x.partitions.erase(partition);
}

std::optional<time_point> line_emulator::pass(time_point& free, time_point now,
                                              std::size_t bytes, double rate,
                                              duration queue) const {
  const auto begin = std::max(now, free);
  if (load_ == load::packets && rate > 0
      && begin - now > std::max(queue, time_for(least_queue_bytes, rate)))
    return std::nullopt;
  free = begin + time_for(bytes, rate);
  return free;
}

bool line_emulator::happens(double here, double there) {
  const auto share = 1 - (1 - here) * (1 - there);
  return share > 0 && chance_.uniform01() < share;
}

line_emulator::passage line_emulator::send(time_point now, const parcel& x,
                                           flow& in) {
  static const pair_state usual;
  auto& sender = hosts_[x.from];
  const auto& line = sender.line;
  auto special = pairs_.empty() ? pairs_.end() : pairs_.find({x.from, x.to});
  const auto& pair = special == pairs_.end() ? usual : special->second;
  passage result;
  if (load_ == load::packets && (pair.blocked || separated(x.from, x.to))) {
    ++sender.counted.blocked;
    result.what = passage::fate::blocked;
    return result;
  }
  auto left = pass(sender.up_free, now, x.bytes, line.upload, line.queue);
  if (left && pair.limit > 0)
    left = pass(special->second.free, *left, x.bytes, pair.limit, line.queue);
  if (!left) {
    ++sender.counted.dropped;
    result.what = passage::fate::dropped;
    return result;
  }
  ++sender.counted.sent;
  sender.counted.bytes_sent += x.bytes;
  result.left = overtake(*left, now, x, line.upload, in.left);
  result.arrives = result.left + way(x.from, x.to) + pair.delay;
  if (!x.spared)
    befall(x, result);
  if (result.what != passage::fate::passes)
    return result;
  result.arrives = std::max(result.arrives, in.due);
  if (!x.spared && happens(line.reorder, hosts_[x.to].line.reorder)) {
    ++sender.counted.reordered;
    result.arrives += share_of(longest_detour, chance_);
  } else {
    in.due = result.arrives;
  }
  return result;
}

void line_emulator::befall(const parcel& x, passage& how) {
  auto& sender = hosts_[x.from];
  const auto& a = sender.line;
  const auto& b = hosts_[x.to].line;
  const auto packets
      = load_ == load::packets
            ? 1
            : std::ceil(static_cast<double>(x.bytes) / bytes_a_packet);
  const auto arrives = (1 - a.loss_up) * (1 - b.loss_down);
  if (arrives < 1 && chance_.uniform01() >= std::pow(arrives, packets)) {
    ++sender.counted.lost;
    if (load_ == load::packets) {
      how.what = passage::fate::lost;
      return;
    }
    how.arrives += std::max(shortest_retransmission, 4 * (a.delay + b.delay));
  }
  if (happens(a.duplicate, b.duplicate)) {
    ++sender.counted.duplicated;
    how.copies = 2;
  }
  if (x.bits > 0 && happens(a.corrupt, b.corrupt)) {
    ++sender.counted.corrupted;
    how.flipped = chance_.below(x.bits);
  }
}

std::optional<time_point> line_emulator::come_down(time_point now,
                                                   const parcel& x, flow& in) {
  auto& receiver = hosts_[x.to];
  const auto& line = receiver.line;
  auto done = pass(receiver.down_free, now, x.bytes, line.download, line.queue);
  if (!done) {
    ++hosts_[x.from].counted.dropped;
    return std::nullopt;
  }
  ++receiver.counted.received;
  receiver.counted.bytes_received += x.bytes;
  return overtake(*done, now, x, line.download, in.down);
}

duration line_emulator::way(host from, host to) {
  if (from == to)
    return duration{0};
  const auto& a = hosts_[from].line;
  const auto& b = hosts_[to].line;
  auto result = a.delay + b.delay;
  if (const auto jitter = a.jitter + b.jitter; jitter > duration{0})
    result += share_of(jitter, chance_);
  return result;
}

duration line_emulator::shortest_way() const {
  if (hosts_.size() < 2)
    return duration{0};
  auto least = duration::max(), second = duration::max();
  for (const auto& x : hosts_) {
    second = std::min(second, std::max(least, x.line.delay));
    least = std::min(least, x.line.delay);
  }
  return least + second;
}

line_counters line_emulator::totals() const {
  line_counters result;
  for (const auto& x : hosts_)
    result += x.counted;
  return result;
}

} // namespace potluck
