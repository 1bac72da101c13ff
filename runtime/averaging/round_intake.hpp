/// Where a round's bulk ends as it comes: parts in their sums, means in their
/// places, on the thread that received them.
///
/// What the kernel has just copied lies in that thread's cache, and no other
/// thread has to be woken for it. The round's owner opens places, learns of
/// what was taken by `arrivals()`, and decides what it counts for. Whatever is
/// not exactly what a place is open for is not taken: it goes the usual way,
/// which knows the verdict for it. Thread-safe; no clock, socket or actor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/chunk_average.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// A chunk's average that its reducer and whoever receives parts both feed.
struct shared_average {
  shared_average(std::size_t length, std::vector<std::uint64_t> samples,
                 averaging_rule rule,
                 std::optional<value_pool> rooms = std::nullopt)
      : parts(samples.size()), average{length, std::move(samples), rule,
                                       std::move(rooms)} {
  }
  std::mutex mutex;          ///< Of all that follows.
  std::vector<digest> parts; ///< Of those counted; for who checks the mean.
  chunk_average average;
};

class round_intake {
public:
  /// What was taken.
  struct arrival {
    peer_id from;
    message content; ///< A `chunk_part` or a `chunk_mean`.
    /// The size of what came; of a mean also its place, where its values are
    /// now, and their sum.
    shared_bytes body;
    time_point when;
  };

  /// Smaller bodies are not worth a lock: they cost less than their messages.
  static constexpr std::size_t usual_least_bytes = 16 * 1024;

  explicit round_intake(std::size_t least_bytes = usual_least_bytes);

  // ---- the round's owner
  // -------------------------------------------------------

  /// Opens a round without places.
  /// @param members Their ids, in the contract's order.
  /// @param all_means_here Called as the last of all places for means is taken,
  /// with the one that did; on the thread of `take`, which it must not call.
  void begin(const group_id& group, std::vector<peer_id> members,
             std::function<void(arrival)> all_means_here);

  /// Opens a place for every part of the chunk that is yet to come.
  /// @param complete Called when all parts are in `where` but those it does
  /// without; on the thread of `take`.
  void expect_parts(std::uint32_t chunk, std::shared_ptr<shared_average> where,
                    std::function<void()> complete);

  /// Opens a place for version 1 of a chunk's mean.
  /// @param owner Who makes it: an index into the members.
  /// @param whole Is written to at `offset`, `count` values, until `end` or
  /// `close_mean`.
  void expect_mean(std::uint32_t chunk, std::size_t owner,
                   std::shared_ptr<std::vector<float>> whole,
                   std::uint64_t offset, std::uint64_t count);

  /// The chunk's mean comes from elsewhere: nothing is written there any more.
  void close_mean(std::uint32_t chunk);

  /// The chunk's reducer has ended.
  void close_parts(std::uint32_t chunk);

  /// Closes all places, and forgets what was not asked for.
  void end();
  /// The same, but `arrivals` has what was taken before.
  void close();

  /// What was taken since the last call, in that order; without what went to
  /// `all_means_here`.
  std::vector<arrival> arrivals();

  // ---- whoever receives
  // -----------------------------------------------------------

  bool worth_a_look(std::size_t body_bytes) const {
    return body_bytes >= least_bytes_;
  }

  /// Adds a part to its sum, or puts a mean in its place.
  /// @param content Moved from when it is taken, else unchanged.
  /// @returns False when there is no place open for it, it does not fit, or
  /// somebody is at its sum right now: nothing has changed then, and it is to
  /// be delivered the usual way. The place of a mean that is not finite may
  /// have been written to, and is closed.
  bool take(const peer_id& from, message& content, const shared_bytes& body,
            time_point now);

private:
  struct parts_place {
    std::shared_ptr<shared_average> where;
    std::function<void()> complete;
  };
  struct mean_place {
    std::size_t owner;
    std::shared_ptr<std::vector<float>> whole;
    std::uint64_t offset;
    std::uint64_t count;
  };

  bool take(std::size_t member, const chunk_part& part,
            const shared_bytes& body);
  bool take(std::size_t member, const chunk_mean& mean,
            const shared_bytes& body, arrival& news);

  const std::size_t least_bytes_;
  std::mutex mutex_; ///< Of all that follows; before a `shared_average`'s.
  group_id group_;
  std::vector<peer_id> members_;
  std::function<void(arrival)> all_means_here_;
  std::map<std::uint32_t, parts_place> parts_;
  std::map<std::uint32_t, mean_place> means_;
  std::vector<arrival> arrivals_;
};

} // namespace potluck
