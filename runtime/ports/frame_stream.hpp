/// One end of a stream that carries frames, without whatever carries the
/// stream: frames in, bytes out, and the reverse.
///
/// A transport makes them for circuits (runtime/relay), of the same kind as its
/// own connections: encrypted, with both ends proven, or plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/ports/transport.hpp"

namespace potluck {

/// Whom a stream tells, while it takes bytes or begins.
class frame_stream_listener {
public:
  virtual ~frame_stream_listener() = default;
  /// Frames may come and go. `who` is at the other end for certain; empty where
  /// nothing is encrypted.
  virtual void on_proven(const peer_id& who) = 0;
  virtual void on_frame(incoming_frame frame) = 0;
};

class frame_stream {
public:
  virtual ~frame_stream() = default;

  /// Called once, before all others.
  virtual void begin() = 0;
  /// @returns How many bytes wait if they are more than may, else 0.
  virtual std::size_t push(outgoing_frame frame) = 0;
  /// The next bytes to be carried, at most so many; empty when there are none.
  virtual std::vector<std::uint8_t> next(std::size_t most) = 0;
  /// These came. @returns Why the stream is over, or nothing.
  virtual std::string take(const std::uint8_t* data, std::size_t size) = 0;
  /// Bytes that have come of the frame in progress.
  virtual std::size_t begun() const = 0;
  /// No frame will be pushed any more: the goodbye follows what waits.
  virtual void finish() = 0;
};

} // namespace potluck
