#include "models/sample_sources.hpp"

#include <algorithm>

namespace potluck {

namespace {

/// Tokens of a micro-batch that is chosen by us. On CPUs the activations of
/// more fall out of the cache; GPUs want more to be busy.
constexpr std::uint64_t cpu_tokens = 2048;
constexpr std::uint64_t gpu_tokens = 32768;

/// Evaluation looks at the same text: give `potluck eval` another one.
class text_source : public sample_source {
public:
  explicit text_source(sample_stream stream) : stream_(std::move(stream)) {
  }

  labelled_batch gather(sample_part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override {
    std::vector<std::int64_t> tokens, positions, labels;
    std::vector<float> weights;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto x = stream_.sample(order_seed, first + i * stride);
      for (auto position : x.positions)
        positions.push_back(
            static_cast<std::int64_t>(tokens.size() + position));
      tokens.insert(tokens.end(), x.tokens.begin(), x.tokens.end());
      labels.insert(labels.end(), x.labels.begin(), x.labels.end());
      weights.insert(weights.end(), x.labels.size(),
                     1.0f / static_cast<float>(x.labels.size()));
    }
    auto place = [&](auto& values, at::ScalarType type) {
      const auto size = static_cast<std::int64_t>(values.size());
      return at::from_blob(values.data(), {size}, type)
          .to(device, type, /*non_blocking=*/false, /*copy=*/true);
    };
    labelled_batch result;
    result.inputs
        = place(tokens, at::kLong).view({static_cast<std::int64_t>(count), -1});
    result.positions = place(positions, at::kLong);
    result.labels = place(labels, at::kLong);
    result.weights = place(weights, at::kFloat);
    return result;
  }

  std::uint64_t usual_micro_batch(at::Device device) const override {
    const auto length = stream_.sample(0, 0).tokens.size();
    return std::max<std::uint64_t>(
        1, (device.is_cpu() ? cpu_tokens : gpu_tokens) / length);
  }

private:
  sample_stream stream_;
};

} // namespace

std::unique_ptr<sample_source> make_text_source(sample_stream stream) {
  return std::make_unique<text_source>(std::move(stream));
}

} // namespace potluck
