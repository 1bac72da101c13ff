/// The children that a peer has once its charter is agreed: those that train,
/// or help those that do.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/peer_estate.hpp"
#include "actors/supervisor.hpp"
#include "runtime/averaging/round/awaited_group.hpp"

namespace potluck {

class training_staff {
public:
  /// Both outlive this.
  training_staff(supervisor_actor::pointer self, peer_estate& has,
                 supervisor& children)
      : self_(self), has_(has), children_(children) {
  }

  /// Of a run that lists artifacts, before the others.
  void start_artifact_keeper();
  void start();

private:
  void start_state_keeper();

  supervisor_actor::pointer self_;
  peer_estate& has_;
  supervisor& children_;
  /// Matchmaking tells the averager by it.
  std::shared_ptr<awaited_group> awaited_ = std::make_shared<awaited_group>();
  std::uint64_t restarts_ = 0; ///< Of matchmaking, the first start included.
  bool conducted_ = false;     ///< A conductor was started.
};

} // namespace potluck
