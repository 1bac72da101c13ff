#include "runtime/moshpit/redraw_latch.hpp"

#include <algorithm>

namespace potluck {

bool redraw_latch::committed(std::uint64_t step, bool asks) {
  if (from_ != 0 || (asked_ > 0 && step == last_))
    return false;
  if (!asks) {
    asked_ = 0;
    return false;
  }
  asked_ = asked_ > 0 && step == last_ + 1 ? asked_ + 1 : 1;
  last_ = step;
  if (asked_ < contracts_in_a_row)
    return false;
  from_ = step + notice;
  by_contracts_ = true;
  return true;
}

bool redraw_latch::heard(std::vector<std::uint64_t> others,
                         std::uint64_t next_step) {
  const auto before = from_;
  if (by_contracts_)
    others.push_back(from_);
  const auto all = others.size() + (from_ == 0);
  others.erase(std::remove(others.begin(), others.end(), 0), others.end());
  const auto apart = others.size();
  if (all == 0)
    return false;
  if (2 * apart >= all) {
    // Of those who say when, the one in the middle; the past cannot change.
    if (from_ == 0 || from_ > next_step) {
      auto middle
          = others.begin() + static_cast<std::ptrdiff_t>((apart - 1) / 2);
      std::nth_element(others.begin(), middle, others.end());
      from_ = *middle;
    }
  } else if (redraws(next_step)) {
    from_ = 0;
    by_contracts_ = false;
    asked_ = 0;
  }
  return from_ != before;
}

} // namespace potluck
