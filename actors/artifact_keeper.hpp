/// The artifact keeper: looks which of the run's artifacts are on this machine,
/// fetches those that are not, and gives them to others of the run.
///
/// Thin: `artifact_fetch` and `artifact_donor` decide (runtime/artifacts), and
/// `artifact_folder` keeps the files; what takes long there runs on a worker.
/// An auxiliary needs none. One that is a hub fetches them once somebody asks
/// it, who may reach nobody else.
#pragma once

#include "actors/alarm_clock.hpp"
#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/artifacts/artifact_donor.hpp"
#include "runtime/artifacts/artifact_fetch.hpp"
#include "runtime/artifacts/own_artifacts.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// What runs' artifacts may take of a machine's disk, if its user does not say:
/// few runs have more than one of a few hundred megabytes.
constexpr std::uint64_t usual_max_artifacts = 2'000'000'000;

struct artifact_keeper_config {
  peer_id self;
  charter agreed;
  bool trains = true;  ///< It needs all of them.
  bool is_hub = false; ///< It fetches them for others.
  artifact_folder folder{""};
  /// Bytes of all files there.
  std::uint64_t most = usual_max_artifacts;
  own_artifacts own; ///< Files of the user's.
  /// As the user states it; others get `artifacts_upload_share` of it.
  double upload_bytes_per_second = 0;
  bool shows_status = true; ///< Tells the observer of `run_status`.
  worker_mode mode = worker_mode::threaded;
  std::function<void(shared_bytes&)> bend; ///< Of a liar.
};

class artifact_keeper_state {
public:
  void init(artifact_keeper_actor::pointer self, artifact_keeper_config config);

  void on(const artifact_keeper_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const artifacts_looked_at& x);
  void on(const pieces_looked_at& x);
  void on(const artifact_finished& x);
  void on(const work_failed& x);
  void on(const deadline_passed& x);

private:
  time_point now() const {
    return self_->clock().now();
  }
  /// A job for the thread, whose failure ends the peer.
  void post(std::function<expected<bool>()> job);
  void look_at_folder();
  void begin_fetch();
  void tell_if_all_here();

  void carry_out(artifact_actions xs);
  void carry_out(state_letter& x);
  void carry_out(look_again& x);
  void carry_out(look_for_pieces& x);
  void carry_out(keep_piece& x);
  void carry_out(finish_artifact& x);
  void carry_out(fetch_fault& x);

  void say_fault(const std::string& what, const std::string& detail);
  void show_progress();

  artifact_keeper_actor::pointer self_ = nullptr;
  artifact_keeper_config config_;
  artifact_keeper_handles wired_;
  artifact_list all_;
  std::unique_ptr<worker> thread_;
  std::optional<artifact_donor> donor_;
  std::optional<artifact_fetch> fetch_; ///< None: nothing is fetched.
  artifact_list missing_;
  std::set<peer_id> peers_; ///< That may have them.
  /// Of the thread alone.
  std::shared_ptr<std::map<sha256_digest, partial_artifact>> parts_
      = std::make_shared<std::map<sha256_digest, partial_artifact>>();
  bool wanted_ = false; ///< By this trainer, or by whoever asks a hub.
  bool looked_ = false; ///< At the folder.
  bool gave_up_ = false;
  time_point began_{};
  alarm_clock alarm_; ///< When to look again.
  time_point next_event_{};
};

artifact_keeper_actor::behavior_type artifact_keeper(
    artifact_keeper_actor::stateful_pointer<artifact_keeper_state> self,
    artifact_keeper_config config);

} // namespace potluck
