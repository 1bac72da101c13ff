/// Images as tensors, in an endless shuffled stream. Private to models/, since
/// it includes LibTorch.
#pragma once

#include "models/images/image_data.hpp"
#include "models/sample_source.hpp"

namespace potluck {

/// Each run of as many samples as there are images, counted from 0, holds every
/// image once, in an order that follows from the order seed and the epoch.
class image_source : public sample_source {
public:
  /// Precondition: neither part is empty.
  explicit image_source(image_data data) : data_(std::move(data)) {
  }

  labelled_batch gather(sample_part part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override;
  std::uint64_t usual_micro_batch(at::Device device) const override;

private:
  image_data data_;
};

} // namespace potluck
