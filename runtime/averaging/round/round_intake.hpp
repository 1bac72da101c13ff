/// Where a round's bulk ends as it comes: parts in their sums, means in their
/// places, on the thread that received them.
///
/// What the kernel has just copied lies in that thread's cache, and no other
/// thread has to be woken for it. The round's owner opens a round, and is told
/// of the event that all means are in their places; what else was taken it
/// learns when it asks. Whatever is not exactly what a place is open for is not
/// taken, and goes by letter. Thread-safe; no clock, socket or actor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <variant>
#include <vector>

#include "messages/message.hpp"
#include "runtime/averaging/round/chunk_sum.hpp"
#include "runtime/averaging/round/mean_places.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class round_intake {
public:
  /// What is in its sum or its place.
  struct taken {
    std::size_t member = 0; ///< From whom: an index into the contract.
    std::variant<chunk_part, chunk_mean> head;
    std::size_t bytes = 0; ///< As it came,
    time_point at{};       ///< and when.
  };
  /// Tells the reducer what an offer on its behalf has come to.
  using reducer_line = std::function<void(std::size_t member, chunk_sum::news)>;

  /// Smaller bodies are not worth a lock: they cost less than their messages.
  static constexpr std::size_t usual_least_bytes = 16 * 1024;

  explicit round_intake(std::size_t least_bytes = usual_least_bytes);

  // ---- the round's owner ---------------------------------------------------

  /// Opens a round.
  /// @param members Their ids, in the contract's order.
  /// @param means Opened for what is worth it; null where none are needed.
  /// @param all_placed Called when the last open place is filled; on the thread
  /// of `take`, and it must not call back.
  void begin(const group_id& group, std::vector<peer_id> members,
             std::size_t self, std::shared_ptr<mean_places> means,
             std::function<void()> all_placed);

  /// Parts of the chunk go into this sum from here on, as long as it lives.
  void expect_parts(std::uint32_t chunk, std::weak_ptr<chunk_sum> where,
                    reducer_line line);

  /// What was taken since the last call, in that order.
  std::vector<taken> news();
  /// When something was taken last in this round.
  time_point last_taken() const;

  /// From here on everything comes by letter.
  void close();

  // ---- whoever receives ----------------------------------------------------

  bool worth_a_look(std::size_t body_bytes) const {
    return body_bytes >= least_bytes_;
  }

  /// Offers a part to its sum, or puts a mean in its place.
  /// @returns False when there is none that is open for it: then it is to go by
  /// letter. The place of a mean that is not finite may have been written to,
  /// and is closed.
  bool take(const peer_id& from, const message& content,
            const shared_bytes& body, time_point now);

private:
  struct parts_place {
    std::weak_ptr<chunk_sum> where;
    reducer_line line;
  };

  void note(taken x);
  bool take(std::size_t member, const chunk_part& part,
            const shared_bytes& body, time_point now);
  bool take(std::size_t member, const chunk_mean& mean,
            const shared_bytes& body, time_point now);

  const std::size_t least_bytes_;
  mutable std::mutex mutex_; ///< Of all that follows; before a sum's.
  group_id group_;
  std::vector<peer_id> members_; ///< Empty: closed.
  std::map<std::uint32_t, parts_place> parts_;
  std::shared_ptr<mean_places> means_;
  std::function<void()> all_placed_;
  std::vector<taken> taken_;
  time_point last_taken_{};
};

} // namespace potluck
