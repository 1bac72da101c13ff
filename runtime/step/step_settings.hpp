/// What a peer's step is made with, and what its parts need of that.
#pragma once

#include "messages/progress.hpp"
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
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// A predecessor failed, perhaps with all connections: who was there may come
  /// back with another history.
  bool replaces = false;
  /// Batches are numbered from here on: no predecessor's are.
  std::uint64_t first_batch_number = 0;
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
};

/// The first report of a peer: who it is, and its line as far as it is stated.
progress_report introduction(const step_settings& how);

sample_account::settings account_of(const step_settings& how);

} // namespace potluck
