/// The registrar: gets the run's charter from those who have it, or founds the
/// run; afterwards gives it to those who ask.
///
/// Thin: `founding` decides (runtime/membership/founding.hpp). What blocks, the
/// proposal, runs on a worker.
#pragma once

#include <functional>
#include <memory>

#include "actors/handles.hpp"
#include "actors/worker.hpp"
#include "runtime/membership/answer_pauses.hpp"
#include "runtime/membership/founding.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at whether the run is known or may be founded.
constexpr auto registrar_interval = 100ms;

} // namespace potluck::limits

namespace potluck {

struct registrar_config {
  peer_id self;
  potluck::role role = potluck::role::trainer;
  std::string run; ///< Its key: runtime/manifest/run_key.hpp.
  /// The manifest of a created run, as bytes; empty while it is not here. It
  /// is put here too, for the next registrar.
  std::shared_ptr<std::string> manifest = std::make_shared<std::string>();
  /// Known from the start, when resuming from a checkpoint.
  std::optional<charter> known;
  /// Learns a tokenizer and fixes the settings: blocking, may throw. Null when
  /// this peer cannot found a run (an auxiliary peer).
  std::function<charter()> propose;
  /// What the user insists on; a charter that differs ends the peer.
  std::vector<setting> demanded;
  /// Whether other peers were named; who names none founds at once,
  bool has_seeds = false;
  /// but for a moment, where addresses were kept from an earlier start.
  bool has_hints = false;
  bool shows_status = true; ///< Tells the observer of `run_status`.
  worker_mode mode = worker_mode::threaded;
};

class registrar_state {
public:
  void init(registrar_actor::pointer self, registrar_config config);

  void on(const registrar_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x) {
    pauses_.left(x.id);
    founding_->left(x.id, x.orderly);
  }
  void on(const report_heard& x) {
    founding_->heard(x.report, now());
  }
  void on(const records_looked_up&) {
    founding_->looked_up();
  }
  void on(const reach_known& x) {
    founding_->reachable(x.reachable);
  }
  void on(const proposal_ready& x);
  void on(const proposal_failed& x);
  void on(const tick&);

private:
  time_point now() const {
    return self_->clock().now();
  }
  void carry_out(founding::actions all);
  void carry_out(const ask_for_charter& x);
  void carry_out(const show_phase& x);
  void carry_out(const begin_proposal&);
  void carry_out(const take_charter& x);
  void carry_out(const give_up_run& x);
  void carry_out(const say_of_founding& x);

  registrar_actor::pointer self_ = nullptr;
  registrar_config config_;
  registrar_handles wired_;
  std::optional<founding> founding_;
  answer_pauses pauses_;
  /// Answered last: all that wait for an answer hold the same bytes.
  std::shared_ptr<const std::string> shown_;
  std::unique_ptr<worker> thread_;
};

registrar_actor::behavior_type
registrar(registrar_actor::stateful_pointer<registrar_state> self,
          registrar_config config);

} // namespace potluck
