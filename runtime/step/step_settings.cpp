#include "runtime/step/step_settings.hpp"

#include "runtime/random.hpp"

namespace potluck {

progress_report introduction(const step_settings& how) {
  progress_report x;
  x.id = how.self;
  x.role = how.role;
  x.charter = how.agreed.digest();
  x.upload_bytes_per_second = how.upload_bytes_per_second;
  x.download_bytes_per_second = how.download_bytes_per_second;
  return x;
}

sample_account::settings account_of(const step_settings& how) {
  const auto& run = how.agreed.settings();
  sample_account::settings x;
  x.order = how.order;
  x.target = run.target_batch + run.reserve;
  x.steps = run.steps;
  x.order_seed = how.order.shared ? run.seed : mix(run.seed, seed_of(how.self));
  x.micro_batch = how.micro_batch;
  x.first_number = how.first_batch_number;
  return x;
}

} // namespace potluck
