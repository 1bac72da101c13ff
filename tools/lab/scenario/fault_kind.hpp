/// The kinds of faults, with all that reading, writing and explaining a
/// scenario needs to know of each. How they befall somebody is known elsewhere.
#pragma once

#include <string>
#include <vector>

namespace potluck {

enum class fault_kind {
  kill,        ///< The process ends at once; its connections are reset.
  power_cut,   ///< The same, but nobody is told: silence.
  leave,       ///< Leaves in order, as on Ctrl-C.
  stop,        ///< Stands still for a while (SIGSTOP), connections open.
  deafen,      ///< Stops reading from its lines, goes on otherwise.
  isolate,     ///< Reaches nobody and nobody reaches it: partition of `who`
               ///< from the rest; inside `who` all is well.
  estrange,    ///< Nobody of `who` is or can be connected with another of
               ///< them. (simulation)
  cut,         ///< Its connections break now and can be dialled again at once.
  delay,       ///< `amount` seconds more on its line.
  throttle,    ///< `amount` bytes per second, both ways.
  lose,        ///< `amount` of packets.
  duplicate,   ///< `amount` of frames.
  reorder,     ///< `amount` of frames.
  corrupt,     ///< `amount` of frames.
  slow,        ///< Computes `amount` times slower.
  drift,       ///< Its clock runs `amount` faster.
  fill_disk,   ///< Every write fails.
  tear_writes, ///< Writes stop in the middle when it is killed.
  rot,         ///< A bit flips in each file on its disk. (simulation)
  crash_actor, ///< One of its actors (`detail`; any by default) crashes.
  misbehave,   ///< Becomes hostile in the manner of `detail`. (simulation)
  router_reboots,  ///< Its router forgets its connections: they die in silence.
  address_changes, ///< The same, and its home has another public address.
  join,            ///< `count` more peers of group `detail` come.
};

/// Everything about a kind that a reader or a parser has to know.
struct fault_trait {
  fault_kind kind;
  std::string name;    ///< In files: "kill", "power_cut", ...
  std::string meaning; ///< One line.
  bool lasts;          ///< Takes `for`.
  bool has_amount;
  bool in_simulation;
  bool in_chaos;
};
/// In the order of `fault_kind`.
const std::vector<fault_trait>& fault_traits();
const fault_trait& trait_of(fault_kind x);
std::string to_string(fault_kind x);

} // namespace potluck
