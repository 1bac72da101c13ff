#include "runtime/averaging/sum_defence.hpp"

#include <algorithm>
#include <utility>

#include "runtime/contract_members.hpp"
#include "runtime/packing/packing.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// For all members' parts; the others wait longer.
constexpr auto parts_patience = 5s;

} // namespace

sum_defence::sum_defence(const group_contract& contract, std::size_t self)
    : group_(contract.group), samples_(samples_by_member(contract)),
      self_(self) {
}

void sum_defence::dispute(std::uint32_t chunk, std::set<std::uint64_t> seeds,
                          const mean_evidence& mean, round_orders& out) {
  if (accounts_.count(chunk) != 0 || mean.parts.size() != samples_.size())
    return;
  auto& x = accounts_[chunk];
  x.length = mean.length;
  x.parts = mean.parts;
  for (auto seed : seeds)
    x.told[seed].resize(samples_.size());
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (!x.parts[i].empty() && samples_[i] != 0)
      x.missing.insert(i);
  if (mean.own)
    note(x, self_, mean.own->first, mean.own->second);
  for (auto i : x.missing)
    if (i != self_)
      out.emplace_back(round_mail{i, part_request{group_, chunk}});
  out.emplace_back(audit_reminder{parts_patience, chunk});
}

bool sum_defence::gathers(std::uint32_t chunk) const {
  const auto at = accounts_.find(chunk);
  return at != accounts_.end() && !at->second.taken;
}

void sum_defence::shown(std::size_t by, const chunk_part& head,
                        const shared_bytes& body) {
  if (gathers(head.chunk))
    note(accounts_.at(head.chunk), by, head, body);
}

void sum_defence::note(account& x, std::size_t member, const chunk_part& head,
                       const shared_bytes& body) {
  std::vector<float> values(x.length);
  if (x.missing.erase(member) == 0)
    return;
  if (digest_of(body) != x.parts[member]
      || !unpack(head.packing, body.data, body.size, values.data(), x.length)) {
    x.unshown.push_back(static_cast<std::uint8_t>(member));
    return;
  }
  for (auto& [seed, parts] : x.told)
    parts[member] = project(seed, head.chunk, values.data(), x.length);
}

void sum_defence::waited_for(std::uint32_t chunk) {
  if (!gathers(chunk))
    return;
  auto& x = accounts_.at(chunk);
  x.unshown.insert(x.unshown.end(), x.missing.begin(), x.missing.end());
  x.missing.clear();
}

std::vector<sum_account> sum_defence::take_accounts(std::uint32_t chunk) {
  std::vector<sum_account> result;
  if (!gathers(chunk) || !accounts_.at(chunk).missing.empty())
    return result;
  auto& x = accounts_.at(chunk);
  x.taken = true;
  std::sort(x.unshown.begin(), x.unshown.end());
  for (auto& [seed, parts] : x.told)
    result.push_back({group_, chunk, seed, parts, x.unshown});
  return result;
}

} // namespace potluck
