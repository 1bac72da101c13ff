/// Access lines between machines, and everything that can go wrong on the way:
/// the one emulator behind the simulation, the packets of network namespaces
/// and the proxies. It is told what is sent and when, and says what becomes of
/// it; it knows no clock, no socket and no bytes.
///
/// A parcel waits for its sender's uplink, then for its pair's limit, crosses
/// both machines' delays and a jitter, and waits for the receiver's downlink.
/// Each of the three is a queue that drains at its rate. An idle line saves
/// nothing up: a rate is a rate over any time that is longer than a parcel. A
/// line that changes holds for what is sent from then on.
///
/// Not modelled: framing below IP, cross-traffic, active queue management, a
/// bottleneck that is not an access line or a pair.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/random.hpp"
#include "tools/lab/network/access_line.hpp"

namespace potluck {

/// What has happened on one line, or on all.
struct line_counters {
  std::uint64_t sent = 0; ///< Parcels that left, those that were lost included.
  std::uint64_t bytes_sent = 0;
  std::uint64_t received = 0; ///< Counted when they begin to come down.
  std::uint64_t bytes_received = 0;
  std::uint64_t dropped = 0; ///< At full queues, of what it sent.
  std::uint64_t lost = 0;    ///< Packets of what it sent, by chance.
  std::uint64_t blocked = 0; ///< Of what it sent.
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;

  line_counters& operator+=(const line_counters& x);
};

class line_emulator {
public:
  using host = std::size_t;

  /// What parcels are.
  enum class load {
    packets, ///< What is lost is gone, and a full queue drops.
    /// Pieces of TCP's streams, of packets of 1,400 bytes: what is lost of one
    /// is sent again after a time-out, which holds up what is behind it. Queues
    /// have no end.
    streams,
  };

  struct parcel {
    host from = 0;
    host to = 0;
    std::size_t bytes = 0;
    std::size_t bits = 0; ///< So many of its bits may flip; 0: none.
    /// Waits for a quarter of a second at most at each line: it overtakes what
    /// other flows have queued there, as short messages of a peer do.
    bool urgent = false;
    bool spared = false; ///< No accident befalls it.
  };

  /// What keeps its order: a connection, or a pair of machines, one way.
  struct flow {
    time_point left{}; ///< Of the last parcel; so are the others.
    time_point due{};
    time_point down{};
  };

  struct passage {
    enum class fate { passes, blocked, dropped, lost };
    fate what = fate::passes;
    time_point left{};    ///< When its last byte has left the sender's line.
    time_point arrives{}; ///< When it is at the receiver's line.
    unsigned copies = 1;  ///< That arrive there.
    std::optional<std::size_t> flipped; ///< A bit that is to be flipped.
  };

  line_emulator(std::uint64_t seed, load what);

  /// One more machine; nothing is special about its ways to the others.
  host add(const access_line& line);
  std::size_t size() const {
    return hosts_.size();
  }
  void set_line(host x, const access_line& line) {
    hosts_[x].line = line;
  }
  const access_line& line_of(host x) const {
    return hosts_[x].line;
  }

  /// No packet passes from `a` to `b`.
  void block(host a, host b);
  /// From `a` to `b` everything takes `delay` longer, and passes at `rate`, in
  /// bytes per second, if that is not zero.
  void limit(host a, host b, double rate, duration delay);

  /// No packet passes between `side` and all others until `reunite` with the
  /// number that this returns; several partitions may overlap. Streams are for
  /// their owner to hold up: see `separated`.
  std::uint64_t part(const std::set<host>& side);
  void reunite(std::uint64_t partition);
  bool separated(host a, host b) const {
    return hosts_[a].partitions != hosts_[b].partitions;
  }

  /// What becomes of a parcel that is sent at `now`.
  passage send(time_point now, const parcel& x, flow& in);

  /// When a parcel that is at the receiver's line at `now` has come down;
  /// nothing when it is dropped there.
  std::optional<time_point> come_down(time_point now, const parcel& x,
                                      flow& in);

  /// When something that is sent at `now` without a line is there: delays and
  /// jitter alone, as a dial or the news of an end takes them.
  duration way(host from, host to);

  /// The least time between two of the machines.
  duration shortest_way() const;

  const line_counters& of(host x) const {
    return hosts_[x].counted;
  }
  line_counters totals() const;

private:
  struct state {
    access_line line;
    time_point up_free{};
    time_point down_free{};
    std::set<std::uint64_t> partitions;
    line_counters counted;
  };
  struct pair_state {
    bool blocked = false;
    double limit = 0;
    duration delay{0};
    time_point free{};
  };

  /// When so many bytes have passed a queue that is empty at `free`; nothing
  /// when they are dropped.
  std::optional<time_point> pass(time_point& free, time_point now,
                                 std::size_t bytes, double rate,
                                 duration queue) const;
  bool happens(double here, double there);
  /// Loss, doubling and damage.
  void befall(const parcel& x, passage& how);

  const load load_;
  random_stream chance_;
  std::vector<state> hosts_;
  std::map<std::pair<host, host>, pair_state> pairs_; ///< Special ones only.
  std::uint64_t last_partition_ = 0;
};

} // namespace potluck
