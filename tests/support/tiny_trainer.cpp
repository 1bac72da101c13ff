#include "tests/support/tiny_trainer.hpp"

#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Which stretch a sample is about.
std::size_t offset_of(std::uint64_t order_seed, std::uint64_t sample) {
  constexpr auto stretches = tiny_trainer::values / tiny_trainer::stretch;
  return mix(order_seed, sample) % stretches * tiny_trainer::stretch;
}

float wanted(std::size_t i) {
  return static_cast<float>(i % 7) * 0.25f - 0.5f;
}

} // namespace

tiny_trainer::tiny_trainer() {
  layout_.add("first", {16, 32}, true, 0, 0.5f);
  layout_.add("second", {512}, false, 0, 0.5f);
}

batch_result tiny_trainer::accumulate(const batch_request& request,
                                      const float* parameters, float* gradient,
                                      const std::atomic<bool>& cancelled) {
  batch_result result;
  for (std::uint32_t n = 0; n < request.samples && !cancelled; ++n) {
    auto first
        = offset_of(request.order_seed,
                    request.first_sample + std::uint64_t{n} * request.stride);
    for (std::size_t i = first; i < first + stretch; ++i) {
      auto error = parameters[i] - wanted(i);
      gradient[i] += error;
      result.loss_sum += 0.5 * static_cast<double>(error) * error;
    }
    ++result.samples;
  }
  return result;
}

evaluation tiny_trainer::evaluate(const float* parameters,
                                  std::uint64_t order_seed,
                                  std::uint64_t samples) {
  std::vector<float> unused(values, 0.0f);
  std::atomic<bool> never{false};
  batch_request request;
  request.order_seed = order_seed;
  request.samples = static_cast<std::uint32_t>(samples);
  auto all = accumulate(request, parameters, unused.data(), never);
  return {samples, all.loss_sum / static_cast<double>(samples), 0};
}

charter tiny_charter(std::uint64_t steps, std::uint64_t target_batch,
                     std::uint64_t seed) {
  run_settings s;
  s.run = "soup";
  s.steps = steps;
  s.warmup_steps = 1;
  s.learning_rate = 0.05;
  s.target_batch = target_batch;
  s.chunk_values = 256;
  s.seed = seed;
  return {s, ""};
}

} // namespace potluck
