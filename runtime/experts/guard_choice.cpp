#include "runtime/experts/guard_choice.hpp"

#include <algorithm>

namespace potluck {

namespace {

digest weight(const std::string& uid, const peer_id& host) {
  auto text = uid;
  text.append(host.bytes.begin(), host.bytes.end());
  return digest_of(text.data(), text.size());
}

} // namespace

std::vector<expert_host_notice>
guards_in_order(const std::string& uid, const peer_id& owner,
                const digest& kind,
                const std::vector<expert_host_notice>& hosts) {
  std::vector<std::pair<digest, const expert_host_notice*>> order;
  for (auto& x : hosts)
    if (x.host.id != owner && x.kind == kind && x.spare > 0)
      order.emplace_back(weight(uid, x.host.id), &x);
  std::sort(order.begin(), order.end(), [](auto& a, auto& b) {
    return b.first < a.first
           || (a.first == b.first && a.second->host.id < b.second->host.id);
  });
  std::vector<expert_host_notice> result;
  for (auto& [w, x] : order)
    result.push_back(*x);
  return result;
}

} // namespace potluck
