/// Cuts a byte stream into frames, fed bytes or read into. Does no I/O.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "messages/framing.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck {

struct recycle_block {
  std::size_t bytes = 0;
  void operator()(std::uint8_t* x) const {
    give_block(x, bytes);
  }
};
using aligned_buffer = std::unique_ptr<std::uint8_t[], recycle_block>;

class frame_reader {
public:
  struct frame {
    std::vector<std::uint8_t> head;
    aligned_buffer body; ///< Null when `body_size` is zero.
    std::size_t body_size = 0;
    digest body_sum = {}; ///< Empty when there is no body, or no check of it.
  };

  /// Room to read the stream's next bytes into.
  struct window {
    std::uint8_t* data = nullptr;
    std::size_t size = 0;
  };

  /// @param direct_bytes Bodies of at least so much are bulky: what of them has
  /// not been fed yet is read into directly.
  /// @param checked Whether frames carry a checksum (see messages/framing.hpp).
  explicit frame_reader(std::size_t direct_bytes = 64 * 1024,
                        bool checked = true);

  /// The rest of a bulky body; empty when the next bytes are better fed.
  window direct();

  /// The stream's next `size` bytes have been read into `direct()`. False when
  /// that completed a corrupt frame: the reader is of no use then.
  bool filled(std::size_t size);

  /// Takes bytes up to the end of the frame in progress and says how many; less
  /// than `size` only when a frame is complete. Nothing when the bytes are no
  /// frame, or a corrupt one: the reader is of no use then. Precondition: not
  /// `complete()`.
  std::optional<std::size_t> feed(const std::uint8_t* data, std::size_t size);

  bool complete() const {
    return state_ == state::complete;
  }

  /// A frame came whose checksum does not fit: damaged on its way.
  bool corrupt() const {
    return state_ == state::corrupt;
  }

  /// Precondition: `complete()`. The next frame begins.
  frame take();

  /// True when no byte of a further frame has come.
  bool between_frames() const {
    return state_ == state::preamble && done_ == 0;
  }

  /// Bodies from here on get their memory by `make_room` alone; what comes of
  /// them before is kept beside it. At first all have it at once.
  void spare(std::size_t bytes) {
    spared_ = bytes;
  }
  /// Bytes of the frame in progress, head and body; 0 while its size is not
  /// known, or when none is.
  std::size_t begun() const {
    return state_ == state::head || state_ == state::body
               ? std::size_t{announced_.head_size} + announced_.body_size
               : 0;
  }
  /// Of these, those that have come.
  std::size_t come() const {
    return state_ == state::body ? announced_.head_size + done_ : done_;
  }
  /// Bytes that the head in progress takes.
  std::size_t head_memory() const {
    return frame_.head.capacity();
  }
  /// The body in progress, or the next one, has memory from here on. Does
  /// nothing more than once a frame.
  void make_room();

  /// True when the latest body was bulky: then so is, probably, the next, and
  /// little should be fed at a time.
  bool bulky() const {
    return bulky_;
  }

private:
  enum class state { preamble, head, body, complete, corrupt };

  bool enter_frame();
  void take_head(const std::uint8_t* data, std::size_t size);
  void take_body(const std::uint8_t* data, std::size_t size);
  void advance(std::size_t size);
  void finish();

  std::size_t direct_bytes_;
  bool checked_;
  std::size_t spared_ = std::size_t{max_body_bytes} + 1;
  state state_ = state::preamble;
  std::size_t done_ = 0; ///< Bytes of the present piece.
  std::array<std::uint8_t, preamble_bytes> preamble_{};
  preamble announced_;
  frame frame_;
  bool has_room_ = false;               ///< The body in progress, or next.
  std::vector<std::uint8_t> beginning_; ///< Of a body without room.
  bool bulky_ = false;
};

} // namespace potluck
