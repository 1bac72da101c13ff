/// A sponsor's side of one gathering: whom of its contributors it has asked for
/// a gradient, what has come, and when all is over.
///
/// Pure: no clock, no socket. The owner sends the requests that `next` names,
/// offers every part that comes, reports who is gone or was waited for long
/// enough, and takes complete gradients out. At most `at_once` contributors are
/// asked at a time, so that no more than as many gradients lie here unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/cells.hpp"
#include "messages/ids.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// What gathering takes longer for the lines is at most this.
constexpr auto longest_gathering = 5min;
/// So long a sponsor is waited for in any step, if it says that it needs it: as
/// long again as for anybody's answer.
constexpr auto least_gathering = 30s;

} // namespace potluck::limits

namespace potluck {

/// What a contributor has handed over.
struct contribution {
  peer_id from;
  std::uint64_t step = 0; ///< That its parameters had.
  std::uint64_t samples = 0;
  double loss_sum = 0;
  std::vector<float> gradient; ///< The sum over its samples.
};

/// What a sponsor's contributions take on their way: over its downlink, and
/// over as many uplinks like its own as send at once. Not more than
/// `limits::longest_gathering`, whatever a peer says of itself.
/// @param bytes Of a gradient, as float32.
duration gathering_time(const progress_report& sponsor, std::uint64_t bytes);

/// For how much longer than others its group waits for a sponsor. Whatever that
/// says of its lines and contributors, it is no longer than computing the step
/// took, or `limits::least_gathering`.
/// @param parameters Of the model. @param computing What it took so far.
duration gathering_patience(const progress_report& sponsor,
                            std::uint64_t parameters, duration computing);

class gathering {
public:
  /// Gradients that lie here unfinished: eight at least, more of a small model.
  static std::size_t at_once(std::uint64_t bytes);

  struct shape {
    std::uint64_t gradient_values = 0;
    std::uint32_t part_values = 0; ///< See `contribution_values`.
  };

  enum class verdict {
    placed,   ///< Waits for the next chunk.
    complete, ///< `take` has it.
    unasked,  ///< Nothing is expected of this peer, or not under this number.
    refused,  ///< It is out: `reason` says why.
  };

  /// @param number Of the requests. @param step, state What the contributors
  /// must hold.
  gathering(std::uint64_t number, std::uint64_t step, const digest& state,
            shape what, std::vector<peer_id> contributors, std::size_t at_once);

  /// Whom to ask now. Each counts as asked from here on.
  std::vector<peer_id> next();
  contribution_request request(packing how = packing::float32) const {
    return {number_, step_, state_, how};
  }

  /// @param body,size The values, packed as the part says.
  verdict offer(const peer_id& from, const contribution_part& part,
                const std::uint8_t* body, std::size_t size);
  /// Why the last offer was refused, as part of a sentence.
  const std::string& reason() const {
    return reason_;
  }

  /// The complete contribution of a peer; once.
  std::optional<contribution> take(const peer_id& from);

  /// The peer has nothing, is gone, or was waited for long enough.
  void without(const peer_id& from);

  /// There is no time for those that were not asked yet.
  void ask_nobody_else() {
    waiting_.clear();
  }

  bool asked(const peer_id& from) const {
    return open_.count(from) != 0;
  }
  /// Nobody is left to ask or to wait for.
  bool over() const {
    return open_.empty() && waiting_.empty();
  }
  /// Those that were asked and have not finished.
  std::vector<peer_id> unfinished() const;
  std::uint64_t number() const {
    return number_;
  }
  std::uint64_t step() const {
    return step_;
  }

private:
  struct half {
    contribution so_far;
    std::uint32_t next_chunk = 0;
    bool complete = false;
  };

  verdict refuse(const peer_id& from, const char* why);

  std::uint64_t number_;
  std::uint64_t step_;
  digest state_;
  shape shape_;
  std::uint32_t chunks_;
  std::size_t at_once_;
  std::vector<peer_id> waiting_; ///< To be asked, the next at the back.
  std::map<peer_id, half> open_;
  std::string reason_;
};

} // namespace potluck
