/// Where the calls of a host's experts come in, wait, and are answered.
///
/// Pure: the time is passed in. Whoever owns it sends the replies and has the
/// device compute the batches, one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/experts/batch_queue.hpp"
#include "runtime/experts/hosted_experts.hpp"
#include "runtime/experts/seen_calls.hpp"

namespace potluck {

class call_desk {
public:
  struct reply {
    peer_id to;
    expert_answer what;
    shared_bytes body = {};
  };
  using replies = std::vector<reply>;

  /// The calls that the device is to compute as one.
  struct job {
    std::uint64_t number = 0;
    std::shared_ptr<const batch_queue::batch> batch;
  };
  /// What the device made of a job.
  struct result {
    std::uint64_t number = 0;
    /// Of all its calls, one after the other.
    std::shared_ptr<const float_array> values;
    std::uint32_t width = 0;   ///< Values of one sample.
    std::uint64_t version = 0; ///< The expert's updates before the job.
  };
  struct figures {
    std::uint64_t calls = 0; ///< Answered.
    std::uint64_t samples = 0;
    std::uint64_t batches = 0;
    std::uint64_t busy = 0; ///< Refused, since too many were waiting.
    std::uint64_t failed = 0;
  };

  explicit call_desk(const batch_queue::bounds& b)
      : most_samples_(b.pool.most_samples), queue_(b) {
  }

  /// The refusal of a call; nothing when it waits now, or has come before. No
  /// honest caller is refused for `wrong_values`, whatever the network does.
  /// @param body Copied: a body that is held stops its connection from being
  /// read.
  std::optional<reply> take(const peer_id& from, const expert_request& x,
                            const shared_bytes& body,
                            const hosted_experts& experts, time_point now);

  /// What to compute now; nothing while a job is with the device, or none is
  /// ready.
  std::optional<job> next(time_point now);
  /// When to ask again, each time once.
  std::optional<time_point> wake();

  /// The job that is with the device; null when none is.
  const batch_queue::batch* running() const {
    return running_.get();
  }
  bool runs(std::uint64_t number) const {
    return running_ && number == number_;
  }
  /// The expert that computes a backward pass right now; empty when none does.
  std::string learning() const;

  /// The answers to the calls of the job that runs. Precondition: it is this.
  replies computed(const result& x);

  /// Refuses the calls of an expert that the device has, or had.
  replies refuse_running(const std::string& uid, expert_outcome why,
                         const std::string& sentence);
  /// Refuses those that wait for it.
  replies refuse_waiting(const std::string& uid, expert_outcome why,
                         const std::string& sentence);

  /// A caller is gone.
  void forget(const peer_id& caller);

  std::size_t waiting() const {
    return queue_.calls();
  }
  const figures& so_far() const {
    return figures_;
  }

private:
  reply refuse(const peer_id& to, std::uint64_t number, expert_outcome why,
               const std::string& sentence);
  replies refuse(const std::vector<expert_task>& tasks, expert_outcome why,
                 const std::string& sentence);

  std::uint32_t most_samples_;
  batch_queue queue_;
  seen_calls seen_;
  std::shared_ptr<const batch_queue::batch> running_;
  std::uint64_t number_ = 0; ///< Of the job given last.
  std::optional<time_point> wake_;
  figures figures_;
};

} // namespace potluck
