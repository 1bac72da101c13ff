/// Whose turn it is to write, where one slow uplink serves many connections.
///
/// Left alone, every connection of a peer fills a buffer of its own in the
/// kernel, and together they fill the line's: packets are dropped, connections
/// get very unequal parts of the line, and in a round everybody waits for the
/// slowest one. Here no more is under way than the line carries within its
/// round trip and a short queue, and connections take turns, so that all get on
/// alike.
///
/// The same holds at the other end: twenty fast senders fill a slow peer's
/// downlink as surely as a slow peer its own uplink. So each connection has a
/// window of its own, by what it was seen to carry, and however fast our line
/// is, a new connection begins with a packet.
///
/// Counts and bytes only: no clock, no socket. A line that is fast, or not
/// measured yet, is left alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "runtime/ports/transport.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at how much has passed on each connection, while anything
/// is waiting: short against a step, long against a thousand packets' noise.
constexpr auto line_interval = 100ms;

} // namespace potluck::limits

namespace potluck {

class upload_turns {
public:
  /// Bytes per second from which on a line is left alone: there the kernel's
  /// own queues empty within a few milliseconds, and looking at them costs.
  static constexpr double fast_line = 12.5e6;
  /// What a line is taken for before it is measured: it shows within a look or
  /// two whether it is faster, while a slow one's queue would be flooded for
  /// seconds.
  static constexpr double unmeasured_line = 1.25e6;
  /// How long bytes may be under way, beyond two round trips. Acknowledgements
  /// wait in the other side's uplink, and what they acknowledge in its
  /// downlink: shorter, and a line whose peers are busy would be taken for a
  /// slower one, and then be one.
  static constexpr double queue_seconds = 0.25;
  static constexpr std::size_t packet = 1448;
  /// Packets that a connection may have under way however little it carries:
  /// the most while they take up to `short_wait` longer than the least round
  /// trip, one from `long_wait` on, since all senders' together are the queue
  /// at the other side, whatever their number. Beyond two least round trips a
  /// window must not grow with what its connection carries, or those who share
  /// a downlink never come to equal parts of it: who has more gets more.
  static constexpr double most_spare_packets = 4;
  static constexpr double short_wait = 0.1;
  static constexpr double long_wait = 0.3;
  /// Who has less to send than another that waits has a smaller window, by the
  /// square root of what it has, or on a line that few connections fill all
  /// would get on alike: at least this part.
  static constexpr double least_share = 0.45;
  /// A turn is what the line carries meanwhile, within these bounds: a packet
  /// or two; a record of TLS. On one connection at most what its window leaves.
  static constexpr double turn_seconds = 0.02;
  static constexpr std::size_t least_turn = 2 * packet;
  static constexpr std::size_t largest_turn = 11 * packet;
  /// Writes up to this size wait for nobody: conversations, not gradients.
  static constexpr std::size_t small_write = packet;
  /// Looks that a rate is remembered for: the best of them counts, since many
  /// are of times in which there was little to send.
  static constexpr std::size_t looks = 10;
  /// A rate of fewer bytes is one of chance: then more looks are taken
  /// together, up to so many.
  static constexpr double telling_bytes = 32 * packet;
  static constexpr std::size_t looks_together = 5;

  /// A line that was empty at a check carries more than it was given since the
  /// one before: it gets so many times that next, up to a bound, so that a fast
  /// one shows within a few checks. (So does TCP's slow start: RFC 5681.)
  static constexpr std::size_t growth = 2;
  static constexpr std::size_t largest_growth = 512 * 1024;
  /// Checks in a row that find something under way, after which what was
  /// carried between two is not believed any more.
  static constexpr unsigned full_checks = 20;

  /// Looks without any acknowledgement from which on what a connection has
  /// under way is taken to be stuck at the other side, not in our line. Half a
  /// second: more than its round trip and the queue.
  static constexpr unsigned stuck_looks = 5;

  /// One connection, at a look.
  struct flow {
    connection_id id = 0;
    double rate = 0; ///< Bytes per second that arrived since the last look.
    bool backlogged = false;      ///< More was waiting, all the time.
    duration least_round_trip{0}; ///< Ever; 0: unknown.
    duration round_trip{0};       ///< Lately; 0: unknown.
  };

  /// @param turn Called by `serve` when a connection should ask again.
  explicit upload_turns(std::function<void(connection_id)> turn);

  /// A look at all connections on which something passed, once every
  /// `limits::line_interval`.
  void observe(const std::vector<flow>& flows);

  /// How much of all that it wants to write it may now, and counts as under
  /// way; 0: nothing, `turn` will say when.
  std::size_t take(connection_id who, std::size_t wanted);

  bool anybody_waits() const {
    return !waiting_.empty();
  }

  /// Gives turns while there is room, by turns to who wants to write most and
  /// to who has waited longest: the one so that all come to an end together
  /// (max-weight scheduling, Tassiulas and Ephremides 1992), the other so that
  /// nobody is silent for long.
  /// @param under_way Bytes of each connection that the kernel has and the
  /// other side has not acknowledged.
  void serve(std::map<connection_id, std::size_t> under_way);

  /// What a plan lets a connection have under way, in place of a few packets
  /// and what it was seen to carry: its part of the queues at both ends of its
  /// line, so that all that the plan moves ends together. No queue: no plan.
  void plan(connection_id who, const planned_window& x);

  void forget(connection_id who);

  /// Bytes under way at most. On one connection: a few packets, and what it
  /// carries within two of its least round trips, so that senders who share a
  /// line come to equal parts of it, and one that has a line for itself to all
  /// of it (Brakmo and Peterson, "TCP Vegas", 1995). On all.
  /// @param part Of what it carries and may spare.
  std::size_t window(connection_id who, double part = 1) const;
  std::size_t window() const;
  bool left_alone() const;

private:
  /// The best of the last looks.
  struct best_rate {
    std::vector<double> seen; ///< A few, the oldest first.
    duration least_round_trip{0};
    double wait = 2 * long_wait; ///< Seconds beyond it, lately.
    unsigned silent_looks = 0;
    void add(double rate);
    double value() const;
  };

  /// What was written since the line was last empty, and the most that had all
  /// arrived by a check.
  struct emptied {
    std::size_t given = 0;
    std::size_t carried = 0;

    std::size_t next() const {
      return std::min(growth * carried, largest_growth);
    }
  };

  std::size_t turn_bytes() const;
  double rate() const; ///< Of the line.
  void note_what_arrived();
  /// What the connection's next turn may be; 0: it has none.
  std::size_t room(connection_id who, std::size_t wanted) const;
  /// The part of its window that who wants this much may have.
  double share(std::size_t wanted) const;

  const std::function<void(connection_id)> turn_;
  best_rate all_;
  std::map<connection_id, best_rate> flows_;
  std::map<connection_id, planned_window> planned_; ///< No queue is zero.
  std::map<connection_id, std::size_t> under_way_;
  std::size_t sum_under_way_ = 0;
  emptied line_;
  std::map<connection_id, emptied> emptied_;
  unsigned checks_not_empty_ = 0;
  struct place {
    std::size_t wanted = 0;
    std::uint64_t number = 0; ///< Whoever waits longer has a lower one.
  };
  std::map<connection_id, place> waiting_;
  std::size_t most_wanted_ = 0; ///< Of those that waited when `serve` began.
  std::uint64_t next_number_ = 1;
  bool serving_ = false;
  bool oldest_next_ = false;
  connection_id served_ = 0; ///< Whose turn it is.
};

} // namespace potluck
