#include "runtime/strangers/unread_answers.hpp"

#include <algorithm>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

void unread_answers::wait(connection_id id, const std::string& host,
                          std::size_t bytes) {
  auto at = ones_.find(id);
  if (at == ones_.end()) {
    if (bytes == 0)
      return;
    at = ones_.emplace(id, one{home_of(host)}).first;
  }
  auto& x = at->second;
  auto& mine = homes_[x.home];
  mine += bytes - x.bytes; // Wraps around, and back.
  all_ += bytes - x.bytes;
  x.bytes = bytes;
  if (mine == 0)
    homes_.erase(x.home);
  if (bytes == 0)
    ones_.erase(at);
}

void unread_answers::forget(connection_id id) {
  if (ones_.count(id) != 0)
    wait(id, {}, 0);
}

std::optional<connection_id> unread_answers::gives_way() const {
  if (all_ <= most_)
    return std::nullopt;
  const auto less
      = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto fattest = std::max_element(homes_.begin(), homes_.end(), less);
  std::optional<connection_id> result;
  std::size_t most = 0;
  for (const auto& [id, x] : ones_)
    if (x.home == fattest->first && x.bytes > most) {
      most = x.bytes;
      result = id;
    }
  return result;
}

} // namespace potluck
