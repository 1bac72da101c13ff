/// A whole peer: what an application spawns to take part in a run.
///
///     potluck::peer_config config;       // who, where, what to train
///     auto peer = potluck::spawn_peer(system, config, my_observer);
///     ...
///     caf::anon_send(peer, potluck::leave_run{"enough for today"});
///
/// The peer is a supervision tree (actors/README.md) under one actor, which
/// ends when the run does, when told to leave, or when its restart budget is
/// spent; the observer hears why in a `peer_over`.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>

#include "actors/address_keeper.hpp"
#include "actors/admission_keeper.hpp"
#include "actors/artifact_keeper.hpp"
#include "actors/authority.hpp"
#include "actors/compute.hpp"
#include "actors/experts/expert_caller.hpp"
#include "actors/experts/expert_host.hpp"
#include "actors/history_keeper.hpp"
#include "actors/interfaces.hpp"
#include "actors/supervisor.hpp"
#include "actors/wiring.hpp"
#include "runtime/averaging/round/round_intake.hpp"
#include "runtime/averaging/round_memory.hpp"
#include "runtime/ports/piece_store.hpp"
#include "runtime/ports/port_mapper.hpp"
#include "runtime/ports/signatures.hpp"
#include "runtime/safeguards.hpp"
#include "runtime/state/checkpoint_files.hpp"
#include "runtime/step/sample_account.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// How long closing connections may take when leaving: leaves room for the
/// rest within the two seconds that Ctrl-C promises.
constexpr auto leave_patience = 500ms;
/// For an actor to end when asked, before it is killed.
constexpr auto shutdown_grace = 500ms;

} // namespace potluck::limits

namespace potluck {

struct peer_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  /// The run's name, or the key of one that an organiser created
  /// (runtime/manifest/run_key.hpp); a bootstrap's is empty.
  std::string run = "potluck";
  /// By run: manifests that the user has given this peer. It hands them on, as
  /// a bootstrap to whoever is of that run.
  std::map<std::string, std::string> manifests;
  address listen{"::", 0};
  std::vector<address> also_listen; ///< Others are told of the first only.
  std::vector<address> seeds;       ///< Peers to dial first; none founds a run.
  std::map<address, peer_id> pins;  ///< Of seeds: who has to answer there.
  address announce;                 ///< See `roster_config`.
  /// Where addresses are kept for the next start; none: nowhere. Those of the
  /// last one are dialled beside `seeds`, and its port is taken again where
  /// `listen` leaves it open.
  std::optional<address_keeping> keeping;
  std::function<std::unique_ptr<transport>()> make_transport;

  /// Where what organisers have signed is kept, each run's in a file of its
  /// own; empty: nowhere.
  std::string amendments_folder;
  /// Where a trainer of a created run keeps states of earlier, so that it can
  /// be rolled back; empty: nowhere.
  std::string kept_states_folder;

  /// Where runs' artifacts are kept, shared with other peers of this machine;
  /// empty: nowhere, and in runs that have some this peer gives up.
  std::string artifacts_folder;
  /// Bytes that all artifacts there may take, this run's included.
  std::uint64_t max_artifacts = usual_max_artifacts;
  /// Files of the user's own, which need not be fetched.
  potluck::own_artifacts own_artifacts;

  /// Trainers: opens data and model. Unused by other roles.
  trainer_factory make_trainer;
  /// Trainers that may found a run: learns a tokenizer, fixes the settings.
  std::function<charter()> propose;
  /// What the user insists on in the charter (names as in `charter::table`).
  std::vector<setting> demanded;
  /// From a checkpoint, when resuming.
  std::optional<charter> known;
  /// Or, where the run's first state is its founder's
  /// (`run_settings::initial`): the one that this peer would found it with.
  std::shared_ptr<training_state> state;
  /// What that checkpoint says of the run's history, unchecked.
  std::vector<signed_step> history;
  /// Where the state lies, then and later, for whoever reads it beside the peer
  /// under the vault's lock; null: nobody does.
  std::shared_ptr<state_vault> vault;

  /// Null: none are written.
  std::shared_ptr<checkpoint_files> checkpoints;
  std::uint64_t checkpoint_every = 0; ///< Steps; 0: only after the last.
  /// Samples between two looks around; 0 for what suits the model.
  std::uint32_t micro_batch = 16;
  potluck::data_order order;
  unsigned threads = 1;
  /// Experts that this peer hosts, in any role but bootstrap.
  std::optional<expert_hosting> experts;
  /// Whether calls of experts, this peer's and others', may take circuits
  /// through hubs, which somebody pays for: the other end has to allow it, too.
  bool relays_experts = false;
  /// Of an `expert_client`, whose calls this peer makes; null: none.
  std::shared_ptr<expert_line> expert_calls;
  /// Where blocking work runs, and in simulations how long batches take and who
  /// sees the states: see `compute_config`.
  worker_mode workers = worker_mode::threaded;
  std::function<duration(std::uint32_t samples)> batch_time;
  std::function<void(const training_state&, bool redrawn)> state_shown;
  /// What this peer's records are signed with (`signatures_of` its key), and
  /// others' are checked. Null: nobody finds it in the DHT, nor it anybody.
  shared_signatures signs;
  /// What this machine's clock says, in milliseconds since 1970: others are
  /// told, and records are dated by it. Null: they are not told, and records go
  /// by the actors' clock, which is right in simulations only.
  std::function<std::uint64_t()> wall_clock;
  /// Has the router open a port once nobody can dial this peer; null: nobody
  /// does. It has ended what it began when the last owner lets go.
  std::shared_ptr<port_mapper> mapper;
  /// What the rounds of an auxiliary may hold, together with those of others;
  /// null: as much as they need.
  std::shared_ptr<memory_allowance> memory;
  /// Where an auxiliary keeps states of its run for joiners that reach it
  /// better than they reach each other; null: nowhere.
  std::shared_ptr<piece_store> pieces;
  /// What this peer has to show where its run does not admit everybody.
  admission_papers papers;
  /// Makes a bootstrap the authority that admits peers to runs; none: it is
  /// none.
  std::optional<authority_office> authority;
  /// Hears of all who come and go, and where others reach this peer; null:
  /// nobody.
  companion_actor beside;
  /// Of a bootstrap: the runs that it is there for (see
  /// `admission_gate::passes_for`).
  std::map<std::string, passed_run> passes_for;
  /// Whether it passes no circuits on for now where it is a hub; may be called
  /// on any thread; null: it does.
  std::function<bool()> rests;
  /// What the user knows of the line, bytes per second; 0: measured.
  double upload_bytes_per_second = 0;
  double download_bytes_per_second = 0;
  /// Whether the observer hears `run_status` several times a second; what
  /// happens it hears in any case.
  bool shows_status = true;
  /// Even where the run is faster without this peer's gradients.
  bool always_computes = false;
  std::uint64_t seed = 0; ///< Of this peer's own random choices; not zero.
  /// Numbers that nobody can foresee, not even from others before them; none:
  /// by the seed, so that a simulation can be repeated.
  std::function<std::uint64_t()> nonce = {};
  /// For tests that end children, sessions and reducers included, which are
  /// told apart by name here. Called by whichever thread runs their parent.
  supervisor::witness child_started;
  /// For tests and simulations of a reducer that lies: changes each mean that
  /// this peer averages, before anybody gets it. Empty: none.
  std::function<void(std::vector<float>&)> bend_mean;
  /// Likewise of a donor of artifacts that lies: changes each of their pieces
  /// that this peer gives. Empty: none.
  std::function<void(shared_bytes&)> bend_artifact;
  /// Likewise of a leader that lies: changes what its contracts count. Empty:
  /// none.
  std::function<void(group_contract&)> bend_contract;
  /// Which checks are made: all, but in a simulation that proves something.
  safeguard_set guards;
};

using peer_actor = supervisor_actor;

/// Starts a peer. It holds `observer` until it ends.
peer_actor spawn_peer(caf::actor_system& system, peer_config config,
                      observer_actor observer);

} // namespace potluck
