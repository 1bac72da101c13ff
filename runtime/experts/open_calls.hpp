/// A caller's calls that wait for their answers.
///
/// Pure: matches an answer to its call, says whether it is what a host may
/// answer, and which calls are hopeless. Bounded in calls and bytes.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck::limits {

/// A caller's open calls, and their bytes.
constexpr std::size_t expert_calls_open = 1024;
constexpr std::size_t expert_call_bytes = std::size_t{512} << 20;

} // namespace potluck::limits

namespace potluck {

class open_calls {
public:
  struct call {
    std::string uid;
    peer_id host; ///< Empty while it is being looked up.
    std::uint32_t samples = 0;
    std::uint32_t values = 0; ///< That an answer has for each sample.
    std::size_t bytes = 0;    ///< Of the tensors held for it.
    potluck::packing packing = potluck::packing::float32;
  };
  enum class verdict {
    answered,    ///< It is done, and the values are good.
    refused,     ///< The host says that it is not done.
    stranger,    ///< No such call waits for this peer; ignore it.
    wrong_shape, ///< Not as many values as were asked for, or packed otherwise.
    wrong_values, ///< A value is NaN or infinite, or a scale is impossible.
  };

  /// @param first The first call's number, not zero. One process' must rise
  /// from one object to the next: hosts ignore numbers that they have seen.
  explicit open_calls(std::uint64_t first = 1) : next_(first) {
  }

  /// The number of the call; nothing when there are too many.
  std::optional<std::uint64_t> open(call what);

  /// Whom it was sent to, and what is to come back.
  void sent(std::uint64_t number, const peer_id& host, std::uint32_t values);

  const call* find(std::uint64_t number) const;

  /// What to make of an answer; the call stays open.
  /// @param values When it is answered, the body's values; anything otherwise.
  verdict judge(const peer_id& from, const expert_answer& x,
                const shared_bytes& body, float_array& values) const;

  /// False when it is closed already.
  bool close(std::uint64_t number);

  /// The calls that wait for this host, ascending.
  std::vector<std::uint64_t> waiting_for(const peer_id& host) const;
  /// The calls of which the host is not known yet, ascending.
  std::vector<std::uint64_t> looked_up(const std::string& uid) const;

  std::size_t size() const {
    return calls_.size();
  }

private:
  std::map<std::uint64_t, call> calls_;
  std::uint64_t next_;
  std::size_t bytes_ = 0;
};

} // namespace potluck
