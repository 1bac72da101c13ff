#include "runtime/optimizer/schedules/schedule.hpp"

#include <stdexcept>

#include "runtime/optimizer/optimizer_kinds.hpp"

/// One line a schedule: NAME stands for `tails::NAME`, in the file of that
/// name.
// clang-format off
#define POTLUCK_SCHEDULES(add) \
  add(linear) \
  add(cosine) \
  add(inverse_sqrt) \
  add(constant)
// clang-format on

namespace potluck {

namespace tails {

#define POTLUCK_DECLARE(name) extern const schedule name;
POTLUCK_SCHEDULES(POTLUCK_DECLARE)
#undef POTLUCK_DECLARE

} // namespace tails

const std::vector<const schedule*>& schedules() {
  static const std::vector<const schedule*> all{
#define POTLUCK_ADD(name) &tails::name,
      POTLUCK_SCHEDULES(POTLUCK_ADD)
#undef POTLUCK_ADD
  };
  return all;
}

const schedule* find_schedule(const std::string& name) {
  for (auto x : schedules())
    if (x->name == name)
      return x;
  return nullptr;
}

const schedule& linear_schedule() {
  return tails::linear;
}

const schedule& schedule_of(const run_settings& settings) {
  const auto named
      = find_schedule(optimizer_settings(settings).text("schedule"));
  if (!named)
    throw std::logic_error("there is no such schedule");
  return *named;
}

double learning_rate_at(const run_settings& settings, std::uint64_t step) {
  if (step == 0 || step > settings.steps)
    return 0;
  if (step <= settings.warmup_steps)
    return settings.learning_rate * static_cast<double>(step)
           / static_cast<double>(settings.warmup_steps);
  return schedule_of(settings).rate(
      settings.learning_rate, settings.warmup_steps, settings.steps, step);
}

} // namespace potluck
