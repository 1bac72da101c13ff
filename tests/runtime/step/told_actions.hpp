/// What a part of the step machine has asked for, by its kind.
#pragma once

#include <utility>
#include <variant>
#include <vector>

#include "runtime/step/actions.hpp"

namespace potluck::step_peers {

template <class Action>
std::vector<Action> those_of(std::vector<step_action> all) {
  std::vector<Action> result;
  for (auto& x : all)
    if (auto found = std::get_if<Action>(&x))
      result.push_back(std::move(*found));
  return result;
}

} // namespace potluck::step_peers
