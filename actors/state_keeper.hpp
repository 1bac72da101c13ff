/// The state keeper: gives the training state to joiners, fetches it from a
/// donor, writes checkpoints.
///
/// Serves immutable snapshots, taken when somebody asks: a joiner reads one
/// version to its end while training goes on.
#pragma once

#include <deque>
#include <map>

#include "actors/interfaces.hpp"
#include "actors/worker.hpp"
#include "runtime/state/state_transfer.hpp"

namespace potluck {

struct state_keeper_config {
  charter agreed;
  /// Where checkpoints go; empty for none.
  std::string checkpoint_path;
  worker_mode mode = worker_mode::threaded;
};

class state_keeper_state {
public:
  void init(state_keeper_actor::pointer self, state_keeper_config config);

  void on(const wiring& w);
  void on(const letter& x);
  void on(const peer_joined&) {
  }
  void on(const peer_left& x);
  void on(const fetch_state& x);
  void on(const snapshot_taken& x);
  void on(const state_changed& x);
  void on(const save_checkpoint_now& x);
  void on(const checkpoint_saved& x);
  void on(const deadline_passed& x);

private:
  void read(const peer_id& from, const state_request& x);
  void read(const peer_id& from, const state_manifest& x);
  void read(const peer_id& from, const piece_request& x);
  void read(const peer_id& from, const state_piece& x,
            const shared_bytes& body);
  template <class Other>
  void read(const peer_id&, const Other&) {
    // Sessions deliver nothing else here.
  }

  void ask_for_snapshot();
  void offer(const peer_id& joiner, std::uint64_t token);
  void ask_for_pieces();
  void fail(const std::string& reason);
  void finish();
  void arm();

  state_keeper_actor::pointer self_ = nullptr;
  state_keeper_config config_;
  wiring wired_;
  std::unique_ptr<worker> thread_;
  std::uint64_t gradient_values_ = 0;
  digest current_; ///< Of the state that compute holds.

  // Donor.
  std::deque<state_snapshot> snapshots_; ///< Newest last.
  std::vector<std::pair<peer_id, std::uint64_t>> askers_;
  bool snapshot_asked_ = false;
  std::vector<std::uint64_t> checkpoints_due_;

  // Joiner.
  std::optional<fetch_state> fetching_;
  std::optional<state_transfer> transfer_;
  std::uint64_t token_ = 0;
  std::uint64_t deadline_ = 0;
  caf::actor_clock::time_point began_;
};

state_keeper_actor::behavior_type
state_keeper(state_keeper_actor::stateful_pointer<state_keeper_state> self,
             state_keeper_config config);

} // namespace potluck
