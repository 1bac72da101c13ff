#include "runtime/averaging/chunk_audit.hpp"
#include "runtime/packing/packing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace potluck {

chunk_audit::chunk_audit(std::vector<std::uint64_t> samples,
                         averaging_rule rule, std::size_t reducer,
                         const std::vector<std::uint8_t>& left_out,
                         const digest& seal, const float* mean,
                         std::size_t length, packing how)
    : samples_{std::move(samples)}, rule_{rule}, packing_{how},
      reducer_{reducer}, seal_{seal}, shown_(samples_.size()),
      mean_(mean, mean + length), again_{length, samples_, rule} {
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
  shown_[member] = body;
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

bool chunk_audit::tell(std::vector<digest> parts) {
  if (said_)
    return false;
  said_ = std::move(parts);
  return true;
}

chunk_audit::outcome chunk_audit::judge() {
  const bool others_have_shown
      = missing_.empty()
        || (missing_.size() == 1 && *missing_.begin() == reducer_);
  const auto unfinished = others_have_shown ? outcome::silent : outcome::open;
  if (!said_)
    return unfinished;
  if (said_->size() != samples_.size() || digest_of(*said_) != seal_)
    return outcome::wrong; // Of its own words.
  denied_.clear();
  for (std::size_t i = 0; i < shown_.size(); ++i)
    if (!shown_[i].empty() && shown_[i] != (*said_)[i])
      denied_.push_back(i);
  // Most senders do not lie: it is the reducer, then.
  auto others = asked_ - (samples_[reducer_] != 0 ? 1 : 0);
  if (denied_.size() >= 2 && 2 * denied_.size() > others)
    return outcome::wrong;
  if (!denied_.empty())
    return outcome::denied;
  if (!missing_.empty())
    return unfinished;
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
