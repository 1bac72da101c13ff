/// What the children of a peer share, and what outlives those that are
/// restarted.
///
/// The root has it; those that start children read it then.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "actors/peer.hpp"
#include "actors/wiring.hpp"
#include "runtime/admission/admission_gate.hpp"
#include "runtime/averaging/round/round_intake.hpp"

namespace potluck {

struct peer_estate {
  peer_config config;
  wiring wired;
  std::shared_ptr<state_vault> vault = std::make_shared<state_vault>();
  /// Where the gateway puts a round's bulk; both may be restarted.
  std::shared_ptr<round_intake> intake = std::make_shared<round_intake>();
  /// Whom this peer's run admits; its asker may be restarted.
  std::shared_ptr<admission_gate> gate;
  charter agreed;
  /// The run's, if it has one; the registrar may be restarted.
  std::shared_ptr<std::string> manifest = std::make_shared<std::string>();
  round_begun last_round; ///< Begun by an averager.
  shared_terms terms;     ///< Null: nobody has amended the run.
  /// See `step_settings::era`.
  std::shared_ptr<std::uint64_t> era = std::make_shared<std::uint64_t>(0);
  /// What proves the histories of runs.
  std::shared_ptr<kept_histories> histories
      = std::make_shared<kept_histories>();
  bool amended = false; ///< What the organiser has said since is known.
};

/// Tells the streams of the peer's seed apart.
struct random_purpose {
  enum : std::uint64_t {
    routing_choices = 1,
    redial_jitter = 2,
    group_ids = 3,
    cells = 4,
    audits = 5,
    holes = 6,
  };
};

/// Whom the invitation names.
std::set<peer_id> trusted_by(const peer_config& config);

/// Judges guests by the run's rules, where its charter is here from the start.
std::shared_ptr<admission_gate> open_gate(const peer_config& config,
                                          const std::string& manifest,
                                          caf::actor_clock& clock);
/// Whom this run admits, and by whose word.
void lay_down(admission_gate& gate, const std::string& manifest,
              const run_settings& agreed);

} // namespace potluck
