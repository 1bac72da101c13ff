#include "runtime/averaging/means_inquiry.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace potluck {

namespace {

digest finding_of(const chunk_ledger& ledger, const chunk_map& map,
                  chunk_range own, const std::vector<float>& means) {
  std::string text;
  for (auto chunk = own.first; chunk < own.first + own.count; ++chunk) {
    if (ledger.version(chunk) != 1)
      return {};
    const auto range = map.range(chunk);
    const auto values
        = digest_of(means.data() + range.offset, range.count * sizeof(float));
    const auto head = ledger.describe(chunk);
    text.append(values.bytes.begin(), values.bytes.end());
    text += std::to_string(head.samples);
    text.append(head.left_out.begin(), head.left_out.end());
  }
  return text.empty() ? digest{} : digest_of(text.data(), text.size());
}

} // namespace

std::vector<digest> findings_of(const chunk_ledger& ledger,
                                const chunk_map& map,
                                const std::vector<float>& means) {
  std::vector<digest> result;
  for (std::size_t i = 0; i < map.member_count(); ++i)
    result.push_back(finding_of(ledger, map, map.chunks_of(i), means));
  return result;
}

void means_inquiry::heard(std::size_t member, std::vector<digest> owners) {
  if (member < members_ && owners.size() == members_)
    found_.emplace(member, std::move(owners));
}

judgement means_inquiry::judge() const {
  constexpr std::size_t enough_to_name = 3;
  std::set<std::size_t> named;
  std::set<std::pair<std::size_t, std::size_t>> apart;
  std::map<std::size_t, std::size_t> contradicts; // How many reducers.
  std::size_t reducers = 0;
  for (std::size_t owner = 0; owner < members_; ++owner) {
    std::map<digest, std::size_t> votes;
    std::size_t spoke = 0;
    for (auto& [member, owners] : found_)
      if (!owners[owner].empty()) {
        ++votes[owners[owner]];
        ++spoke;
      }
    if (spoke == 0)
      continue;
    ++reducers;
    auto most = std::max_element(
        votes.begin(), votes.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    bool majority = 2 * most->second > spoke;
    if (!majority && spoke >= enough_to_name) {
      named.insert(owner);
      continue;
    }
    auto own = found_.find(owner);
    if (majority && spoke >= enough_to_name && own != found_.end()
        && !own->second[owner].empty() && own->second[owner] != most->first) {
      named.insert(owner);
      continue;
    }
    for (auto& [member, owners] : found_) {
      auto& got = owners[owner];
      // Where there is no majority, each of the two may be the one that lies.
      if (member == owner || got.empty() || (majority && got == most->first))
        continue;
      ++contradicts[member];
      apart.insert(std::minmax(member, owner));
    }
  }
  for (auto& [member, count] : contradicts) {
    auto others
        = reducers
          - (found_.count(member) != 0 && !found_.at(member)[member].empty()
                 ? 1
                 : 0);
    if (count >= 2 && 2 * count > others && found_.size() >= enough_to_name)
      named.insert(member);
  }
  judgement result{{named.begin(), named.end()}, {}};
  for (auto& pair : apart)
    if (named.count(pair.first) == 0 && named.count(pair.second) == 0)
      result.apart.push_back(pair);
  return result;
}

} // namespace potluck
