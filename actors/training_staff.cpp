#include "actors/training_staff.hpp"

#include <utility>

#include "actors/artifact_keeper.hpp"
#include "actors/averager.hpp"
#include "actors/cell.hpp"
#include "actors/conductor.hpp"
#include "actors/matchmaking.hpp"
#include "actors/state_keeper.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

namespace potluck {

void training_staff::start() {
  start_state_keeper();
  if (config().role == role::trainer) {
    add("compute", has().wired.compute, compute, [this] {
      compute_config c;
      c.guards = config().guards;
      c.agreed = has().agreed;
      c.make_trainer = config().make_trainer;
      c.vault = has().vault;
      c.threads = config().threads;
      c.mode = config().workers;
      c.batch_time = config().batch_time;
      c.state_shown = config().state_shown;
      return c;
    });
    add("cell", has().wired.cell, cell, [this] {
      cell_config c;
      c.self = config().self;
      c.agreed = has().agreed;
      c.seed = mix(config().seed, random_purpose::cells);
      return c;
    });
  }
  add("matchmaking", has().wired.matchmaking, matchmaking, [this] {
    matchmaking_config c;
    c.guards = config().guards;
    c.self = config().self;
    c.role = config().role;
    c.settings = has().agreed.settings();
    c.memory = config().memory;
    c.bend_contract = config().bend_contract;
    c.awaited = awaited_;
    // A successor must not give old ids to new groups.
    if (config().guards.has(safeguard::group_ids))
      ++restarts_;
    c.seed = mix(mix(config().seed, random_purpose::group_ids), restarts_);
    return c;
  });
  add("averager", has().wired.averager, averager, [this] {
    averager_config c;
    c.guards = config().guards;
    c.self = config().self;
    c.rule = has().agreed.settings().averaging();
    // The settings' check leaves no other names.
    c.packing = packing_named(has().agreed.settings().packing)
                    .value_or(packing::float32);
    c.abandoned = has().last_round;
    c.bend_mean = config().bend_mean;
    c.seed = mix(config().seed, random_purpose::audits);
    c.nonce = config().nonce;
    c.reducer_started = config().child_started;
    c.intake = has().intake;
    c.awaited = awaited_;
    c.threads = config().threads;
    return c;
  });
  add("conductor", has().wired.conductor, conductor, [this] {
    conductor_config c;
    c.guards = config().guards;
    c.terms = has().terms;
    c.era = has().era;
    c.self = config().self;
    c.role = config().role;
    c.agreed = has().agreed;
    c.micro_batch = config().micro_batch;
    c.order = config().order;
    c.checkpoint_every = config().checkpoint_every;
    c.replaces = std::exchange(conducted_, true);
    c.signs = config().signs;
    // Also where a checkpoint is resumed.
    c.awaits_roots = !c.replaces && !trusted_by(config()).empty();
    c.writes_checkpoints = config().checkpoints != nullptr;
    c.shows_status = config().shows_status;
    c.always_computes = config().always_computes;
    c.upload_bytes_per_second = config().upload_bytes_per_second;
    c.download_bytes_per_second = config().download_bytes_per_second;
    return c;
  });
}

void training_staff::start_artifact_keeper() {
  // It looks at its files again, and is told who is here.
  add_alone("artifact_keeper", has().wired.artifact_keeper, artifact_keeper,
            [this] {
              artifact_keeper_config c;
              c.self = config().self;
              c.agreed = has().agreed;
              c.trains = config().role == role::trainer;
              c.is_hub = config().pieces != nullptr;
              c.folder = artifact_folder{config().artifacts_folder};
              c.most = config().max_artifacts;
              c.own = config().own_artifacts;
              c.upload_bytes_per_second = config().upload_bytes_per_second;
              c.shows_status = config().shows_status;
              c.mode = config().workers;
              c.bend = config().bend_artifact;
              return c;
            });
}

void training_staff::start_state_keeper() {
  add("state_keeper", has().wired.state_keeper, state_keeper, [this] {
    state_keeper_config c;
    c.guards = config().guards;
    c.self = config().self;
    c.agreed = has().agreed;
    c.checkpoints = config().checkpoints;
    c.mode = config().workers;
    c.upload_bytes_per_second = config().upload_bytes_per_second;
    c.trains = config().role == role::trainer;
    c.pieces = config().pieces;
    c.kept_folder = config().kept_states_folder;
    return c;
  });
}

} // namespace potluck
