/// How often each label occurs, each as much as it counts in the loss: what the
/// best guess that looks at no input is worth.
///
/// Private to this folder, since it includes LibTorch.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>

#include "models/network.hpp"

namespace potluck {

class label_weights {
public:
  void add(const labelled_batch& batch) {
    const auto labels = batch.labels.to(at::kCPU).to(at::kLong).contiguous();
    const auto weights = batch.weights.to(at::kCPU).to(at::kFloat).contiguous();
    const auto* label = labels.data_ptr<std::int64_t>();
    const auto* weight = weights.data_ptr<float>();
    for (std::int64_t i = 0; i < labels.numel(); ++i) {
      of_[label[i]] += weight[i];
      all_ += weight[i];
    }
  }

  /// Of their distribution, in nats.
  double entropy() const {
    double result = 0;
    for (const auto& [label, weight] : of_)
      if (weight > 0)
        result -= weight / all_ * std::log(weight / all_);
    return result;
  }

private:
  std::map<std::int64_t, double> of_;
  double all_ = 0;
};

} // namespace potluck
