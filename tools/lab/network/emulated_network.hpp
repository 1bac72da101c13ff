/// A network of access lines in the middle of packets: what is sent when it
/// arrives, or that it is dropped. Knows no socket and no clock.
///
/// A packet waits for its sender's uplink, then for its pair's limit, crosses
/// both hosts' delays and a jitter, and waits for the receiver's downlink. Each
/// of the three is a queue that drains at its rate; a packet that would wait
/// longer than the host's `queue` is dropped, as a full router does. Packets of
/// a pair stay in order.
#pragma once

#include <cstdint>
#include <map>
#include <queue>
#include <vector>

#include "runtime/random.hpp"
#include "tools/lab/network/network_description.hpp"

namespace potluck {

class emulated_network {
public:
  using host = std::size_t;

  struct packet {
    host from = 0;
    host to = 0;
    std::vector<std::uint8_t> bytes;
  };

  /// Of one host, since the start.
  struct counters {
    std::uint64_t packets_sent = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t packets_received = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t dropped = 0; ///< At full queues, of what it sent.
    std::uint64_t lost = 0;    ///< By chance, of what it sent.
    std::uint64_t blocked = 0; ///< Of what it sent.
  };

  explicit emulated_network(const network_description& from);

  /// One more host; nothing is special about its ways to the others.
  host add(const access_line& line);

  void change(host which, const line_change& how);
  void set_line(host which, const access_line& line);

  /// Preconditions: both hosts exist; times never go back.
  void send(time_point now, packet x);

  /// When something will be ready, if anything is under way.
  std::optional<time_point> next() const;

  /// What has arrived by `now`, in order of arrival.
  std::vector<packet> arrived(time_point now);

  const counters& of(host which) const {
    return hosts_[which].counted;
  }

private:
  /// A queue that drains at a rate, as the moment when it will be empty.
  struct lane {
    time_point free{};

    /// When the packet's last byte leaves; nothing when it is dropped.
    std::optional<time_point> pass(time_point now, std::size_t bytes,
                                   double rate, duration longest_wait);
  };

  struct state {
    access_line line;
    lane up, down;
    counters counted;
  };

  struct pair_state {
    bool blocked = false;
    double limit = 0;
    duration delay{0};
    lane way;
    time_point last_arrival{};
  };

  struct flight {
    time_point at;
    std::uint64_t number; ///< Equal times: in the order of sending.
    bool received;        ///< Past the downlink; else at its beginning.
    packet what;

    friend bool operator<(const flight& x, const flight& y) {
      return x.at != y.at ? x.at > y.at : x.number > y.number;
    }
  };

  void advance(time_point now);
  void launch(time_point at, bool received, packet what);

  std::vector<state> hosts_;
  std::map<std::pair<host, host>, pair_state> pairs_;
  std::priority_queue<flight> flights_;
  std::vector<packet> ready_;
  std::uint64_t next_number_ = 0;
  random_stream chance_;
};

} // namespace potluck
