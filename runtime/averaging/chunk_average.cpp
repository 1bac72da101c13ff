#include "runtime/averaging/chunk_average.hpp"

#include <stdexcept>
#include <utility>

#include "runtime/averaging/finite.hpp"

namespace potluck {

chunk_average::chunk_average(std::size_t length,
                             std::vector<std::uint64_t> samples)
    : length_{length}, samples_{std::move(samples)},
      counted_(samples_.size(), false) {
  for (auto x : samples_) {
    total_samples_ += x;
    missing_ += x != 0;
  }
  if (length_ == 0 || total_samples_ == 0)
    throw std::invalid_argument{"A mean needs values and samples."};
}

chunk_average::verdict chunk_average::offer(std::size_t member,
                                            std::uint64_t samples,
                                            const float* values,
                                            std::size_t count) {
  if (member >= samples_.size() || samples_[member] == 0)
    return verdict::stranger;
  if (counted_[member])
    return verdict::repeated;
  if (count != length_)
    return verdict::wrong_length;
  if (samples != samples_[member])
    return verdict::wrong_samples;
  if (!all_finite(values, count))
    return verdict::not_finite;
  if (values_.empty()) {
    values_.assign(values, values + count);
  } else {
    float* sum = values_.data();
    for (std::size_t i = 0; i < count; ++i)
      sum[i] += values[i];
  }
  counted_[member] = true;
  return --missing_ == 0 ? verdict::complete : verdict::accepted;
}

std::vector<std::size_t> chunk_average::missing() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (samples_[i] != 0 && !counted_[i])
      result.push_back(i);
  return result;
}

const std::vector<float>& chunk_average::mean() {
  if (missing_ != 0)
    throw std::logic_error{"A mean was asked for before all parts were here."};
  if (!scaled_) {
    float scale = static_cast<float>(1.0 / static_cast<double>(total_samples_));
    for (auto& x : values_)
      x *= scale;
    scaled_ = true;
  }
  return values_;
}

} // namespace potluck
