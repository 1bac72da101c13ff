#include "runtime/planning/claims_check.hpp"

#include <algorithm>

#include "runtime/median.hpp"

namespace potluck {

void claims_check::observe(const std::vector<peer_id>& members, bool believed,
                           double planned, double took) {
  if (members != members_) {
    *this = {};
    members_ = members;
  }
  if (believed) {
    believed_.push_back(took);
    if (believed_.size() > slow_rounds)
      believed_.pop_front();
    auto is_slow = took > slow * planned + slack_seconds;
    slow_in_a_row_ = is_slow ? slow_in_a_row_ + 1 : 0;
  } else {
    equal_ = took;
  }
  if (rounds_to_wait_ > 0)
    --rounds_to_wait_;
  if (trial_) {
    if (believed == believe_)
      judge();
  } else if (believe_ ? slow_in_a_row_ >= slow_rounds && rounds_to_wait_ == 0
                      : rounds_to_wait_ == 0) {
    // Of the figures, only what they are worth now counts.
    if (!believe_)
      believed_.clear();
    trial_ = true;
    believe_ = !believe_;
  }
}

void claims_check::judge() {
  trial_ = false;
  auto was = !believe_;
  believe_ = !(equal_ < clearly * typical_believed());
  wait_ = believe_ == was ? std::min(2 * wait_, longest_wait) : first_wait;
  rounds_to_wait_ = wait_;
}

double claims_check::typical_believed() const {
  return upper_median(std::vector<double>(believed_.begin(), believed_.end()));
}

} // namespace potluck
