/// Frames that wait to be sent on one connection, and which of their bytes are
/// next. Does no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <list>
#include <vector>

#include <uv.h>

#include "messages/framing.hpp"
#include "runtime/ports/transport.hpp"

namespace potluck {

class frame_queue {
public:
  struct bounds {
    std::size_t bytes;  ///< That may wait,
    std::size_t arrays; ///< not counting those in so many arrays.
  };

  /// @param checked Whether frames carry a checksum (see messages/framing.hpp).
  frame_queue(const bounds& most, bool checked);

  /// Behind all, or, if it is urgent and `may_overtake`, before the first body
  /// that has not begun: conversations are not overtaken, least of all their
  /// first words.
  /// @returns How many bytes wait if they are more than may, else 0. Bodies in
  /// the arrays that most of it lies in are not counted.
  std::size_t push(outgoing_frame frame, bool may_overtake);

  bool empty() const {
    return frames_.empty();
  }
  std::size_t bytes() const {
    return bytes_;
  }
  /// What their heads take, and they themselves: what nobody else holds.
  std::size_t own_bytes() const {
    return own_bytes_;
  }
  /// Of that, what letters take: frames without a body.
  std::size_t letter_bytes() const {
    return letter_bytes_;
  }
  /// What their bodies do, which others may hold as well.
  std::size_t body_bytes() const {
    return body_bytes_;
  }
  /// What is left of the first frame. Precondition: not `empty()`.
  std::size_t front_rest() const {
    return frames_.front().size() - front_sent_;
  }

  /// Lists the next bytes, at most so many, and says how many they are.
  std::size_t gather(std::size_t most, std::vector<uv_buf_t>& into);

  /// The next `bytes` are not needed any more.
  void release(std::size_t bytes);

  void clear();

private:
  /// With the preamble that goes before it.
  struct queued {
    std::size_t size() const {
      return preamble.size() + frame.head.size() + frame.body.size;
    }
    std::size_t own_size() const {
      return sizeof(queued) + frame.head.size();
    }
    std::size_t letter_size() const {
      return frame.body.size == 0 ? own_size() : 0;
    }
    std::array<std::uint8_t, preamble_bytes> preamble;
    outgoing_frame frame;
    bool introduced = false; ///< The preamble is written.
  };

  std::list<queued>::iterator first_body();
  std::size_t bytes_beyond_arrays() const;
  void introduce(queued& x) const;

  bounds most_;
  bool checked_;
  std::list<queued> frames_; ///< A list takes no memory while it is empty.
  std::size_t bytes_ = 0;
  std::size_t own_bytes_ = 0;
  std::size_t letter_bytes_ = 0; ///< Of these.
  std::size_t body_bytes_ = 0;
  std::size_t next_look_ = 0;  ///< How many before they are counted again.
  std::size_t front_sent_ = 0; ///< Of the first frame.
};

} // namespace potluck
