/// What a peer's step is made with, and what its parts need of that.
#pragma once

#include <memory>

#include "messages/progress.hpp"
#include "runtime/organiser/run_terms.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/collaboration.hpp"
#include "runtime/ports/signatures.hpp"
#include "runtime/random.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/step/sample_account.hpp"

namespace potluck {

struct step_settings {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  charter agreed;
  std::uint32_t micro_batch = 16; ///< 0: what the trainer says.
  data_order order;
  std::uint64_t checkpoint_every = 0;
  bool writes_checkpoints = false;
  bool shows_status = true; ///< Tells the observer of `run_status`.
  /// Even where the run is faster without (runtime/planning/who_rests.hpp).
  bool always_computes = false;
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// A predecessor failed, perhaps with all connections: who was there may come
  /// back with another history.
  bool replaces = false;
  /// Batches are numbered from here on: no predecessor's are.
  std::uint64_t first_batch_number = 0;
  /// As the run's organiser has amended it; null: not at all.
  shared_terms terms = {};
  /// The number of the roll-back behind which the held state lies, which
  /// outlives the machine.
  std::shared_ptr<std::uint64_t> era = std::make_shared<std::uint64_t>(0);
  /// What the steps that it makes are signed with; null: they are not.
  shared_signatures signs = {};
  /// It is a newcomer whose invitation names others: it hears by whom to go
  /// (`roots_known`), and neither follows anybody nor begins before.
  bool awaits_roots = false;
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
};

/// How a run plans.
inline plan_rules rules_of(const run_settings& run) {
  plan_rules x = share_rule_named(run.shares).value_or(share_rule::planned);
  x.packs_thin_lines = run.packs_thin_lines();
  x.overlaps = run.delayed_updates();
  x.packs = packing_named(run.packing).value_or(packing::float32);
  return x;
}

/// The first report of a peer: who it is, and its line as far as it is stated.
inline progress_report introduction(const step_settings& how) {
  progress_report x;
  x.id = how.self;
  x.role = how.role;
  x.charter = how.agreed.digest();
  x.upload_bytes_per_second = how.upload_bytes_per_second;
  x.download_bytes_per_second = how.download_bytes_per_second;
  return x;
}

inline sample_account::settings account_of(const step_settings& how) {
  const auto& run = how.agreed.settings();
  sample_account::settings x;
  x.order = how.order;
  x.target = run.target_batch + run.reserve;
  x.steps = run.steps;
  x.order_seed = how.order.shared ? run.seed : mix(run.seed, seed_of(how.self));
  x.micro_batch = how.micro_batch;
  x.first_number = how.first_batch_number;
  return x;
}

} // namespace potluck
