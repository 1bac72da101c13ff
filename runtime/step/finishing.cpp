#include "runtime/step/finishing.hpp"

#include <algorithm>

#include "runtime/membership/limits.hpp"

namespace potluck {

void finishing::made_last_step(bool writes, time_point now) {
  made_at_ = now;
  pending_ = writes;
}

void finishing::checkpoint_saved(std::uint64_t step,
                                 const std::string& problem) {
  if (step < steps_)
    return;
  pending_ = false;
  unsaved_ = problem.empty() ? ""
                             : "The last checkpoint could not be written as "
                               "asked: "
                                   + problem + ".";
}

finishing::backlog
finishing::left_behind(const std::map<peer_id, progress_report>& reports,
                       const digest& state) {
  backlog result;
  for (const auto& [id, x] : reports)
    if (x.role == role::trainer
        && (x.phase != phase::finished || x.state != state)) {
      ++result.trainers;
      result.steps += x.step;
    }
  return result;
}

bool finishing::all_done(const std::map<peer_id, progress_report>& reports,
                         const digest& state) {
  if (over_ || left_behind(reports, state).trainers > 0)
    return false;
  return over_ = true;
}

bool finishing::may_go(const std::map<peer_id, progress_report>& reports,
                       const digest& state, time_point now) {
  if (over_ || !made_at_ || pending_)
    return false;
  auto lagging = left_behind(reports, state);
  if (!(lagging == laggards_)) {
    laggards_ = lagging;
    laggards_moved_ = now;
  }
  auto lost = lost_at_ && now - *lost_at_ < limits::finish_linger;
  auto waited = now - *made_at_;
  auto still = now - std::max(laggards_moved_, *made_at_);
  if ((lagging.trainers > 0 && still < limits::laggard_linger
       && waited < limits::laggard_patience)
      || (lost && waited < limits::finish_linger))
    return false;
  return over_ = true;
}

void finishing::heard(const progress_report& x) {
  if (x.role != role::trainer || x.phase != phase::finished || x.step < steps_)
    finished_.erase(x.id);
  else if (finished_.size() < most_known)
    finished_.insert(x.id);
}

bool finishing::too_late(bool outnumbered, time_point now) {
  if (over_ || !outnumbered) {
    too_late_since_.reset();
    return false;
  }
  if (!too_late_since_)
    too_late_since_ = now;
  return over_ = now - *too_late_since_ >= limits::laggard_linger;
}

std::string finishing::cut_off(std::uint64_t step, std::uint64_t steps) {
  return "The others finished the run and left while this peer was cut off "
         "from them, so it ends at step "
         + std::to_string(step) + " of " + std::to_string(steps)
         + ": ask one of them for a checkpoint, and go on from it.";
}

std::string finishing::unproven(std::uint64_t step) {
  return "One peer alone gave this one the state of the last step, "
         + std::to_string(step)
         + ", and nobody else vouches for it, so it is not taken for the run's "
           "end: ask somebody whom you trust for a checkpoint.";
}

} // namespace potluck
