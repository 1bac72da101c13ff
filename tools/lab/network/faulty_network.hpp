/// An emulated network on which things go wrong: hosts that come later,
/// partitions, deaf hosts, routers that forget connections, packets that are
/// lost, changed, doubled or late. Knows no socket and no clock.
///
/// What befalls a packet, in order: a partition between its hosts; a connection
/// that was cut; a NAT or deafness of its receiver; loss; a flipped bit; late
/// and double sending; then the line (see emulated_network.hpp). A share that
/// holds for a line holds for both of its directions, and what is under way
/// when a partition begins arrives.
#pragma once

#include <map>
#include <set>

#include "tools/lab/network/emulated_network.hpp"
#include "tools/lab/network/tcp_flows.hpp"

namespace potluck {

/// What is wrong with one host's line.
struct line_faults {
  double loss = 0;      ///< Of packets.
  double duplicate = 0; ///< Of packets.
  double reorder = 0;   ///< Of packets: so many are overtaken.
  double corrupt = 0;   ///< Of packets with data: a bit flips, and TCP's
                        ///< checksum is mended, so that the program has to
                        ///< find it. (One that TCP finds is a lost packet.)
  bool deaf = false;   ///< What carries data for it is dropped; its own passes,
                       ///< and so do acknowledgements and dials.
  bool closed = false; ///< Nobody can dial it.
};

class faulty_network {
public:
  using host = emulated_network::host;
  using packet = emulated_network::packet;

  /// Of all hosts, since the start.
  struct counters {
    std::uint64_t connections = 0; ///< Dials that passed, retries included.
    std::uint64_t packets = 0;     ///< That were sent.
    std::uint64_t bytes = 0;       ///< Likewise.
    std::uint64_t lost = 0;        ///< By chance.
    std::uint64_t blocked = 0;     ///< By partitions, NATs and deafness.
    std::uint64_t corrupted = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
    std::uint64_t cut = 0; ///< Connections.
  };

  explicit faulty_network(std::uint64_t seed);

  /// @param address In the machine's byte order; a new one.
  host add(std::uint32_t address);

  std::optional<host> at(std::uint32_t address) const;

  void set_line(host which, const access_line& line, const line_faults& faults);

  /// Nothing passes between `side` and all others until `reunite`. Several may
  /// overlap.
  std::uint64_t part(std::set<host> side);
  void reunite(std::uint64_t partition);

  /// Forgets all connections of `which`: both ends of each get a reset, now and
  /// whenever they go on.
  void cut(time_point now, host which);

  /// Preconditions: both hosts exist; times never go back.
  void send(time_point now, packet x);

  /// When something will be ready or has to be passed on, if anything is under
  /// way.
  std::optional<time_point> next() const;

  /// What has arrived by `now`, in order of arrival.
  std::vector<packet> arrived(time_point now);

  const counters& totals() const {
    return totals_;
  }

private:
  bool separated(host a, host b) const;
  bool happens(double share);
  void send_back(time_point now, const tcp_segment& x, packet_bytes bytes);

  emulated_network network_;
  std::map<std::uint32_t, host> hosts_;
  std::vector<line_faults> faults_;
  std::map<std::uint64_t, std::set<host>> partitions_;
  std::uint64_t next_partition_ = 0;
  tcp_flows flows_;
  std::multimap<time_point, packet> late_; ///< Until when they are kept.
  counters totals_;
  random_stream chance_;
};

} // namespace potluck
