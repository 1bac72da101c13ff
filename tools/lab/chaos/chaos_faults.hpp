/// What befalls the peers of a chaos run, and their lines at present.
#pragma once

#include <map>
#include <vector>

#include "tools/lab/chaos/chaos_peer.hpp"
#include "tools/lab/netlab/host_network.hpp"
#include "tools/lab/scenario/fault_plan.hpp"

namespace potluck::tools {

class chaos_faults {
public:
  /// @param peers By number; more may come.
  chaos_faults(const scenario& what, const fault_plan& plan,
               netlab::host_network& network, std::vector<chaos_peer>& peers);

  void begin(const fault_event& x);
  /// Whether it was still under way.
  bool end(const fault_event& x);
  /// Nothing may hold anybody up any more.
  void end_all();

  /// A peer's line as its group has it, with the faults on it.
  void draw_line(std::size_t number);
  /// A peer whose power was cut has it again.
  void power_on(std::size_t number);

  /// A fault that ends is under way; what lasts for ever has to be lived with.
  bool any_under_way() const;

private:
  void befall(const fault_event& x, std::size_t number);
  void relieve(const fault_event& x);

  const scenario& what_;
  const fault_plan& plan_;
  netlab::host_network& network_;
  std::vector<chaos_peer>& peers_;
  std::map<std::uint64_t, fault_event> lasting_;
  std::map<std::uint64_t, std::uint64_t> partitions_; ///< By fault.
  /// Partitions of those whose power was cut, by number.
  std::map<std::size_t, std::uint64_t> dark_;
};

} // namespace potluck::tools
