#include "runtime/history/resumed_history.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

signed_history resumed_history(std::vector<signed_step> shown,
                               const digest& charter, const resumed_state& held,
                               const signatures& how) {
  shown.erase(
      std::remove_if(shown.begin(), shown.end(),
                     [&](const auto& x) { return x.charter != charter; }),
      shown.end());
  signed_history result{std::move(shown), how};
  if (result.empty())
    return result;
  const auto& newest = result.newest();
  if (newest.step > held.step)
    return {};
  // Steps may be made faster than they are kept: of older ones no digest is
  // left.
  const auto age = held.step - newest.step;
  if (age < held.recent.size() && held.recent[age] != newest.after)
    return {};
  return result;
}

} // namespace potluck
