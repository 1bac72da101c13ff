/// A model with batch norm, dropout and a loss of its own.
// LibTorch before doctest: see the fixture.
#include "models/layers.hpp"
#include "models/network_trainer.hpp"

#include <cmath>

#include "tests/models/moe/fixture.hpp"

using namespace potluck;

namespace {

constexpr std::uint32_t width = 4;

/// Batch norm, dropout, and the squared sum of what is left.
class normed : public network {
public:
  explicit normed(double dropped) : dropped_(dropped) {
    layout_section{layout_, ""}.batch_norm(buffers_, "norm", width);
  }

  model_loss loss(const model_tensors& x,
                  const labelled_batch& batch) const override {
    const auto even = batch_norm(x, "norm", batch.inputs);
    return {dropout(x, even, dropped_).sum(1).square().sum(), {}, {}};
  }

private:
  double dropped_;
};

/// Each channel's values are those of other samples.
class waves : public sample_source {
public:
  labelled_batch gather(sample_part, std::uint64_t, std::uint64_t first,
                        std::uint64_t stride, std::uint64_t count,
                        at::Device) const override {
    labelled_batch result;
    const auto numbers
        = (at::arange(static_cast<std::int64_t>(count), at::kFloat)
               * static_cast<double>(stride)
           + static_cast<double>(first))
              .unsqueeze(1);
    result.inputs = 3 + at::sin(numbers * at::arange(1, 5, at::kFloat));
    // None that are predicted.
    result.labels = at::zeros({static_cast<std::int64_t>(count)}, at::kLong);
    result.weights = at::ones({static_cast<std::int64_t>(count)});
    return result;
  }
  std::uint64_t usual_micro_batch(at::Device) const override {
    return 8;
  }
};

struct lab_bench {
  network_trainer it;
  std::vector<float> parameters;

  static std::unique_ptr<network> make(double dropped, bool averaged) {
    auto result = std::make_unique<normed>(dropped);
    if (averaged)
      result->average_buffers();
    return result;
  }
  static computing_options options(precision bits) {
    computing_options how;
    how.threads = 1;
    how.bits = bits;
    return how;
  }

  lab_bench(double dropped, bool averaged, precision bits = precision::float32)
      : it(make(dropped, averaged), std::make_unique<waves>(), options(bits)) {
    for (const auto& x : it.layout().entries())
      parameters.insert(parameters.end(), x.values,
                        x.initial_mean == 0 ? 0.5f : x.initial_mean);
  }

  std::vector<float> gradient(std::uint64_t first, std::uint32_t samples,
                              std::uint64_t order = 1) {
    std::vector<float> result(parameters.size());
    const std::atomic<bool> never{false};
    const auto done = it.accumulate({order, first, samples}, parameters.data(),
                                    result.data(), never);
    CHECK(done.samples == samples);
    it.collect(result.data());
    return result;
  }
  double loss() {
    return it.evaluate(parameters.data(), 1, 8).loss;
  }
};

} // namespace

TEST_CASE("dropout is drawn anew for other samples, the same for the same") {
  lab_bench x(0.5, false);
  const auto first = x.gradient(0, 16);
  CHECK(x.gradient(0, 16) == first);
  CHECK(lab_bench(0.5, false).gradient(0, 16) == first);
  CHECK(x.gradient(0, 16, 2) != first);
  // Two micro-batches of equal samples would be equal without.
  lab_bench none(0, false);
  CHECK(none.gradient(0, 16, 2) == none.gradient(0, 16));
  CHECK(none.gradient(0, 16) != first);
}

TEST_CASE("nothing is dropped in an evaluation") {
  CHECK(lab_bench(0.5, false).loss() == lab_bench(0, false).loss());
}

TEST_CASE("a model without predictions has no accuracy") {
  lab_bench x(0, false);
  const auto found = x.it.evaluate(x.parameters.data(), 1, 8);
  CHECK_FALSE(found.accuracy);
  CHECK(found.unigram == 0);
}

TEST_CASE("a peer's own buffers follow its samples, and are none of the run") {
  lab_bench x(0, false);
  CHECK(x.parameters.size() == 2 * width);
  const auto before = x.loss();
  CHECK(x.loss() == before);
  for (int i = 0; i < 100; ++i)
    x.gradient(0, 8);
  // Means have come to those of the samples, which are about 3.
  CHECK(x.loss() < before / 4);
}

TEST_CASE("the run's buffers have the change that samples make as gradient") {
  for (auto bits : {precision::float32, precision::bf16}) {
    lab_bench x(0, true, bits);
    const std::vector<std::string> names{
        "norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"};
    REQUIRE(x.it.layout().entries().size() == names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      CHECK(x.it.layout().entries()[i].name == names[i]);
      CHECK(x.it.layout().entries()[i].buffer == (i > 1));
    }
    const auto found = x.gradient(0, 16);
    CHECK(x.gradient(0, 16) == found); // The peer keeps nothing.
    const auto kept = x.parameters[2 * width];
    for (std::size_t k = 0; k < width; ++k) {
      double mean = 0;
      for (int sample = 0; sample < 16; ++sample)
        mean += (3 + std::sin(sample * static_cast<double>(k + 1))) / 16;
      CHECK(found[2 * width + k]
            == doctest::Approx(16 * 0.1 * (kept - mean)).epsilon(1e-3));
      CHECK(found[3 * width + k] != 0);
    }
  }
}

TEST_CASE("a channel with one value is measured by the running means") {
  lab_bench x(0, true);
  const auto found = x.gradient(0, 1);
  for (std::size_t i = 2 * width; i < found.size(); ++i)
    CHECK(found[i] == 0);
  for (auto each : found)
    CHECK(std::isfinite(each));
}
