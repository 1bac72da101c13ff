#include "actors/gateway_line.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/limits.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// A measured line is told to others when it differs by more than this from
/// what they know, and no more often than this.
constexpr double line_news = 0.1;
constexpr auto line_news_interval = 1s;
/// Pairs that carry more bytes per second (100 Mbit/s) are not told as slow
/// ones: there the computers are what is measured.
constexpr double slow_pair_most = 12.5e6;

bool is_news(double said, double is) {
  return std::abs(is - said) > line_news * std::max(said, is);
}

} // namespace

void gateway_line::init(gateway_actor::pointer self, observer_actor observer,
                        bool probes) {
  self_ = self;
  observer_ = std::move(observer);
  probes_ = probes;
}

void gateway_line::wire(const conductor_actor& conductor) {
  if (conductor && conductor != conductor_ && told_.upload > 0)
    self_->send(conductor, told_);
  conductor_ = conductor;
}

void gateway_line::joined(const peer_id& peer, role its,
                          session_actor session) {
  told_limits_.emplace(peer, 0);
  if (!probes_ || probe_ || its != role::trainer)
    return;
  probed_ = peer;
  to_probed_ = std::move(session);
  probe(probe_.emplace().begin());
}

void gateway_line::left(const peer_id& peer) {
  line_.forget(peer);
  told_limits_.erase(peer);
  if (peer == probed_)
    to_probed_ = session_actor{};
}

void gateway_line::passed(const peer_id& peer, const connection_traffic& seen) {
  auto& sum = passed_[peer];
  sum.peer = peer;
  sum.sent += seen.sent;
  sum.received += seen.received;
  sum.backlogged = sum.backlogged || seen.backlogged;
  sum.round_trip = std::max(sum.round_trip, seen.round_trip);
}

void gateway_line::observe(duration interval) {
  const auto peers = std::exchange(passed_, {});
  std::vector<line_traffic> traffic;
  for (const auto& [id, sum] : peers)
    traffic.push_back(sum);
  line_.observe(interval, traffic);
  if (probe_ && !probe_->over()) {
    if (line_.sure_of_upload())
      probe_->stop();
    if (auto to = peers.find(probed_); to != peers.end())
      probe(probe_->observed(interval, to->second.sent));
  }
  tell();
}

void gateway_line::probe(std::size_t bytes) {
  if (!to_probed_)
    return;
  // Small ones, between which heartbeats find their way.
  static const auto zeros = std::make_shared<const std::vector<std::uint8_t>>(
      upload_probe::first_burst);
  for (std::size_t size = 0; bytes > 0; bytes -= size) {
    size = std::min(bytes, zeros->size());
    self_->send(to_probed_,
                parcel{probed_, line_probe{}, {zeros, zeros->data(), size}});
  }
}

std::vector<slow_pair> gateway_line::slow_pairs() const {
  std::vector<slow_pair> result;
  for (const auto& [id, told] : told_limits_)
    if (auto limit = line_.sure_limit_to(id);
        limit > 0 && limit <= slow_pair_most)
      result.push_back({id, limit});
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) {
    return a.bytes_per_second < b.bytes_per_second;
  });
  if (result.size() > max_slow_pairs)
    result.resize(max_slow_pairs);
  return result;
}

void gateway_line::tell() {
  auto now = self_->clock().now();
  if (now - last_told_ < line_news_interval)
    return;
  line_measured is{line_.upload(), std::max(line_.upload(), line_.download()),
                   slow_pairs()};
  auto other_pairs = !std::equal(
      is.slow_pairs.begin(), is.slow_pairs.end(), told_.slow_pairs.begin(),
      told_.slow_pairs.end(), [&](const slow_pair& x, const slow_pair& told) {
        return x.to == told.to
               && !is_news(told.bytes_per_second, x.bytes_per_second);
      });
  auto other_line = is_news(told_.upload, is.upload)
                    || is_news(told_.download, is.download);
  if (is.upload > 0 && (other_line || other_pairs)) {
    last_told_ = now;
    told_ = is;
    if (conductor_)
      self_->send(conductor_, is);
    if (other_line)
      self_->send(observer_, event{"line",
                                   {{"upload", line_.upload()},
                                    {"download", line_.download()}}});
  }
  for (auto& [id, told] : told_limits_)
    if (auto limit = line_.limit_to(id); is_news(told, limit)) {
      last_told_ = now;
      told = limit;
      self_->send(observer_,
                  event{"line", {{"peer", short_name(id)}, {"limit", limit}}});
    }
}

} // namespace potluck
