/// This peer's requests to nodes. How long each may take is learnt from that
/// node's earlier answers.
///
/// A request whose deadline has passed has failed. It is remembered all the
/// same: an answer that comes too late shows that its node lives, and that it
/// needs longer. Pure: it neither sends nor waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/dht/limits.hpp"
#include "runtime/dht/rpc_table.hpp"
#include "runtime/membership/deadline_estimator.hpp"

namespace potluck {

class timed_requests {
public:
  /// Each holds the search that it serves, or 0 for a ping or store.
  using request = rpc_table<std::uint64_t>::pending;

  /// @param first_token At random: answers to an earlier life do not match.
  explicit timed_requests(std::uint64_t first_token) : pending_(first_token) {
  }

  /// The token of a request to `who`. Nothing when too many are pending.
  std::optional<std::uint64_t> issue(const peer_id& who, std::uint64_t search,
                                     time_point now) {
    return pending_.issue(who, search, now, patience_.patience(who));
  }

  struct answer {
    /// `from` was asked this, and it has not been answered before.
    bool wanted = false;
    std::optional<request> in_time; ///< What it was asked; none: too late.
  };
  answer answered(const peer_id& from, std::uint64_t token, time_point now) {
    auto outcome = pending_.answer(token, from);
    auto late = overdue_.find(token);
    if (outcome.request) {
      patience_.observed(from, now - outcome.request->sent);
      return {true, std::move(outcome.request)};
    }
    if (late != overdue_.end() && late->second.peer == from) {
      patience_.observed(from, now - late->second.sent);
      overdue_.erase(late);
      return {true, {}};
    }
    return {};
  }

  /// Ends those whose deadline has passed, the earliest first.
  /// @param failed Told of each, once its node is known to be slow; it may
  ///     issue others.
  template <class Failed>
  void expire(time_point now, Failed failed) {
    for (auto& x : pending_.expired(now)) {
      patience_.expired(x.peer);
      if (overdue_.size() >= limits::overdue_requests)
        overdue_.erase(overdue_.begin()); // Tokens count up: the oldest.
      overdue_.emplace(x.token, x);
      failed(x);
    }
  }

  /// Ends those to `who`, since it left.
  std::vector<request> cancel(const peer_id& who) {
    return pending_.cancel(who);
  }

  /// Those that have taken long, and may still be answered.
  std::vector<request> slow(time_point now) const {
    return pending_.sent_before(now - limits::routing_floor);
  }

  /// That may still be answered in time.
  std::size_t size() const {
    return pending_.size();
  }

private:
  rpc_table<std::uint64_t> pending_;
  deadline_estimator patience_{
      {limits::routing_floor, limits::routing_cap, limits::routing_patience}};
  /// Requests whose deadline has passed, by token: answers may yet come.
  std::map<std::uint64_t, request> overdue_;
};

} // namespace potluck
