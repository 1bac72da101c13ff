/// Signed steps for the tests of histories, by peers whose keys are made up.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/history/signed_steps.hpp"
#include "tests/runtime/history/history_peers.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck::history_peers {

/// Its makers, ascending, each with ten samples, and who of them has signed.
inline signed_step signed_by(std::initializer_list<std::size_t> signers,
                             std::uint64_t step,
                             std::initializer_list<std::size_t> makers,
                             char line = 'a') {
  signed_step x;
  x.charter = state(1, 'c');
  x.step = step;
  x.history_samples = 100 * step;
  x.samples = 10 * makers.size();
  x.before = state(step - 1, line);
  x.after = state(step, line);
  for (auto number : makers)
    x.makers.push_back({peer(number), 10, {}});
  for (auto number : signers)
    for (auto& maker : x.makers)
      if (maker.id == peer(number))
        maker.by = sign(x, *made_up(peer(number)));
  return x;
}

/// Signed by all.
inline signed_step made_step(std::uint64_t step,
                             std::initializer_list<std::size_t> makers,
                             char line = 'a') {
  return signed_by(makers, step, makers, line);
}

using numbers = std::vector<std::uint64_t>;

/// Those that it holds.
inline numbers steps_of(const signed_history& x) {
  numbers result;
  for (const auto& step : x.steps())
    result.push_back(step.step);
  return result;
}

/// Nobody in particular, to check signatures with.
inline shared_signatures judge() {
  return made_up(peer(250));
}

} // namespace potluck::history_peers
