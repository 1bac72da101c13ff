/// Punches that are under way, by the peer that they are to lead to. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "messages/ids.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

class open_punches {
public:
  /// What an older attempt has begun is forgotten.
  void begin(const peer_id& who, std::uint64_t attempt,
             std::set<connection_id> punches) {
    all_[who] = {attempt, std::move(punches)};
  }
  /// Forgets the peer's: one has led to it, or it is gone.
  void end(const peer_id& who) {
    all_.erase(who);
  }
  /// @returns The attempt, when that was the last punch of it.
  std::optional<std::uint64_t> ended(const peer_id& who, connection_id id) {
    auto found = all_.find(who);
    if (found == all_.end() || found->second.open.erase(id) == 0
        || !found->second.open.empty())
      return std::nullopt;
    const auto attempt = found->second.number;
    all_.erase(found);
    return attempt;
  }

private:
  struct attempt {
    std::uint64_t number = 0;
    std::set<connection_id> open;
  };
  std::map<peer_id, attempt> all_;
};

} // namespace potluck
