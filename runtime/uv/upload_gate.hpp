/// How much a connection may write now: its turn on a slow uplink, and a cap on
/// all connections together. Lives on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "runtime/lines/upload_turns.hpp"
#include "runtime/uv/rate_gate.hpp"

namespace potluck {

class upload_gate {
public:
  using bytes_of_each = std::map<connection_id, std::size_t>;

  /// @param cap Bytes per second; 0: none.
  /// @param turn Called when a connection should ask again.
  /// @param under_way Says what the kernel has of each connection and the other
  /// side has not acknowledged.
  upload_gate(uv_loop_t* loop, double cap,
              const std::function<void(connection_id)>& turn,
              std::function<bytes_of_each()> under_way);

  /// At most `wanted` of the bytes that wait there, and counts as written; 0:
  /// nothing, `turn` will say when.
  std::size_t take(connection_id who, std::size_t wanted, std::size_t waiting);

  /// Of what was taken so much was written, or a little more.
  void settle(std::size_t taken, std::size_t written);

  /// For what is seen and planned of the line.
  upload_turns& turns() {
    return turns_;
  }

  /// Before the loop ends.
  void stop();

private:
  void serve_later();
  void serve();

  uv_loop_t* const loop_;
  rate_gate cap_;
  upload_turns turns_;
  const std::function<bytes_of_each()> under_way_;
  std::optional<timer> timer_;
};

} // namespace potluck
