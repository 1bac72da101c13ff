/// Carries packets between hosts' lines and an emulated network.
#pragma once

#include <arpa/inet.h>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "runtime/clock.hpp"
#include "tools/lab/netlab/namespace_host.hpp"

namespace potluck::netlab {

/// A packet that is passed on so much too late, because this machine was busy,
/// counts as late.
constexpr auto packet_lateness = std::chrono::milliseconds{5};

/// @tparam Network `emulated_network` or `faulty_network`, with a host for each
/// of `hosts`.
/// @tparam Hosts A sequence of `namespace_host`; host i has `host_address(i)`.
template <class Network, class Hosts>
class packet_carrier {
public:
  packet_carrier(Network& network, const Hosts& hosts)
      : network_{network}, hosts_{hosts} {
  }

  /// Passes on what is there. @returns When something will be due.
  std::optional<time_point> step() {
    hand_over(); // First, so that lateness is seen.
    for (std::size_t i = 0; i < hosts_.size(); ++i)
      take(i);
    hand_over();
    return network_.next();
  }

  double late_share() const {
    return passed_ == 0
               ? 0
               : static_cast<double>(late_) / static_cast<double>(passed_);
  }

private:
  /// Packets taken from one host before the next has its turn.
  static constexpr int turn_packets = 64;

  static time_point now() {
    return std::chrono::steady_clock::now();
  }

  void take(std::size_t from) {
    std::uint8_t buffer[namespace_host::packet_bytes + 64];
    for (int i = 0; i < turn_packets; ++i) {
      auto size = ::read(hosts_[from].line(), buffer, sizeof(buffer));
      if (size <= 0)
        return;
      // The receiver stands behind 16 bytes of an IPv4 header. Anything else
      // (IPv6's announcements, broadcasts) has nowhere to go here.
      if (size < 20 || buffer[0] >> 4 != 4)
        continue;
      std::uint32_t to = 0;
      std::memcpy(&to, buffer + 16, sizeof(to));
      std::size_t receiver = ntohl(to) - host_address(0);
      if (receiver < hosts_.size())
        network_.send(now(), {from, receiver, {buffer, buffer + size}});
    }
  }

  void hand_over() {
    auto due = network_.next();
    auto at = now();
    if (!due || *due > at)
      return;
    // What never had to wait, a reset for example, cannot be late.
    bool late = at - *due > packet_lateness && *due != time_point{};
    for (const auto& x : network_.arrived(at)) {
      ++passed_;
      late_ += late;
      // What the kernel does not take is lost, as in a real one.
      [[maybe_unused]] auto size
          = ::write(hosts_[x.to].line(), x.bytes.data(), x.bytes.size());
    }
  }

  Network& network_;
  const Hosts& hosts_;
  std::uint64_t passed_ = 0;
  std::uint64_t late_ = 0;
};

} // namespace potluck::netlab
