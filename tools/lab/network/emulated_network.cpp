#include "tools/lab/network/emulated_network.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// A queue holds so much at least, so that a slow line passes whole packets and
/// a first window of TCP.
constexpr double least_queue_bytes = 16 * 1024;

duration time_for(double bytes, double rate) {
  return std::chrono::duration_cast<duration>(
      std::chrono::duration<double>{bytes / rate});
}

} // namespace

std::optional<time_point> emulated_network::lane::pass(time_point now,
                                                       std::size_t bytes,
                                                       double rate,
                                                       duration longest_wait) {
  if (rate <= 0)
    return std::max(now, free);
  auto begin = std::max(now, free);
  if (begin - now > std::max(longest_wait, time_for(least_queue_bytes, rate)))
    return std::nullopt;
  free = begin + time_for(static_cast<double>(bytes), rate);
  return free;
}

emulated_network::emulated_network(const network_description& from)
    : chance_(from.seed) {
  for (const auto& x : from.hosts) {
    hosts_.emplace_back();
    hosts_.back().line = x.line;
  }
  auto add = [this](host a, host b, const network_link& x) {
    auto& pair = pairs_[{a, b}];
    pair.blocked = pair.blocked || x.blocked;
    if (x.limit > 0)
      pair.limit = x.limit;
    pair.delay += x.delay;
  };
  for (const auto& x : from.links)
    for (auto a : from.members(x.from))
      for (auto b : from.members(x.to)) {
        if (a == b)
          continue;
        add(a, b, x);
        if (x.both)
          add(b, a, x);
      }
}

emulated_network::host emulated_network::add(const access_line& line) {
  hosts_.emplace_back();
  hosts_.back().line = line;
  return hosts_.size() - 1;
}

void emulated_network::set_line(host which, const access_line& line) {
  hosts_.at(which).line = line;
}

void emulated_network::change(host which, const line_change& how) {
  how.apply(hosts_.at(which).line);
}

void emulated_network::send(time_point now, packet x) {
  advance(now);
  auto& sender = hosts_.at(x.from);
  auto& receiver = hosts_.at(x.to);
  auto& pair = pairs_[{x.from, x.to}];
  if (pair.blocked) {
    ++sender.counted.blocked;
    return;
  }
  const auto& line = sender.line;
  auto up = sender.up.pass(now, x.bytes.size(), line.upload, line.queue);
  auto out = up ? pair.way.pass(*up, x.bytes.size(), pair.limit, line.queue)
                : std::nullopt;
  if (!out) {
    ++sender.counted.dropped;
    return;
  }
  ++sender.counted.packets_sent;
  sender.counted.bytes_sent += x.bytes.size();
  if (line.loss > 0 && chance_.uniform01() < line.loss) {
    ++sender.counted.lost;
    return;
  }
  auto jitter = line.jitter + receiver.line.jitter;
  auto at = *out + line.delay + receiver.line.delay + pair.delay;
  if (jitter > duration{0})
    at += duration{static_cast<duration::rep>(
        chance_.uniform01() * static_cast<double>(jitter.count()))};
  pair.last_arrival = std::max(pair.last_arrival, at);
  launch(pair.last_arrival, false, std::move(x));
}

void emulated_network::launch(time_point at, bool received, packet what) {
  flights_.push({at, next_number_++, received, std::move(what)});
}

std::optional<time_point> emulated_network::next() const {
  if (!ready_.empty())
    return time_point{};
  if (flights_.empty())
    return std::nullopt;
  return flights_.top().at;
}

void emulated_network::advance(time_point now) {
  while (!flights_.empty() && flights_.top().at <= now) {
    // The queue gives no access to move from; what is popped next is ours.
    auto x = std::move(const_cast<flight&>(flights_.top()));
    flights_.pop();
    auto& receiver = hosts_[x.what.to];
    if (x.received) {
      ++receiver.counted.packets_received;
      receiver.counted.bytes_received += x.what.bytes.size();
      ready_.push_back(std::move(x.what));
      continue;
    }
    auto end = receiver.down.pass(x.at, x.what.bytes.size(),
                                  receiver.line.download, receiver.line.queue);
    if (end)
      launch(*end, true, std::move(x.what));
    else
      ++hosts_[x.what.from].counted.dropped;
  }
}

std::vector<emulated_network::packet>
emulated_network::arrived(time_point now) {
  advance(now);
  return std::exchange(ready_, {});
}

} // namespace potluck
