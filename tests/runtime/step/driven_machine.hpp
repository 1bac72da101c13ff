/// A step machine with what it last asked for.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "runtime/step/step_machine.hpp"
#include "tests/runtime/step/step_peers.hpp"

namespace potluck::step_peers {

struct driven_machine {
  explicit driven_machine(const step_settings& how)
      : it(how, start), now(start) {
    tell(surroundings{});
  }
  template <class Fact>
  void tell(const Fact& x) {
    for (auto& action : it.hear(x, now))
      asked.push_back(std::move(action));
  }
  template <class Action>
  const Action* last() const {
    for (auto i = asked.rbegin(); i != asked.rend(); ++i)
      if (auto found = std::get_if<Action>(&*i))
        return found;
    return nullptr;
  }
  template <class Action>
  std::size_t count() const {
    std::size_t result = 0;
    for (auto& x : asked)
      result += std::holds_alternative<Action>(x);
    return result;
  }
  void hold(std::uint64_t step, digest what, bool applied = false) {
    state_changed x;
    x.step = step;
    x.history_samples = 32 * step;
    x.state = what;
    x.gradient_values = 10;
    x.applied = applied;
    tell(x);
  }
  void hold(std::uint64_t step, bool applied = false) {
    hold(step, state(static_cast<std::uint8_t>(step + 1)), applied);
  }
  void compute_all() {
    while (count<compute_batch>() > done) {
      ++done;
      const auto asked_for = *last<compute_batch>();
      tell(batch_done{asked_for.step,
                      asked_for.number,
                      {asked_for.request.samples, 1.0},
                      0.001});
    }
  }

  step_machine it;
  time_point now;
  std::vector<step_action> asked;
  std::size_t done = 0;
};

} // namespace potluck::step_peers
