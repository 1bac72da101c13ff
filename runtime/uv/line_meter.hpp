/// What a connection's socket says about the line below it. Lives on the loop's
/// thread.
///
/// Linux tells what the other side has acknowledged and what it was not sent
/// yet (TCP_INFO, since 4.10). Elsewhere the kernel's buffer hides the line's
/// beginning, and a line counts as busy only while our own queue is.
#pragma once

#include <optional>

#include "runtime/ports/transport.hpp"
#include "runtime/uv/handles.hpp"

namespace potluck {

class line_meter {
public:
  void received(std::size_t bytes) {
    received_ += bytes;
  }
  /// The kernel took so much; `left` is still queued here.
  void sent(std::size_t bytes, std::size_t left) {
    sent_ += bytes;
    emptied_ = emptied_ || left == 0;
  }

  /// What passed since the last look, `interval` ago. Null when nothing did and
  /// nothing waits.
  std::optional<connection_traffic> look(connection_id id,
                                         const tcp_handle& socket,
                                         duration interval, std::size_t queued);

  /// What the socket's kernel has and the other side has not acknowledged.
  static std::size_t under_way(const tcp_handle& socket);

  /// Since the beginning, at the last look; 0: unknown.
  duration least_round_trip() const {
    return least_round_trip_;
  }

private:
  std::uint64_t received_ = 0; ///< Since the last look.
  std::uint64_t sent_ = 0;     ///< Likewise.
  bool emptied_ = false;       ///< Our queue, since the last look.
  bool queued_ = false;        ///< At the last look.
  bool unsent_ = false;        ///< In the kernel, likewise.
  bool unacknowledged_ = false;
  std::uint64_t arrived_ = 0; ///< There, in all, at the last look.
  duration busy_{0};          ///< In all, likewise.
  duration least_round_trip_{0};
};

} // namespace potluck
