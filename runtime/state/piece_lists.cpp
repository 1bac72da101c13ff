#include "runtime/state/piece_lists.hpp"

#include <algorithm>

#include "runtime/state/pieces.hpp"

namespace potluck {

piece_lists::named piece_lists::name(const peer_id& from,
                                     const state_manifest& x, bool fresh,
                                     time_point now) {
  auto& b = blobs_[{!x.mean, x.step}];
  const auto listing = listing_of(x);
  // A donor has one list of a blob, and one vote.
  for (auto i = b.lists.begin(); i != b.lists.end();) {
    if (i->first != listing)
      i->second.donors.erase(from);
    i = i->second.donors.empty() && i->first != listing && i->first != b.chosen
            ? b.lists.erase(i)
            : std::next(i);
  }
  auto& mine = b.lists[listing];
  if (mine.donors.empty())
    mine.manifest = x;
  mine.donors.insert(from);
  mine.most = std::max(mine.most, mine.donors.size());
  std::size_t voters = 0;
  auto best = b.lists.begin();
  for (auto i = b.lists.begin(); i != b.lists.end(); ++i) {
    voters += i->second.donors.size();
    if (i->second.donors.size() > best->second.donors.size())
      best = i;
  }
  auto current = b.lists.find(b.chosen);
  const auto votes = best->second.donors.size();
  const bool majority = 2 * votes > voters;
  const bool unwanted
      = current == b.lists.end()
        || (current->second.donors.empty() && (fresh || b.doubted));
  if (b.chosen == best->first
      || !(unwanted || (majority && (fresh || votes > 1))))
    return {best->first, false};
  b.chosen = best->first;
  b.chosen_at = now;
  b.doubted = false;
  return {best->first, true};
}

std::set<peer_id> piece_lists::outvoted(const blob_key& key, const digest& most,
                                        std::size_t donors) const {
  std::set<peer_id> others;
  const auto& b = blobs_.at(key);
  const auto votes = b.lists.at(most).donors.size();
  if (b.chosen != most || votes < 2 || 2 * votes <= donors)
    return others;
  for (auto& [listing, x] : b.lists)
    if (listing != most)
      others.insert(x.donors.begin(), x.donors.end());
  return others;
}

std::map<blob_key, piece_lists::choice> piece_lists::chosen() const {
  std::map<blob_key, choice> result;
  for (auto& [key, b] : blobs_)
    if (auto x = chosen(key))
      result[key] = {x, b.chosen, b.chosen_at};
  return result;
}

const piece_lists::list* piece_lists::chosen(const blob_key& key) const {
  auto at = blobs_.find(key);
  if (at == blobs_.end())
    return nullptr;
  auto x = at->second.lists.find(at->second.chosen);
  return x == at->second.lists.end() ? nullptr : &x->second;
}

std::optional<blob_key> piece_lists::leading_to(const digest& state,
                                                bool mean) const {
  for (auto& [key, b] : blobs_)
    if (auto x = key.state == mean ? nullptr : chosen(key);
        x && x->manifest.state == state)
      return key;
  return std::nullopt;
}

std::vector<blob_key> piece_lists::keys() const {
  std::vector<blob_key> result;
  for (auto& [key, b] : blobs_)
    result.push_back(key);
  return result;
}

std::vector<blob_key> piece_lists::unheld() const {
  std::vector<blob_key> result;
  for (auto& [key, b] : blobs_)
    if (!key.state && std::all_of(b.lists.begin(), b.lists.end(), [](auto& x) {
          return x.second.donors.empty();
        }))
      result.push_back(key);
  return result;
}

bool piece_lists::any_behind(std::uint64_t step, std::size_t votes) const {
  return std::any_of(blobs_.upper_bound({false, step}),
                     blobs_.upper_bound({false, ~std::uint64_t{0}}),
                     [&](auto& x) {
                       const auto* list = chosen(x.first);
                       return list != nullptr && list->most >= votes;
                     });
}

std::optional<peer_id> piece_lists::alone_with(std::size_t means,
                                               std::size_t votes) const {
  std::map<peer_id, std::size_t> alone;
  for (auto& [key, b] : blobs_) {
    const auto* list = key.state ? nullptr : chosen(key);
    if (list != nullptr && list->donors.size() < votes)
      for (auto& id : list->donors)
        if (++alone[id] > means)
          return id;
  }
  return std::nullopt;
}

void piece_lists::withdraw(const blob_key& key, const peer_id& who) {
  for (auto& [listing, x] : blobs_.at(key).lists)
    x.donors.erase(who);
}

void piece_lists::forget(const peer_id& who) {
  for (auto& [key, b] : blobs_)
    withdraw(key, who);
}

void piece_lists::doubt(const peer_id& who) {
  for (auto& [key, b] : blobs_)
    for (auto& [listing, x] : b.lists)
      if (x.donors.erase(who) > 0 && x.donors.empty() && listing == b.chosen)
        b.doubted = true;
}

void piece_lists::forget_donors() {
  for (auto& [key, b] : blobs_)
    for (auto& [listing, x] : b.lists)
      x.donors.clear();
}

} // namespace potluck
