/// What is heard of a peer: events as lines of JSON for whoever asks, and how
/// it stands.
///
/// All functions may be called from all threads at once.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/event_log.hpp"
#include "runtime/step/actions.hpp"

namespace potluck::library {

class news {
public:
  /// Events kept until somebody asks; beyond, the oldest is dropped.
  static constexpr std::size_t most_events = 4096;

  /// From here on each event goes to this file, too. Throws `complaint` where
  /// it cannot be written.
  void write_to(const std::string& path);
  void hear(const event& x);
  void hear(const run_status& x);
  void hear(const peer_over& x);
  /// The peer is over because of this, whatever it says later.
  void fail(const std::string& sentence);
  /// Its last actor has ended.
  void close();

  /// The next event, if one comes within that time; it is taken if its length
  /// is less than `room`, and kept for the next call otherwise.
  std::optional<std::string> next(std::size_t room, duration patience);
  /// @return Whether the peer has closed, or, if that will do, is over.
  bool wait_for_end(duration patience, bool over_will_do);

  struct standing {
    run_status last;
    std::string address; ///< Where it listens; empty: not yet.
    std::string problem; ///< Why it is over; empty: it is not, or all is well.
    double progress = 0; ///< Of a download, 0 to 1.
    bool finished = false; ///< The run's last step is made.
    bool over = false;     ///< The peer wants to end.
    bool closed = false;   ///< It has.
  };
  standing look() const;

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;
  std::optional<event_log> log_;
  standing now_;
};

} // namespace potluck::library
