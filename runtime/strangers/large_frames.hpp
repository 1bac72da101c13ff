/// Which strangers' large frames are read now, and which wait until there is
/// room for them: a stranger says how long a frame is long before it comes.
///
/// First come, first served, but that no home has more than its share. Pure.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/strangers/limits.hpp"

namespace potluck {

class large_frames {
public:
  struct bounds {
    std::size_t all, home; ///< Bytes; each at least the largest frame.
    double rate = limits::large_frame_rate; ///< Bytes a second that one comes
                                            ///< with, at least,
    duration grace = limits::large_frame_grace; ///< after that.
  };
  /// Bytes of a frame in progress that have come.
  using progress = std::function<std::size_t(connection_id)>;

  explicit large_frames(const bounds& most) : most_(most) {
  }

  /// A frame of `bytes` has begun. Whether there is room; else it waits.
  bool begin(connection_id id, const std::string& host, std::size_t bytes,
             time_point now);
  /// It is whole, or its connection has ended, whether there was one or not.
  void over(connection_id id);

  /// Those that waited and have room from here on.
  std::vector<connection_id> next(time_point now);
  /// Comes too slowly while others wait, if any does: its connection ends.
  std::optional<connection_id> too_slow(time_point now,
                                        const progress& come) const;

private:
  struct frame {
    connection_id id;
    std::string home;
    std::size_t bytes;
    time_point since = {}; ///< It has room.
  };

  using line = std::deque<frame>;

  bool fits(const frame& x) const;
  bool home_waits(const std::string& home) const;
  /// The first one for which its home has room: only the room of all is wanted.
  line::const_iterator first_waiting() const;
  bool home_has_room(const frame& x) const;
  void take(frame x, time_point now);

  const bounds most_;
  std::size_t taken_ = 0;
  std::map<std::string, std::size_t> homes_; ///< Taken by each.
  std::map<connection_id, frame> come_;
  line wait_;
};

} // namespace potluck
