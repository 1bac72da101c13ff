/// Where the machines of a simulation are: which hosts and homes they have, on
/// which ports they listen, and which addresses everybody knows.
///
/// Pure. Peers are named by their numbers in the fault plan. A peer behind a
/// router has a private host, and its home a public one, which peers of its
/// group may share; any other peer has a public host of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "tools/lab/scenario/fault_plan.hpp"

namespace potluck::simulation {

/// As which host others see the peer of that number, or its router.
std::string public_host(std::size_t number);

class address_plan {
public:
  /// Both outlive it.
  address_plan(const scenario& what, const fault_plan& plan);

  std::string host_of(std::size_t number) const;
  std::uint16_t port_of(std::size_t number) const;
  /// Where a peer without a router is dialled.
  address open(std::size_t number) const;

  /// The public host of the home that a peer moves into: a new one, or the one
  /// of its group whose turn it is. Once for each peer behind a router.
  std::string move_in(std::size_t number);

  /// What everybody knows from the beginning.
  const std::vector<address>& seeds() const {
    return seeds_;
  }
  /// Where peers that no router hides are, those that came later included; no
  /// strangers.
  std::vector<address> dialable() const;

private:
  const peer_group& group_of(std::size_t number) const {
    return what_.groups[plan_.peers()[number].group];
  }

  const scenario& what_;
  const fault_plan& plan_;
  std::vector<address> seeds_;
  std::map<std::size_t, std::size_t> housed_; ///< Peers, by group.
  /// Public hosts of homes that are shared, by group and number.
  std::map<std::pair<std::size_t, std::size_t>, std::string> homes_;
};

} // namespace potluck::simulation
