/// The history keeper: holds what proves the run's history (a bootstrap: of the
/// runs of those who are connected), shows it to whoever asks, and tells the
/// conductor of a newcomer by whom to go.
///
/// Thin: `history_exchange` decides.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "actors/handles.hpp"
#include "runtime/history/history_exchange.hpp"
#include "runtime/history/run_places.hpp"
#include "runtime/state/checkpoint_files.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at whether somebody is to be asked.
constexpr auto history_interval = 2s;
/// Runs of which a bootstrap keeps the history: of 256 makers each, 18 MB.
constexpr std::size_t most_kept_runs = 64;

} // namespace potluck::limits

namespace potluck {

/// By run; outlives the actor.
using kept_histories = std::map<std::string, signed_history>;

struct history_keeper_config {
  history_exchange::settings own; ///< A bootstrap's has no run.
  bool is_bootstrap = false;
  std::size_t places = limits::most_kept_runs; ///< A bootstrap's.
  std::shared_ptr<kept_histories> kept = std::make_shared<kept_histories>();
  /// They hold it, too; null: there are none.
  std::shared_ptr<checkpoint_files> checkpoints = {};
};

class history_keeper_state {
public:
  void init(history_keeper_actor::pointer self, history_keeper_config config);

  void on(const history_keeper_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const step_signed& x);
  void on(const tick&);

private:
  time_point now() const {
    return self_->clock().now();
  }
  /// Null: it is none of this peer's.
  history_exchange* exchange_of(const std::string& run);
  void begin(const std::string& run);
  /// What is held of it has changed.
  void keep(const std::string& run);
  /// A bootstrap's places, where more runs want one than there are.
  void deal_places();
  void carry_out(const std::string& run, history_exchange::outcome x);

  history_keeper_actor::pointer self_ = nullptr;
  history_keeper_config config_;
  history_keeper_handles wired_;
  std::map<std::string, history_exchange> runs_;
  std::optional<run_places> places_; ///< A bootstrap's.
};

history_keeper_actor::behavior_type history_keeper(
    history_keeper_actor::stateful_pointer<history_keeper_state> self,
    history_keeper_config config);

} // namespace potluck
