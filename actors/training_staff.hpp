/// The children that a peer has once its charter is agreed: those that train,
/// or help those that do.
#pragma once

#include <cstdint>
#include <memory>

#include "actors/staff.hpp"
#include "runtime/averaging/round/awaited_group.hpp"

namespace potluck {

class training_staff : private staff {
public:
  using staff::staff;

  /// Of a run that lists artifacts, before the others.
  void start_artifact_keeper();
  void start();

private:
  void start_state_keeper();

  /// Matchmaking tells the averager by it.
  std::shared_ptr<awaited_group> awaited_ = std::make_shared<awaited_group>();
  std::uint64_t restarts_ = 0; ///< Of matchmaking, the first start included.
  bool conducted_ = false;     ///< A conductor was started.
};

} // namespace potluck
