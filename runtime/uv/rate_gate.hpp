/// A rate cap over all connections, in one direction, and whose turn it is.
///
/// Lives on the loop's thread. A connection asks before it moves bytes; when
/// there is nothing left it stands in line, and gets a turn when there is.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>

#include "runtime/lines/token_bucket.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/uv/handles.hpp"

namespace potluck {

class rate_gate {
public:
  /// @param rate Bytes per second; 0: no cap, and nothing here does anything.
  /// @param turn Called when a connection should ask again.
  rate_gate(uv_loop_t* loop, double rate,
            std::function<void(connection_id)> turn);

  /// How much may move now, at most `wanted`, and counts as moved; 0: nothing,
  /// `turn` will say when. Without a cap it is `wanted`.
  std::size_t take(connection_id who, std::size_t wanted);

  /// Of what was taken, so much did not move.
  void give_back(std::size_t bytes);

  /// So much more moved than was taken.
  void overdraw(std::size_t bytes);

  /// The most that one `take` gives.
  std::size_t portion() const {
    return portion_;
  }

  /// Before the loop ends.
  void stop();

private:
  void join(connection_id who, bool first);
  void arm(std::size_t bytes, time_point now);
  void serve();

  uv_loop_t* const loop_;
  std::optional<token_bucket> bucket_; ///< None: no cap.
  const std::function<void(connection_id)> turn_;
  std::size_t portion_;
  std::deque<connection_id> line_;
  std::set<connection_id> in_line_;
  connection_id served_ = 0; ///< Whose turn it is.
  std::optional<timer> timer_;
};

} // namespace potluck
