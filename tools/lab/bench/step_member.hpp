/// One member of `potluck bench step`: a whole peer as it trains, but with a
/// stand-in for the model that sleeps for as long as computing would take.
#pragma once

#include <ostream>

#include "messages/contact.hpp"
#include "runtime/state/charter.hpp"

namespace caf {
class actor_system;
}

namespace potluck::bench {

struct step_member_config {
  run_settings settings;     ///< Steps and target batch among them.
  std::uint32_t members = 1; ///< In all; each waits for the others.
  std::uint64_t values = 1;  ///< Parameters of the model.
  /// A local step: so many samples, and what they take.
  std::uint32_t batch = 32;
  double batch_seconds = 0.25;
  unsigned threads = 1; ///< Of the optimizer.
  std::vector<address> seeds;
  bool insecure = false; ///< Plain TCP.
};

/// Trains until all steps are done, and reports each as a line of JSON on
/// `out`, times in seconds of the machine's steady clock:
///
///     {"event":"listening","address":"127.0.0.1:4000"}
///     {"event":"ready","time":12.5}
///     {"event":"round","round":1,"time":16.6,"averaging":0.2,"sent":4000,
///      "samples":2050,"peers":4}
///     {"event":"over","problem":"","cpu_seconds":1.5,"peak_bytes":1,
///      "idle_bytes":1,"digest":"..."}
///
/// A `round` is a global step: its time is that of the applied update.
///
/// @returns Whether all steps were done.
bool train(caf::actor_system& system, step_member_config config,
           std::ostream& out);

} // namespace potluck::bench
