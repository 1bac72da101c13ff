#include "tools/lab/judge/moshpit_drift.hpp"

#include "runtime/ways/moshpit/moshpit_groups.hpp"

namespace potluck {

double most_moshpit_drift(std::size_t peers, std::size_t group_size,
                          double learning_rate) {
  const auto rounds
      = static_cast<double>(moshpit_grid{peers, group_size}.rounds());
  return 2 * rounds * 2 * learning_rate;
}

} // namespace potluck
