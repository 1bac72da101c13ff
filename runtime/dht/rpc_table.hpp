/// Requests whose answers are awaited.
///
/// Pure bookkeeping: it neither sends nor waits. A token is worth nothing
/// without the peer that it was issued for, so it need not be secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// @tparam What Whatever the owner needs to make use of the answer.
template <class What>
class rpc_table {
public:
  struct pending {
    std::uint64_t token = 0;
    peer_id peer;
    What what;
    time_point sent;
    time_point deadline;
  };

  enum class verdict {
    matched,  ///< The request is no longer pending.
    unknown,  ///< No such request: never made, answered, expired, cancelled.
    stranger, ///< It was made to another peer; it stays pending.
  };

  struct outcome {
    verdict what;
    std::optional<pending> request; ///< Present when `matched`.
  };

  /// @param first_token Where to start counting, for instance at random, so
  /// that
  ///        answers to an earlier life of this peer do not match.
  /// @param capacity Requests pending at once: 1,024 are 50 look-ups that ask
  ///        the 20 closest at once.
  explicit rpc_table(std::uint64_t first_token = 1, std::size_t capacity = 1024)
      : next_token_(first_token), capacity_(capacity) {
  }

  /// The token for a request to `peer` that may take `patience`; never zero.
  /// Nothing when too many requests are pending.
  std::optional<std::uint64_t> issue(const peer_id& peer, What what,
                                     time_point now, duration patience) {
    if (pending_.size() >= capacity_)
      return std::nullopt;
    while (next_token_ == 0 || pending_.count(next_token_) != 0)
      ++next_token_;
    const auto token = next_token_++;
    const auto deadline = now + patience;
    pending_.emplace(token,
                     pending{token, peer, std::move(what), now, deadline});
    deadlines_.emplace(deadline, token);
    return token;
  }

  /// Takes the request that an answer from `peer` repeats the token of.
  outcome answer(std::uint64_t token, const peer_id& peer) {
    auto at = pending_.find(token);
    if (at == pending_.end())
      return {verdict::unknown, {}};
    if (at->second.peer != peer)
      return {verdict::stranger, {}};
    return {verdict::matched, take(at)};
  }

  /// Takes the requests whose deadline is not after `now`, earliest first.
  std::vector<pending> expired(time_point now) {
    std::vector<pending> result;
    while (!deadlines_.empty() && deadlines_.begin()->first <= now)
      result.push_back(take(pending_.find(deadlines_.begin()->second)));
    return result;
  }

  /// The requests that were made before `then`.
  std::vector<pending> sent_before(time_point then) const {
    std::vector<pending> result;
    for (const auto& [token, x] : pending_)
      if (x.sent < then)
        result.push_back(x);
    return result;
  }

  /// Takes the requests to `peer`, for instance because it left.
  std::vector<pending> cancel(const peer_id& peer) {
    std::vector<pending> result;
    for (auto at = pending_.begin(); at != pending_.end();) {
      auto next = std::next(at);
      if (at->second.peer == peer)
        result.push_back(take(at));
      at = next;
    }
    return result;
  }

  std::size_t size() const {
    return pending_.size();
  }

private:
  pending take(typename std::map<std::uint64_t, pending>::iterator at) {
    pending result = std::move(at->second);
    deadlines_.erase({result.deadline, result.token});
    pending_.erase(at);
    return result;
  }

  std::uint64_t next_token_;
  std::size_t capacity_;
  std::map<std::uint64_t, pending> pending_;
  std::set<std::pair<time_point, std::uint64_t>> deadlines_;
};

} // namespace potluck
