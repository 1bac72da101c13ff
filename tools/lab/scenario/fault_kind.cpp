#include "tools/lab/scenario/fault_kind.hpp"

#include <stdexcept>

namespace potluck {

namespace {

std::vector<fault_trait> make_traits() {
  using k = fault_kind;
  // kind, name, meaning, lasts, has_amount, in_simulation, in_chaos
  return {
      {k::kill, "kill", "its process ends at once; connections are reset",
       false, false, true, true},
      {k::power_cut, "power_cut", "the same, but nobody is told: silence",
       false, false, true, true},
      {k::leave, "leave", "it leaves in order, as on Ctrl-C", false, false,
       true, true},
      {k::stop, "stop", "it stands still (SIGSTOP), its connections open", true,
       false, true, true},
      {k::deafen, "deafen", "it reads nothing from its lines, but goes on",
       true, false, true, true},
      {k::isolate, "isolate",
       "a partition: nothing passes between `who` and the rest", true, false,
       true, true},
      {k::estrange, "estrange", "no two of `who` are or can be connected", true,
       false, true, false},
      {k::cut, "cut", "its connections break; they can be dialled again", false,
       false, true, true},
      {k::delay, "delay", "its line takes `amount` longer, one way", true, true,
       true, true},
      {k::throttle, "throttle", "its line carries `amount`, each way", true,
       true, true, true},
      {k::lose, "lose", "its line loses this share of packets", true, true,
       true, true},
      {k::duplicate, "duplicate", "its line doubles this share of frames", true,
       true, true, true},
      {k::reorder, "reorder", "its line swaps this share of frames", true, true,
       true, true},
      {k::corrupt, "corrupt", "a bit flips in this share of its frames", true,
       true, true, true},
      {k::slow, "slow", "it computes so many times slower", true, true, true,
       true},
      {k::drift, "drift", "its clock runs this share faster (or slower)", true,
       true, true, false},
      {k::fill_disk, "fill_disk", "every write to its disk fails", true, false,
       true, true},
      {k::tear_writes, "tear_writes",
       "its writes stop in the middle when it is killed", true, false, true,
       false},
      {k::rot, "rot", "a bit flips in each file on its disk", false, false,
       true, false},
      {k::crash_actor, "crash_actor", "one of its actors crashes", false, false,
       true, false},
      {k::misbehave, "misbehave", "it turns hostile", true, false, true, false},
      {k::router_reboots, "router_reboots",
       "its router forgets its connections, and nobody is told", false, false,
       true, true},
      {k::address_changes, "address_changes",
       "the same, and its home has another public address", false, false, true,
       true},
      {k::join, "join", "`count` more peers of `group` come", false, false,
       true, true},
  };
}

} // namespace

const std::vector<fault_trait>& fault_traits() {
  static const std::vector<fault_trait> traits = make_traits();
  return traits;
}

const fault_trait& trait_of(fault_kind x) {
  for (const auto& trait : fault_traits())
    if (trait.kind == x)
      return trait;
  throw std::logic_error("a kind of fault has no trait.");
}

std::string to_string(fault_kind x) {
  return trait_of(x).name;
}

} // namespace potluck
