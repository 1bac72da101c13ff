/// The bytes of one replica while they arrive.
///
/// Pure. They come in order over one connection, are asked for by windows, and
/// take no more memory than has arrived, whatever the offer says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "messages/experts.hpp"
#include "messages/limits.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// For the next news of a transfer: 4 MiB over 1 Mbit/s.
constexpr auto replica_patience = 40s;
/// Replicas received at once by one host.
constexpr std::size_t replicas_received_at_once = 8;

} // namespace potluck::limits

namespace potluck {

class replica_intake {
public:
  enum class verdict {
    more,   ///< The window is not full yet.
    window, ///< Ask for the next one.
    whole,  ///< All bytes are here; their digest is the owner's to compute.
    wrong,  ///< Not the bytes that were asked for.
  };

  replica_intake(const replica_offer& what, const peer_id& from)
      : what_(what), from_(from) {
  }

  /// The window to ask for.
  replica_reply wanted() const {
    auto left = what_.bytes - bytes_.size();
    return {what_.uid,
            what_.term,
            what_.version,
            replica_standing::wanted,
            bytes_.size(),
            static_cast<std::uint32_t>(
                std::min<std::uint64_t>(left, replica_window_bytes))};
  }

  verdict add(const replica_chunk& x, const std::uint8_t* data,
              std::size_t size) {
    auto left = what_.bytes - bytes_.size();
    if (x.term != what_.term || x.version != what_.version
        || x.offset != bytes_.size() || size > left)
      return verdict::wrong;
    bytes_.insert(bytes_.end(), data, data + size);
    if (bytes_.size() == what_.bytes)
      return verdict::whole;
    return bytes_.size() % replica_window_bytes == 0 ? verdict::window
                                                     : verdict::more;
  }

  const replica_offer& what() const {
    return what_;
  }
  const peer_id& from() const {
    return from_;
  }
  std::vector<std::uint8_t> take() {
    return std::move(bytes_);
  }

private:
  replica_offer what_;
  peer_id from_;
  std::vector<std::uint8_t> bytes_;
};

} // namespace potluck
