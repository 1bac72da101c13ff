/// Masked samples of a text as tensors. Private to models/, since it includes
/// LibTorch.
#pragma once

#include "models/sample_source.hpp"
#include "models/text/sample_stream.hpp"

namespace potluck {

/// Evaluation looks at the same text: give `potluck eval` another one.
class text_source : public sample_source {
public:
  explicit text_source(sample_stream stream) : stream_(std::move(stream)) {
  }

  labelled_batch gather(sample_part part, std::uint64_t order_seed,
                        std::uint64_t first, std::uint64_t stride,
                        std::uint64_t count, at::Device device) const override;
  std::uint64_t usual_micro_batch(at::Device device) const override;

private:
  sample_stream stream_;
};

} // namespace potluck
