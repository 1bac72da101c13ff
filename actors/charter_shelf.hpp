/// The charter shelf: keeps the charters of the runs whose peers are connected
/// with this bootstrap, and gives them to joiners.
///
/// Thin: `kept_charters` decides (runtime/membership/kept_charters.hpp).
#pragma once

#include <map>
#include <string>

#include "actors/handles.hpp"
#include "runtime/membership/kept_charters.hpp"

namespace potluck {

struct charter_shelf_config {
  /// By run: manifests that it gives from the start.
  std::map<std::string, std::string> manifests = {};
};

class charter_shelf_state {
public:
  void init(charter_shelf_actor::pointer self, charter_shelf_config config) {
    self_ = self;
    for (auto& [run, manifest] : config.manifests)
      manifests_[run] = kept_.keep(run, std::move(manifest));
  }

  void on(const charter_shelf_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x) {
    kept_.left(x.id);
  }

private:
  void ask(const kept_charters::peers& whom);

  charter_shelf_actor::pointer self_ = nullptr;
  charter_shelf_handles wired_;
  kept_charters kept_;
  /// Of runs whose amendments are kept, too.
  std::map<std::string, kept_charters::bytes> manifests_;
};

charter_shelf_actor::behavior_type
charter_shelf(charter_shelf_actor::stateful_pointer<charter_shelf_state> self,
              charter_shelf_config config);

} // namespace potluck
