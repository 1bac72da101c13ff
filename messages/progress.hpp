/// What a peer tells the collaboration about itself: the DHT record that makes
/// it discoverable, and the same as a direct frame to connected peers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "messages/seal.hpp"

namespace potluck {

/// What a peer is doing. The values are on the wire: append only.
enum class phase : std::uint8_t {
  joining = 0,      ///< Fetching settings or state; cannot average yet.
  accumulating = 1, ///< Computing gradients for its step.
  matchmaking = 2,  ///< Its gradient is frozen; a group is being formed.
  averaging = 3,    ///< In a round.
  waiting = 4,      ///< Has nothing to compute (its shard is done, auxiliary).
  finished = 5,     ///< The run's last step is applied.
  founding = 6,     ///< Preparing the run's charter; others wait for it.
};

std::string to_string(phase x);

/// How others get a line to a peer. The values are on the wire: append only.
enum class reach : std::uint8_t {
  unknown = 0, ///< Not found out yet: dial it.
  open = 1,    ///< Anybody can dial it.
  mapped = 2,  ///< Likewise, since its router opened a port for it.
  cone = 3,    ///< Its router shows everybody the same port of it: holes work.
  symmetric = 4, ///< Its router shows everybody another port.
};

std::string to_string(reach x);

/// Whether others can dial it.
constexpr bool is_open(reach x) {
  return x == reach::open || x == reach::mapped;
}

/// What one of those that made a step says of it. What it covers is
/// `runtime/history/signed_steps.hpp`'s.
struct step_signature {
  public_key signer;
  signature proof;

  bool empty() const {
    return signer.empty() || proof.empty();
  }
};

struct progress_report {
  peer_id id;
  /// Where the peer listens. An empty host means: as seen from its connection.
  address where;
  potluck::role role = potluck::role::trainer;
  potluck::phase phase = potluck::phase::joining;
  /// Digest of the run's charter; empty while the sender has none yet.
  digest charter;
  /// Optimizer steps applied to the parameters that the peer holds.
  std::uint64_t step = 0;
  /// Samples counted in all of those steps: the length of its history.
  std::uint64_t history_samples = 0;
  /// Digest of parameters and optimizer statistics after `step`.
  potluck::digest state;
  /// Samples accumulated for the next step.
  std::uint64_t samples = 0;
  double samples_per_second = 0;
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// Mean loss of the sender's own samples; 0 when there are none.
  double loss = 0;
  /// The sender is in no group: it hands its gradient to a sponsor
  /// (runtime/ways/cells).
  bool contributes = false;
  peer_id sponsor; ///< A contributor's; empty while it looks for one.
  /// Trainers whose sponsor the sender is. `samples` and `samples_per_second`
  /// count theirs too.
  std::uint32_t contributors = 0;
  /// Trainers that the sender knows to average in groups, itself included if it
  /// does.
  std::uint32_t members = 0;
  /// Connections that carry less than the sender's line; the slowest first.
  std::vector<slow_pair> slow_pairs = {};
  potluck::reach reach = potluck::reach::unknown;
  /// Hubs that the sender is connected with: they pass circuits on to it.
  std::vector<contact> hubs = {};
  /// Of the step that led to `state`, where the sender was one of those that
  /// made it; else empty.
  step_signature step_proof = {};
  /// Where a sender that speaks both versions of IP listens, too: an address of
  /// the other version than `where`. An empty host: nowhere.
  address also = {};
};

} // namespace potluck
