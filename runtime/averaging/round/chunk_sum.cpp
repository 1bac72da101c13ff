#include "runtime/averaging/round/chunk_sum.hpp"

#include <utility>

namespace potluck {

namespace {

/// Under a robust rule a part so many times longer than the median one is
/// refused. Honest members differ by the number of their samples and by what
/// they saw of a rare parameter: by thousands at most.
constexpr double outlier_norm = 1e6;

/// Null: no offence.
const char* offence(chunk_average::verdict x) {
  switch (x) {
    case chunk_average::verdict::stranger:
      return "it announced no samples";
    case chunk_average::verdict::wrong_length:
      return "its length is not the chunk's";
    case chunk_average::verdict::wrong_samples:
      return "its samples are not the contract's";
    case chunk_average::verdict::unfit:
      return unfit_values;
    case chunk_average::verdict::too_large:
      return "its mean is longer than part-norm allows";
    case chunk_average::verdict::accepted:
    case chunk_average::verdict::complete:
    case chunk_average::verdict::repeated: // Sent again.
    case chunk_average::verdict::too_late: // Come back.
      break;
  }
  return nullptr;
}

} // namespace

chunk_sum::chunk_sum(std::size_t length, std::vector<std::uint64_t> samples,
                     averaging_rule rule, std::optional<value_pool> rooms,
                     std::size_t self, safeguard_set guards)
    : average_{length, samples, rule, std::move(rooms), guards},
      parts_(samples.size()), self_{self} {
}

chunk_sum::news chunk_sum::offer(std::size_t member, const chunk_part& head,
                                 const shared_bytes& body) {
  if (over_)
    return {};
  std::lock_guard<std::mutex> guard{mutex_};
  const bool lasts = member == self_ && head.packing == packing::float32;
  const auto verdict
      = lasts
            ? average_.offer_lasting(member, head.samples, body.owner,
                                     reinterpret_cast<const float*>(body.data),
                                     body.size / sizeof(float))
            : average_.offer(member, head.samples, head.packing, body);
  news result{offence(verdict)};
  if (verdict == chunk_average::verdict::accepted
      || verdict == chunk_average::verdict::complete) {
    result.counted = true;
    parts_[member] = digest_of(body);
    ++counted_;
  } else if (result.refused) {
    average_.leave_out(member);
  }
  result.complete = average_.complete() && !over_.exchange(true);
  return result;
}

chunk_sum::news chunk_sum::leave_out(const std::vector<std::uint8_t>& members) {
  std::lock_guard<std::mutex> guard{mutex_};
  for (auto member : members)
    average_.leave_out(member);
  return {nullptr, false, average_.complete() && !over_.exchange(true)};
}

chunk_sum::result chunk_sum::settle() {
  std::lock_guard<std::mutex> guard{mutex_};
  result x;
  for (auto member : average_.drop_outliers(outlier_norm)) {
    parts_[member] = {};
    x.outliers.push_back(static_cast<std::uint8_t>(member));
  }
  x.mean = average_.shared_mean();
  x.left_out = average_.left_out();
  x.parts = std::move(parts_);
  return x;
}

} // namespace potluck
