#include "runtime/optimizer/schedule.hpp"

namespace potluck {

namespace tails {

extern const schedule linear;
extern const schedule cosine;
extern const schedule inverse_sqrt;
extern const schedule constant;

} // namespace tails

const std::vector<const schedule*>& schedules() {
  using namespace tails;
  static const std::vector<const schedule*> all{
      &linear,
      &cosine,
      &inverse_sqrt,
      &constant,
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

const schedule& schedule_of(const run_settings&) {
  return tails::linear;
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
