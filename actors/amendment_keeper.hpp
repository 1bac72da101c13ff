/// The amendment keeper: holds what the organiser of this peer's run has signed
/// (a bootstrap: those of the runs whose manifests it was given), gets more of
/// it from neighbours, and passes it on.
///
/// Thin: `amendment_exchange` decides, `run_terms` says what follows. Tells the
/// peer what holds, and the gateway whom to refuse.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/handles.hpp"
#include "runtime/admission/list_runs.hpp"
#include "runtime/organiser/amendment_exchange.hpp"
#include "runtime/state/charter.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at whether somebody is to be asked.
constexpr auto amendments_interval = 500ms;
/// Until neighbours have answered a newcomer.
constexpr auto amendments_first_interval = 50ms;

} // namespace potluck::limits

namespace potluck {

struct amendment_keeper_config {
  peer_id self;
  std::string run;           ///< This peer's own; a bootstrap's is empty.
  std::string manifest = {}; ///< Its, where it is here already.
  std::string folder = {};   ///< Where to keep them; empty: nowhere.
  /// An authority's, to be told which runs admit by the list; else null.
  std::shared_ptr<list_runs> by_list = {};
};

class amendment_keeper_state {
public:
  void init(amendment_keeper_actor::pointer self,
            amendment_keeper_config config);

  void on(const amendment_keeper_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const manifest_known& x);
  void on(const tick&);

private:
  /// A run whose amendments are kept.
  struct shelf {
    run_settings settings;
    amendment_exchange exchange;
    std::string path; ///< Of its file; empty: none.
    bool settled = false;
  };
  struct guest {
    std::string run;
    potluck::role role = role::trainer;
  };

  time_point now() const {
    return self_->clock().now();
  }
  /// Whether a guest is one to ask about a run.
  static bool may_hold(const guest& who, const std::string& run);
  void carry_out(const std::string& run, const peer_id& from,
                 amendment_exchange::outcome x);
  /// For a start when nobody else has it.
  void keep_manifest(const manifest_known& x);
  /// Tells the gateway, and once it is settled the peer, what holds.
  void tell(const std::string& run, shelf& x);
  void say(const std::string& what, const std::string& run,
           const std::string& sentence);

  amendment_keeper_actor::pointer self_ = nullptr;
  amendment_keeper_config config_;
  amendment_keeper_handles wired_;
  std::map<peer_id, guest> guests_;
  std::map<std::string, shelf> shelves_; ///< By run.
  bool ticking_ = false;
};

amendment_keeper_actor::behavior_type amendment_keeper(
    amendment_keeper_actor::stateful_pointer<amendment_keeper_state> self,
    amendment_keeper_config config);

} // namespace potluck
