/// The gateway's part in knowing this peer's line (runtime/lines).
#include <algorithm>
#include <cmath>
#include <utility>

#include "actors/gateway.hpp"
#include "messages/limits.hpp"
#include "runtime/config.hpp"

namespace potluck {

void gateway_state::on(const traffic_seen& x) {
  std::map<peer_id, line_traffic> peers; // Two may have several connections.
  for (const auto& seen : x.traffic) {
    auto i = links_.find(seen.id);
    if (i == links_.end() || i->second.peer.empty())
      continue;
    if (auto g = guests_.find(i->second.peer);
        g != guests_.end() && seen.received > 0)
      self_->send(g->second.session, traffic_seen{x.interval, {seen}});
    auto& sum = peers[i->second.peer];
    sum.peer = i->second.peer;
    sum.sent += seen.sent;
    sum.received += seen.received;
    sum.backlogged = sum.backlogged || seen.backlogged;
    sum.round_trip = std::max(sum.round_trip, seen.round_trip);
  }
  std::vector<line_traffic> traffic;
  for (const auto& [id, sum] : peers)
    traffic.push_back(sum);
  line_.observe(x.interval, traffic);
  if (probe_ && !probe_->over()) {
    if (line_.sure_of_upload())
      probe_->stop();
    if (auto to = peers.find(probed_); to != peers.end())
      probe(probed_, probe_->observed(x.interval, to->second.sent));
  }
  tell_line();
}

void gateway_state::on(const windows_planned& x) {
  for (auto id : std::exchange(planned_, {}))
    network_->plan_window(id, {});
  for (const auto& [peer, window] : x.windows)
    if (auto g = guests_.find(peer); g != guests_.end())
      for (auto id : g->second.connections) {
        network_->plan_window(id, window);
        planned_.insert(id);
      }
}

void gateway_state::probe(const peer_id& whom, std::size_t bytes) {
  auto g = guests_.find(whom);
  if (g == guests_.end())
    return;
  // Small ones, between which heartbeats find their way.
  static const auto zeros = std::make_shared<const std::vector<std::uint8_t>>(
      upload_probe::first_burst);
  for (std::size_t size = 0; bytes > 0; bytes -= size) {
    size = std::min(bytes, zeros->size());
    self_->send(g->second.session,
                parcel{whom, line_probe{}, {zeros, zeros->data(), size}});
  }
}

std::vector<slow_pair> gateway_state::slow_pairs() const {
  std::vector<slow_pair> result;
  for (const auto& [id, g] : guests_)
    if (auto limit = line_.sure_limit_to(id);
        limit > 0 && limit <= limits::slow_pair_most)
      result.push_back({id, limit});
  std::stable_sort(result.begin(), result.end(), [](auto& a, auto& b) {
    return a.bytes_per_second < b.bytes_per_second;
  });
  if (result.size() > max_slow_pairs)
    result.resize(max_slow_pairs);
  return result;
}

void gateway_state::tell_line() {
  auto now = self_->clock().now();
  if (now - last_told_ < limits::line_news_interval)
    return;
  auto news = [](double said, double is) {
    return std::abs(is - said) > limits::line_news * std::max(said, is);
  };
  line_measured is{line_.upload(), std::max(line_.upload(), line_.download()),
                   slow_pairs()};
  auto other_pairs = !std::equal(
      is.slow_pairs.begin(), is.slow_pairs.end(), told_.slow_pairs.begin(),
      told_.slow_pairs.end(), [&](const slow_pair& x, const slow_pair& told) {
        return x.to == told.to
               && !news(told.bytes_per_second, x.bytes_per_second);
      });
  auto other_line
      = news(told_.upload, is.upload) || news(told_.download, is.download);
  if (is.upload > 0 && (other_line || other_pairs)) {
    last_told_ = now;
    told_ = is;
    if (wired_.conductor)
      self_->send(wired_.conductor, is);
    if (other_line)
      self_->send(config_.observer, event{"line",
                                          {{"upload", line_.upload()},
                                           {"download", line_.download()}}});
  }
  for (const auto& [id, g] : guests_)
    if (auto limit = line_.limit_to(id); news(told_limits_[id], limit)) {
      last_told_ = now;
      told_limits_[id] = limit;
      self_->send(config_.observer,
                  event{"line", {{"peer", short_name(id)}, {"limit", limit}}});
    }
}

} // namespace potluck
