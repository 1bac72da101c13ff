/// The conductor: the actor in front of the step machine (runtime/step).
///
/// Turns messages into facts and actions into sends; it decides nothing.
#pragma once

#include <optional>

#include "actors/handles.hpp"
#include "runtime/step/step_machine.hpp"

namespace potluck {

using conductor_config = step_settings;

class conductor_state {
public:
  void init(conductor_actor::pointer self, conductor_config config);

  void on(const conductor_handles& w);
  void on(const tick&);
  template <class Fact>
  void on(const Fact& x) {
    carry_out(machine_->hear(x, self_->clock().now()));
  }

private:
  void carry_out(step_machine::actions all);

  conductor_actor::pointer self_ = nullptr;
  std::optional<step_machine> machine_;
  conductor_handles wired_;
};

conductor_actor::behavior_type
conductor(conductor_actor::stateful_pointer<conductor_state> self,
          conductor_config config);

} // namespace potluck
