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
  if (has_.config.role == role::trainer) {
    children_.add({"compute", child(has_.wired.compute, [this] {
                     compute_config c;
                     c.guards = has_.config.guards;
                     c.agreed = has_.agreed;
                     c.make_trainer = has_.config.make_trainer;
                     c.vault = has_.vault;
                     c.threads = has_.config.threads;
                     c.mode = has_.config.workers;
                     c.batch_time = has_.config.batch_time;
                     c.state_shown = has_.config.state_shown;
                     return self_->spawn(compute, c);
                   })});
    children_.add({"cell", child(has_.wired.cell, [this] {
                     cell_config c;
                     c.self = has_.config.self;
                     c.agreed = has_.agreed;
                     c.seed = mix(has_.config.seed, random_purpose::cells);
                     return self_->spawn(cell, c);
                   })});
  }
  children_.add({"matchmaking", child(has_.wired.matchmaking, [this] {
                   matchmaking_config c;
                   c.guards = has_.config.guards;
                   c.self = has_.config.self;
                   c.role = has_.config.role;
                   c.settings = has_.agreed.settings();
                   c.memory = has_.config.memory;
                   c.awaited = awaited_;
                   // A successor must not give old ids to new groups.
                   if (has_.config.guards.has(safeguard::group_ids))
                     ++restarts_;
                   c.seed
                       = mix(mix(has_.config.seed, random_purpose::group_ids),
                             restarts_);
                   return self_->spawn(matchmaking, c);
                 })});
  children_.add({"averager", child(has_.wired.averager, [this] {
                   averager_config c;
                   c.guards = has_.config.guards;
                   c.self = has_.config.self;
                   c.rule = has_.agreed.settings().averaging();
                   // The settings' check leaves no other names.
                   c.packing = packing_named(has_.agreed.settings().packing)
                                   .value_or(packing::float32);
                   c.abandoned = has_.last_round;
                   c.bend_mean = has_.config.bend_mean;
                   c.seed = mix(has_.config.seed, random_purpose::audits);
                   c.nonce = has_.config.nonce;
                   c.reducer_started = has_.config.child_started;
                   c.intake = has_.intake;
                   c.awaited = awaited_;
                   c.threads = has_.config.threads;
                   return self_->spawn(averager, c);
                 })});
  children_.add({"conductor", child(has_.wired.conductor, [this] {
                   conductor_config c;
                   c.guards = has_.config.guards;
                   c.terms = has_.terms;
                   c.era = has_.era;
                   c.self = has_.config.self;
                   c.role = has_.config.role;
                   c.agreed = has_.agreed;
                   c.micro_batch = has_.config.micro_batch;
                   c.order = has_.config.order;
                   c.checkpoint_every = has_.config.checkpoint_every;
                   c.replaces = std::exchange(conducted_, true);
                   c.signs = has_.config.signs;
                   c.awaits_roots = !c.replaces && !has_.config.state
                                    && !trusted_by(has_.config).empty();
                   c.writes_checkpoints = has_.config.checkpoints != nullptr;
                   c.shows_status = has_.config.shows_status;
                   c.always_computes = has_.config.always_computes;
                   c.upload_bytes_per_second
                       = has_.config.upload_bytes_per_second;
                   c.download_bytes_per_second
                       = has_.config.download_bytes_per_second;
                   return self_->spawn(conductor, c);
                 })});
}

void training_staff::start_artifact_keeper() {
  children_.add({"artifact_keeper",
                 child(has_.wired.artifact_keeper,
                       [this] {
                         artifact_keeper_config c;
                         c.self = has_.config.self;
                         c.agreed = has_.agreed;
                         c.trains = has_.config.role == role::trainer;
                         c.is_hub = has_.config.pieces != nullptr;
                         c.folder
                             = artifact_folder{has_.config.artifacts_folder};
                         c.most = has_.config.max_artifacts;
                         c.own = has_.config.own_artifacts;
                         c.upload_bytes_per_second
                             = has_.config.upload_bytes_per_second;
                         c.shows_status = has_.config.shows_status;
                         c.mode = has_.config.workers;
                         c.bend = has_.config.bend_artifact;
                         return self_->spawn(artifact_keeper, c);
                       }),
                 // It looks at its files again, and is told who is here.
                 child_spec::policy::one_for_one});
}

void training_staff::start_state_keeper() {
  children_.add({"state_keeper", child(has_.wired.state_keeper, [this] {
                   state_keeper_config c;
                   c.guards = has_.config.guards;
                   c.self = has_.config.self;
                   c.agreed = has_.agreed;
                   c.checkpoints = has_.config.checkpoints;
                   c.mode = has_.config.workers;
                   c.upload_bytes_per_second
                       = has_.config.upload_bytes_per_second;
                   c.trains = has_.config.role == role::trainer;
                   c.pieces = has_.config.pieces;
                   c.kept_folder = has_.config.kept_states_folder;
                   return self_->spawn(state_keeper, c);
                 })});
}

} // namespace potluck
