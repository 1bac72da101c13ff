#include "runtime/averaging/chunk_audit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace potluck {

chunk_audit::chunk_audit(std::vector<std::uint64_t> samples,
                         averaging_rule rule, std::size_t reducer,
                         const std::vector<std::uint8_t>& left_out,
                         std::vector<digest> said, const float* mean,
                         std::size_t length, packing how)
    : samples_{std::move(samples)}, rule_{rule}, packing_{how},
      reducer_{reducer}, said_{std::move(said)},
      mean_(mean, mean + length), again_{length, samples_, rule} {
  said_.resize(samples_.size());
  for (std::size_t i = 0; i < samples_.size(); ++i)
    if (samples_[i] != 0
        && !std::binary_search(left_out.begin(), left_out.end(), i)) {
      missing_.insert(i);
      total_ += static_cast<double>(samples_[i]);
    }
  for (auto i : left_out)
    again_.leave_out(i);
  asked_ = missing_.size();
  if (rule_.how == aggregator::mean) {
    sum_.assign(length, 0);
    magnitude_.assign(length, 0);
  }
}

std::vector<std::size_t> chunk_audit::missing() const {
  return {missing_.begin(), missing_.end()};
}

bool chunk_audit::show(std::size_t member, std::uint64_t samples,
                       const float* values, std::size_t count,
                       const digest& body) {
  if (missing_.count(member) == 0 || samples != samples_[member]
      || count != mean_.size())
    return false;
  missing_.erase(member);
  if (body != said_[member]) {
    denied_.insert(std::upper_bound(denied_.begin(), denied_.end(), member),
                   member);
    again_.leave_out(member);
    return true;
  }
  auto verdict = again_.offer(member, samples, values, count);
  if (verdict != chunk_average::verdict::accepted
      && verdict != chunk_average::verdict::complete) {
    refused_ = true;
    again_.leave_out(member);
  }
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    sum_[i] += values[i];
    magnitude_[i] += std::abs(values[i]);
  }
  return true;
}

chunk_audit::outcome chunk_audit::judge() {
  // Most senders do not lie: it is the reducer, then.
  auto others = asked_ - (samples_[reducer_] != 0 ? 1 : 0);
  if (denied_.size() >= 2 && 2 * denied_.size() > others)
    return outcome::wrong;
  if (!denied_.empty())
    return outcome::denied;
  if (missing_.size() == 1 && *missing_.begin() == reducer_)
    return outcome::silent;
  if (!missing_.empty())
    return outcome::open;
  return !refused_ && as_it_should_be() ? outcome::right : outcome::wrong;
}

bool chunk_audit::as_it_should_be() {
  if (asked_ == 0)
    return false; // A mean of nothing.
  if (rule_.how != aggregator::mean) {
    // The same bits, whoever computes.
    auto again = again_.mean();
    std::vector<std::uint8_t> bytes(packed_bytes(packing_, again.size()));
    pack(packing_, again.data(), again.size(), bytes.data());
    return unpack(packing_, bytes.data(), bytes.size(), again.data(),
                  again.size())
           && mean_ == again;
  }
  // Parts are summed as they come, and the order decides the last bits: each of
  // n additions errs by half a unit of the sum so far at most.
  auto unit = std::numeric_limits<float>::epsilon();
  auto slack = static_cast<double>(asked_ + 2) * unit / total_;
  double largest = 0; // Of the packing's block.
  for (std::size_t i = 0; i < mean_.size(); ++i) {
    if (i % packing_block == 0) {
      auto end = std::min(i + packing_block, mean_.size());
      largest = 0;
      for (auto k = i; k < end; ++k)
        largest = std::max(largest,
                           std::abs(sum_[k]) / total_ + slack * magnitude_[k]);
    }
    auto wanted = sum_[i] / total_;
    if (std::abs(mean_[i] - wanted)
        > slack * magnitude_[i]
              + packing_error(packing_,
                              std::abs(wanted) + slack * magnitude_[i], largest)
              + std::numeric_limits<float>::min())
      return false;
  }
  return true;
}

} // namespace potluck
