/// Who is there while faults happen. Private to this folder.
#pragma once

#include <cstddef>
#include <map>
#include <set>

namespace potluck {

/// Who is there while what is due happens: those who were, and what has
/// changed since. Nobody copies thousands for one who comes.
class fault_crowd {
public:
  explicit fault_crowd(const std::set<std::size_t>& before) : before_(before) {
  }
  bool has(std::size_t peer) const {
    auto changed = since_.find(peer);
    return changed != since_.end() ? changed->second : before_.count(peer) != 0;
  }
  void add(std::size_t peer) {
    since_[peer] = true;
  }
  /// Whether it was there.
  bool remove(std::size_t peer) {
    auto there = has(peer);
    since_[peer] = false;
    return there;
  }
  /// In order.
  std::set<std::size_t> all() const {
    auto result = before_;
    for (auto& [peer, there] : since_)
      if (there)
        result.insert(peer);
      else
        result.erase(peer);
    return result;
  }

private:
  const std::set<std::size_t>& before_;
  std::map<std::size_t, bool> since_; ///< Whether they are there now.
};

} // namespace potluck
