// LibTorch before doctest: see the fixture.
#include "models/classification.hpp"
#include "models/network_trainer.hpp"

#include <c10/util/Exception.h>

#include "tests/models/moe/fixture.hpp"

using namespace potluck;

namespace {

/// Scores are the inputs times the only matrix. Computes at most so many
/// samples at once, as a device with little memory.
class small_network : public network {
public:
  explicit small_network(std::int64_t most) : most_(most) {
    layout_.add("map", {3, 4}, true, 0, 1);
  }

  model_loss loss(const model_tensors& parameters,
                  const labelled_batch& batch) const override {
    if (batch.inputs.size(0) > most_)
      TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory.");
    return cross_entropy(parameters,
                         at::linear(batch.inputs, parameters["map"]), batch);
  }

private:
  std::int64_t most_;
};

/// Sample n is (1, n, n * n), divided by 64.
class numbered_source : public sample_source {
public:
  labelled_batch gather(sample_part, std::uint64_t, std::uint64_t first,
                        std::uint64_t stride, std::uint64_t count,
                        at::Device) const override {
    const auto size = static_cast<std::int64_t>(count);
    labelled_batch result;
    const auto numbers
        = at::arange(size, at::kFloat) * static_cast<double>(stride)
          + static_cast<double>(first);
    result.inputs
        = at::stack(
              {at::ones_like(numbers), numbers, numbers * numbers, numbers}, 1)
          / 64;
    result.labels = at::zeros({size}, at::kLong);
    result.weights = at::ones({size});
    return result;
  }
  std::uint64_t usual_micro_batch(at::Device) const override {
    return 16;
  }
};

struct small_device {
  std::vector<std::string> said;
  network_trainer it;

  explicit small_device(std::int64_t most)
      : it(std::make_unique<small_network>(most),
           std::make_unique<numbered_source>(), options()) {
  }

  computing_options options() {
    computing_options how;
    how.threads = 1;
    how.bits = precision::bf16;
    how.notice = [this](const std::string& x) { said.push_back(x); };
    return how;
  }

  std::vector<float> gradient(std::uint32_t samples, std::uint32_t stride = 1) {
    const std::vector<float> parameters(12, 0.5f);
    std::vector<float> result(12);
    const std::atomic<bool> never{false};
    const auto done = it.accumulate({1, 3, samples, stride}, parameters.data(),
                                    result.data(), never);
    CHECK(done.samples == samples);
    it.collect(result.data());
    return result;
  }
};

} // namespace

TEST_CASE("a device out of memory gets half the samples at once, said once") {
  small_device large(1000);
  small_device small(5);
  for (auto stride : {1u, 3u}) {
    const auto wanted = large.gradient(50, stride);
    const auto found = small.gradient(50, stride);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(0.02));
  }
  CHECK(large.said.empty());
  REQUIRE(small.said.size() == 1);
  INFO(small.said[0]);
  CHECK(small.said[0].find("for 16 samples") != std::string::npos);
  CHECK(small.said[0].find(" 4 are computed") != std::string::npos);
}

TEST_CASE("a device too small for one sample is said to be so") {
  small_device none(0);
  CHECK_THROWS_WITH_AS(none.gradient(4),
                       doctest::Contains("too little memory for one sample"),
                       std::runtime_error);
  CHECK(none.said.empty());
}
