/// One end of a circuit: frames to pieces of a stream that the hub takes, and
/// back, within the credit that the hub gives.
///
/// Pure: it sends nothing by itself.
#pragma once

#include <optional>

#include "runtime/ports/frame_stream.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

class circuit_end : frame_stream_listener {
public:
  /// What came of a call.
  struct news {
    std::optional<peer_id> proven; ///< The circuit is open from here on.
    std::vector<incoming_frame> frames;
    std::string over; ///< Why it has to end; empty: it goes on.
  };

  /// @param begins This end opened the circuit.
  circuit_end(bool begins, const stream_maker& make);

  /// Once, first.
  news begin();
  /// Queues a frame. @returns Why the circuit has to end, or nothing.
  std::string push(outgoing_frame frame);
  /// The next piece to be sent, if there is any and credit for it.
  std::vector<std::uint8_t> next();
  /// The hub takes so many bytes more. False: it never takes so many.
  bool grant(std::uint32_t bytes);
  news take(const shared_bytes& piece);
  void finish() {
    stream_->finish();
  }

  /// Bytes that have come of the frame in progress.
  std::size_t begun() const {
    return stream_->begun();
  }
  /// The last `next` had credit, and nothing waited.
  bool drained() const {
    return drained_;
  }
  bool open() const {
    return open_;
  }

private:
  void on_proven(const peer_id& who) override;
  void on_frame(incoming_frame frame) override;

  std::unique_ptr<frame_stream> stream_;
  news news_;
  bool open_ = false;
  bool drained_ = false;
  std::uint32_t credit_ = limits::circuit_credit;
};

} // namespace potluck
