#include "tools/lab/network/tcp_flows.hpp"

namespace potluck {

tcp_flows::key tcp_flows::key_of(const tcp_segment& x) {
  return x.from < x.to ? key{x.from, x.to} : key{x.to, x.from};
}

tcp_flows::verdict tcp_flows::see(const tcp_segment& x) {
  if (x.opens()) {
    flows_[key_of(x)] = {};
    return verdict::pass;
  }
  auto i = flows_.find(key_of(x));
  if (i == flows_.end())
    return verdict::pass;
  auto& flow = i->second;
  if (flow.broken)
    return verdict::broken;
  auto end = x.from == i->first[0] ? 0u : 1u;
  if (x.ack)
    flow.expects[end] = x.acknowledged;
  flow.finished[end] = flow.finished[end] || x.fin;
  if (x.reset || (flow.finished[0] && flow.finished[1]))
    flows_.erase(i);
  return verdict::pass;
}

bool tcp_flows::is_broken(const tcp_segment& x) const {
  auto i = flows_.find(key_of(x));
  return i != flows_.end() && i->second.broken;
}

std::optional<packet_bytes> tcp_flows::answer(const tcp_segment& x) {
  if (x.reset || !x.ack)
    return std::nullopt;
  return make_reset(x.to, x.from, x.acknowledged);
}

std::size_t tcp_flows::break_all(std::uint32_t host,
                                 std::vector<packet_bytes>& resets) {
  std::size_t count = 0;
  for (auto& [ends, flow] : flows_) {
    if (flow.broken || (ends[0].host != host && ends[1].host != host))
      continue;
    flow.broken = true;
    ++count;
    for (std::size_t i = 0; i < 2; ++i)
      if (flow.expects[i])
        resets.push_back(make_reset(ends[1 - i], ends[i], *flow.expects[i]));
  }
  return count;
}

} // namespace potluck
