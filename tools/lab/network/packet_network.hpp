/// The emulator of lines for IP packets of real hosts: what arrives when, and
/// what routers with faults make of TCP. Knows no socket and no clock.
///
/// What befalls a packet, in order: a partition between its hosts;
/// deafness of its receiver; a connection that was cut; then the lines, with
/// loss, flipped bits, late and double arrival (line_emulator.hpp). Packets of
/// a pair stay in order, but for those that are late. What is under way when a
/// partition begins arrives.
///
/// TCP within IPv6 is carried as datagrams are: no deafness, cut or flipped bit
/// befalls it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "tools/lab/network/line_emulator.hpp"
#include "tools/lab/network/tcp_flows.hpp"

namespace potluck {

class packet_network {
public:
  using host = line_emulator::host;

  struct packet {
    host from = 0;
    host to = 0;
    packet_bytes bytes;
  };

  explicit packet_network(std::uint64_t seed);

  /// @param address In the machine's byte order; a new one.
  host add(std::uint32_t address, const access_line& line = {});

  /// The host has another address; what goes to the old one is its own still.
  void move(std::uint32_t address, host x) {
    hosts_[address] = x;
  }

  /// For lines, partitions and counters.
  line_emulator& lines() {
    return lines_;
  }
  const line_emulator& lines() const {
    return lines_;
  }

  /// Forgets all connections of `which`: both ends of each get a reset, now and
  /// whenever they go on. Returns how many there were.
  std::size_t cut(time_point now, host which);

  /// Dials that passed, those that were tried again included.
  std::uint64_t connections() const {
    return connections_;
  }

  /// Preconditions: both hosts exist; times never go back.
  void send(time_point now, packet x);

  /// When something will be ready, if anything is under way.
  std::optional<time_point> next() const;

  /// What has arrived by `now`, in order of arrival.
  std::vector<packet> arrived(time_point now);

private:
  struct flight {
    time_point at;
    std::uint64_t number; ///< Equal times: in the order of sending.
    bool received;        ///< Past the downlink; else at its beginning.
    packet what;

    friend bool operator<(const flight& x, const flight& y) {
      return x.at != y.at ? x.at > y.at : x.number > y.number;
    }
  };

  /// False when it goes no further; a reset may be on its way back.
  bool passes_routers(time_point now, const packet& x,
                      const std::optional<tcp_segment>& segment);
  void launch(time_point at, bool received, packet what);
  /// A reset of our own.
  void send_back(time_point now, packet_bytes bytes);
  void transmit(time_point now, packet x,
                const std::optional<tcp_segment>& segment, bool spared);
  void advance(time_point now);

  line_emulator lines_;
  std::map<std::uint32_t, host> hosts_; ///< By address.
  std::map<std::pair<host, host>, line_emulator::flow> pairs_;
  tcp_flows flows_;
  std::priority_queue<flight> flights_;
  std::vector<packet> ready_;
  std::uint64_t next_number_ = 0;
  std::uint64_t connections_ = 0;
};

} // namespace potluck
