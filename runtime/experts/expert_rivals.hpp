/// Whether an expert that is served here has come to another host as well.
///
/// Pure: the time is passed in; whoever owns it looks up who announces what.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/experts/expert_records.hpp"
#include "runtime/experts/tenure.hpp"

namespace potluck {

class expert_rivals {
public:
  explicit expert_rivals(const peer_id& self) : self_(self) {
  }

  void serves(const std::string& uid, std::uint32_t term, time_point now) {
    auto& x = experts_.try_emplace(uid, expert{term, now}).first->second;
    x.term = term;
  }
  void dropped(const std::string& uid) {
    experts_.erase(uid);
  }
  /// What is being handed over is not asked about any more.
  void leave() {
    leaving_ = true;
  }

  /// Experts whose hosts are to be looked up now, at most so many; counts as
  /// done for those it returns.
  std::vector<std::string> due(time_point now, std::size_t at_most) {
    std::vector<std::string> result;
    for (auto& [uid, x] : experts_)
      if (now >= x.next_look && result.size() < at_most && !leaving_) {
        x.next_look = now + duration{limits::expert_rivals_look};
        result.push_back(uid);
      }
    return result;
  }

  /// Of those that announce the expert, the one to which this host gives way,
  /// if it lives: its record may outlive it. Nothing when this host stays.
  std::optional<tenure>
  better(const std::string& uid,
         const std::vector<expert_announcement>& hosts) const {
    auto i = experts_.find(uid);
    if (i == experts_.end())
      return std::nullopt;
    const tenure mine{i->second.term, self_};
    auto best = mine;
    for (auto& h : hosts)
      if (h.host.id != self_)
        best = std::max(best, tenure_of(h));
    return mine < best ? std::make_optional(best) : std::nullopt;
  }

  bool has(const std::string& uid) const {
    return experts_.count(uid) != 0;
  }

private:
  struct expert {
    std::uint32_t term = 1;
    time_point next_look;
  };

  peer_id self_;
  std::map<std::string, expert> experts_;
  bool leaving_ = false;
};

} // namespace potluck
