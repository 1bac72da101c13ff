#include "models/images/image_source.hpp"

#include "models/device.hpp"
#include "models/images/image_data.hpp"
#include "models/permutation.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

constexpr std::uint64_t order_purpose = 0x696D616765;
/// Images of a micro-batch that is chosen by us.
constexpr std::uint64_t cpu_images = 64;
constexpr std::uint64_t gpu_images = 1024;

/// Each run of as many samples as there are images, counted from 0, holds every
/// image once, in an order that follows from the order seed and the epoch.
class image_source : public sample_source {
public:
  /// Precondition: neither part is empty.
  explicit image_source(image_data data) : data_(std::move(data)) {
  }

  labelled_batch gather(sample_part part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override {
    const auto& images
        = part == sample_part::training ? data_.training : data_.evaluation;
    const auto n = static_cast<std::int64_t>(count);
    labelled_batch result;
    result.inputs = at::empty({n, static_cast<std::int64_t>(images.values())});
    result.labels = at::empty({n}, at::kLong);
    result.weights = at::ones({n});
    auto* pixels = result.inputs.data_ptr<float>();
    auto* labels = result.labels.data_ptr<std::int64_t>();
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto number = first + i * stride;
      const auto epoch_seed
          = mix(mix(order_seed, order_purpose), number / images.size());
      const auto at
          = permutation(images.size(), epoch_seed)(number % images.size());
      for (std::size_t k = 0; k < images.values(); ++k)
        *pixels++ = static_cast<float>(images.image(at)[k]) / 255.0f;
      labels[i] = images.labels[at];
    }
    for (auto* x : {&result.inputs, &result.labels, &result.weights})
      *x = to_device(*x, device);
    return result;
  }

  std::uint64_t usual_micro_batch(at::Device device) const override {
    return device.is_cpu() ? cpu_images : gpu_images;
  }

private:
  image_data data_;
};

expected<image_data> read_digits(const std::string& path) {
  return read_images(path, mnist_shape::side, mnist_shape::side,
                     mnist_shape::classes);
}

/// Drawn digits are always fine, and drawing them takes seconds.
std::string problem_with_data(const std::string& path) {
  if (path == drawn_digits)
    return "";
  const auto images = read_digits(path);
  return images ? "" : images.error();
}

expected<charter> propose(run_settings settings, const std::string& path) {
  if (auto problem = problem_with_data(path); !problem.empty())
    return failure{problem};
  return charter(std::move(settings), charter_files{});
}

std::unique_ptr<sample_source> open(const kind_settings&, const charter&,
                                    const std::string& path) {
  return std::make_unique<image_source>(unwrap(read_digits(path)));
}

} // namespace

source_kind digit_images() {
  return {{}, problem_with_data, propose, open};
}

} // namespace potluck
