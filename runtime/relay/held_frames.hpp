/// Frames that came on a direct line before the last one of a circuit, which
/// was sent before them (line_order.hpp): they wait for it, but not for ever.
/// Pure.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

class held_frames {
public:
  /// So many may wait, and for so long while the circuit brings nothing:
  /// several of its round trips.
  static constexpr std::size_t most = 4096;
  static constexpr auto longest = std::chrono::seconds{10};
  /// And for so long whatever it brings.
  static constexpr auto longest_in_all = limits::circuit_drain;
  /// Bytes of a stranger's: twice what a connection brings of a state's pieces
  /// before somebody takes them. One whose call of an expert comes in that
  /// moment has to come again.
  static constexpr std::size_t most_of_a_stranger = std::size_t{2} << 20;
  /// And of all sessions together, while a stranger's adds to them: one that
  /// comes then has to come again, and waits for no circuit next time.
  static constexpr std::size_t most_of_all = std::size_t{64} << 20;
  using counter = std::shared_ptr<std::atomic<std::size_t>>;

  struct frame {
    connection_id on = 0;
    incoming_frame what;
  };

  /// @param all Bytes that all such hold; null: this one's alone count.
  explicit held_frames(counter all = {})
      : held_by_all_(all ? std::move(all)
                         : std::make_shared<std::atomic<std::size_t>>(0)) {
  }
  held_frames(const held_frames&) = delete;
  held_frames& operator=(const held_frames&) = delete;
  ~held_frames() {
    *held_by_all_ -= bytes_;
  }

  /// A circuit has brought something.
  void circuit_spoke(time_point now) {
    since_ = now;
  }
  void hold(connection_id on, incoming_frame what, time_point now) {
    if (all_.empty())
      since_ = began_ = now;
    const auto size = what.head.size() + what.body.size;
    bytes_ += size;
    *held_by_all_ += size;
    all_.push_back({on, std::move(what)});
  }
  /// Whether the circuit's last frame may still come, and no more waits for it
  /// than may.
  bool in_order(bool stranger, time_point now) const {
    return all_.empty()
           || (all_.size() <= most && now - since_ <= longest
               && now - began_ <= longest_in_all
               && !(stranger
                    && (bytes_ > most_of_a_stranger
                        || *held_by_all_ > most_of_all)));
  }
  /// Where the first one came; 0: none waits.
  connection_id first() const {
    return all_.empty() ? 0 : all_.front().on;
  }
  /// All, in the order in which they came.
  std::vector<frame> take() {
    *held_by_all_ -= std::exchange(bytes_, 0);
    return std::exchange(all_, {});
  }

private:
  const counter held_by_all_;
  std::vector<frame> all_;
  std::size_t bytes_ = 0; ///< Of these.
  time_point began_{};    ///< The first of them came.
  time_point since_{};    ///< Held, or a circuit brought something then.
};

} // namespace potluck
