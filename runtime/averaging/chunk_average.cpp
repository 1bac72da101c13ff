#include "runtime/averaging/chunk_average.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/packing/packing.hpp"
#include "runtime/recycled_memory.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

float one_over(std::uint64_t samples) {
  return static_cast<float>(1.0 / static_cast<double>(samples));
}

chunk_average::chunk_average(std::size_t length,
                             std::vector<std::uint64_t> samples,
                             averaging_rule rule,
                             std::optional<value_pool> rooms,
                             safeguard_set guards)
    : length_{length}, samples_{std::move(samples)}, rule_{rule},
      rooms_{std::move(rooms)}, guards_{guards} {
  for (auto x : samples_) {
    parts_.push_back(x != 0 ? part::expected : part::none);
    missing_ += x != 0;
  }
  if (length_ == 0 || missing_ == 0)
    throw std::invalid_argument{"A mean needs values and samples."};
}

std::optional<chunk_average::verdict>
chunk_average::refusal(std::size_t member, std::uint64_t samples,
                       bool fits) const {
  if (member >= samples_.size() || parts_[member] == part::none)
    return verdict::stranger;
  if (parts_[member] == part::counted && guards_.has(safeguard::repeated_part))
    return verdict::repeated;
  if (parts_[member] == part::left_out)
    return verdict::too_late;
  if (!fits)
    return verdict::wrong_length;
  if (samples != samples_[member])
    return verdict::wrong_samples;
  return std::nullopt;
}

std::optional<chunk_average::verdict>
chunk_average::refusal(std::size_t member, std::uint64_t samples,
                       const float* values, std::size_t count) const {
  if (auto why = refusal(member, samples, count == length_))
    return why;
  if (!all_within(values, count, largest_part_value)
      && guards_.has(safeguard::finite_part))
    return verdict::unfit;
  if (rule_.part_norm > 0
      && norm_of(values, count) / static_cast<double>(samples)
             > rule_.part_norm)
    return verdict::too_large;
  return std::nullopt;
}

chunk_average::verdict chunk_average::offer(std::size_t member,
                                            std::uint64_t samples,
                                            const float* values,
                                            std::size_t count) {
  if (auto why = refusal(member, samples, values, count))
    return *why;
  keep(member, values);
  return counted(member);
}

chunk_average::verdict chunk_average::offer(std::size_t member,
                                            std::uint64_t samples, packing how,
                                            const shared_bytes& body) {
  if (auto why
      = refusal(member, samples, body.size == packed_bytes(how, length_)))
    return *why;
  if (how == packing::float32
      && reinterpret_cast<std::uintptr_t>(body.data) % alignof(float) == 0)
    return offer(member, samples, reinterpret_cast<const float*>(body.data),
                 length_);
  if (sum_packed(member, how, body))
    return counted(member);
  float_array values;
  values.resize(length_);
  if (!unpack(how, body.data, body.size, values.data(), length_))
    return verdict::unfit;
  return offer(member, samples, values.data(), length_);
}

chunk_average::verdict
chunk_average::offer_lasting(std::size_t member, std::uint64_t samples,
                             std::shared_ptr<const void> owner,
                             const float* values, std::size_t count) {
  if (auto why = refusal(member, samples, values, count))
    return *why;
  if (!robust() && empty())
    lasting_ = {std::move(owner), values};
  else
    keep(member, values);
  return counted(member);
}

bool chunk_average::sum_packed(std::size_t member, packing how,
                               const shared_bytes& body) {
  if (robust() || rule_.part_norm > 0
      || !surely_within(how, body.data, body.size, length_, largest_part_value))
    return false;
  auto allowance
      = rooms_ && body.owner ? rooms_->let_wait(member, body.size) : nullptr;
  const bool may_wait = allowance != nullptr;
  waiting_.push_back({body, std::move(allowance)});
  const auto factor = factor_with(member);
  if (scaled_ || !may_wait
      || waiting_.size() * body.size >= length_ * sizeof(float))
    add_waiting(factor);
  return true;
}

void chunk_average::add_waiting(float factor) {
  std::vector<const std::uint8_t*> bodies;
  for (auto& x : waiting_)
    bodies.push_back(x.body.data);
  const auto* first = &waiting_.front().body;
  if (empty()) {
    unpack(packing::int8, first->data, first->size, make_room(), length_);
    bodies.erase(bodies.begin());
    if (bodies.empty())
      scale(values_->data(), length_, factor);
  }
  if (!bodies.empty()) {
    auto [before, sum] = sum_so_far();
    add_unpacked(packing::int8, bodies, before.get(), sum, length_, factor);
  }
  waiting_.clear();
}

chunk_average::verdict chunk_average::counted(std::size_t member) {
  if (parts_[member] == part::counted)
    return verdict::accepted; // Only where a safeguard is missing.
  parts_[member] = part::counted;
  samples_counted_ += samples_[member];
  --missing_;
  return complete() ? verdict::complete : verdict::accepted;
}

void chunk_average::leave_out(std::size_t member) {
  if (member >= parts_.size() || parts_[member] != part::expected)
    return;
  parts_[member] = part::left_out;
  --missing_;
}

std::vector<std::size_t> chunk_average::missing() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i] == part::expected)
      result.push_back(i);
  return result;
}

std::vector<std::uint8_t> chunk_average::left_out() const {
  std::vector<std::uint8_t> result;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    if (parts_[i] == part::left_out)
      result.push_back(static_cast<std::uint8_t>(i));
  return result;
}

const std::vector<float>& chunk_average::mean() {
  if (!complete())
    throw std::logic_error{"A mean was asked for before all parts were here."};
  if (!scaled_)
    average();
  scaled_ = true;
  return *values_;
}

std::shared_ptr<const std::vector<float>> chunk_average::shared_mean() {
  mean();
  return values_;
}

std::vector<std::size_t> chunk_average::drop_outliers(double factor) {
  std::vector<std::size_t> result;
  if (!robust() || !complete())
    return result;
  std::vector<double> norms;
  std::vector<std::size_t> whose;
  for (auto& [member, values] : kept_) {
    norms.push_back(norm_of(values.data(), length_));
    whose.push_back(member);
  }
  for (auto i : norm_outliers(norms, factor)) {
    auto member = whose[i];
    result.push_back(member);
    kept_.erase(member);
    parts_[member] = part::left_out;
    samples_counted_ -= samples_[member];
  }
  return result;
}

void chunk_average::keep(std::size_t member, const float* values) {
  if (robust()) {
    const auto scale = one_over(samples_[member]);
    auto& mean = kept_[member];
    mean.assign(values, values + length_);
    for (auto& x : mean)
      x *= scale;
    return;
  }
  if (!waiting_.empty())
    add_waiting(1);
  if (empty()) {
    std::copy(values, values + length_, make_room());
  } else {
    auto [before, sum] = sum_so_far();
    add(sum, before.get(), values, length_, factor_with(member));
  }
}

std::pair<std::shared_ptr<const float>, float*> chunk_average::sum_so_far() {
  auto before = std::exchange(lasting_, nullptr);
  if (!before)
    before = {values_, values_->data()};
  else
    make_room();
  return {std::move(before), values_->data()};
}

float chunk_average::factor_with(std::size_t member) {
  scaled_ = missing_ == 1 && parts_[member] == part::expected;
  return scaled_ ? one_over(samples_counted_ + samples_[member]) : 1;
}

float* chunk_average::make_room() {
  values_ = rooms_ ? rooms_->take(length_)
                   : std::make_shared<std::vector<float>>(length_);
  return values_->data();
}

void chunk_average::average() {
  if (robust()) {
    std::vector<const float*> means;
    for (auto& [member, values] : kept_)
      means.push_back(values.data());
    values_ = std::make_shared<std::vector<float>>(
        robust_mean(rule_, means, length_));
    kept_.clear();
    return;
  }
  // A sum that no part has completed: the last ones were left out, or the last
  // one is what others wait to be added to.
  if (!waiting_.empty())
    return add_waiting(one_over(samples_counted_));
  if (auto first = std::exchange(lasting_, nullptr))
    std::copy(first.get(), first.get() + length_, make_room());
  scale(values_->data(), length_, one_over(samples_counted_));
}

} // namespace potluck
