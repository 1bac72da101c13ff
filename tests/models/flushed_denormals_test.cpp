#include "models/flushed_denormals.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "tests/models/fixture.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

/// Computed when the program runs, not when it is compiled.
bool flushes() {
  volatile float small = 1e-30f;
  volatile float product = small * 1e-10f;
  return product == 0;
}

bool flushes_in_another_thread() {
  bool result = false;
  std::thread([&] { result = flushes(); }).join();
  return result;
}

bool possible() {
  const flushed_denormals flushed;
  return flushes();
}

bool is_denormal(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL;
}

} // namespace

TEST_CASE("denormals are flushed, in threads begun meanwhile, and no longer") {
  if (!possible())
    return support::skip("this processor cannot flush denormals");
  CHECK_FALSE(flushes());
  {
    const flushed_denormals flushed;
    CHECK(flushes());
    CHECK(flushes_in_another_thread());
    { const flushed_denormals again; }
    CHECK(flushes());
  }
  CHECK_FALSE(flushes());
  CHECK_FALSE(flushes_in_another_thread());
}

TEST_CASE("a gradient has no denormals, and its thread keeps its arithmetic") {
  if (!possible())
    return support::skip("this processor cannot flush denormals");
  const auto settings = settings_of("mnist-ffn", {{"hidden-size", "32"}});
  trainer_options options;
  options.data_path = "digits";
  options.device = "cpu";
  options.threads = 1;
  auto model = make_trainer_factory(options)(charter(settings, ""));
  const auto& layout = model->layout();
  // Signals so faint that products of two weights are denormals.
  auto parameters = draw_parameters(layout, 5);
  for (auto& x : parameters)
    x *= 1e-13f;
  std::vector<float> gradient(parameters.size());
  const std::atomic<bool> never{false};
  batch_request request;
  request.samples = 64;
  model->accumulate(request, parameters.data(), gradient.data(), never);
  CHECK(std::none_of(gradient.begin(), gradient.end(), is_denormal));
  CHECK(std::any_of(gradient.begin(), gradient.end(),
                    [](float x) { return x != 0; }));
  CHECK_FALSE(flushes());
}
