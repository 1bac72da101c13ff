/// A member's check of one chunk's mean: the same parts, averaged once more.
///
/// The reducer has committed itself, with the mean, to which parts it summed:
/// to the digest of their digests. Now it tells these, and the senders show
/// their parts. So a mean that is not made of these parts is the reducer's
/// doing, and a part that is not the one it speaks of is its word against the
/// sender's.
///
/// Pure bookkeeping: no clock, no socket, no actor. Whoever owns it asks for
/// the parts and decides how long to wait. Holds every part under a robust
/// rule, a sum under the plain mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/averaging/chunk_average.hpp"

namespace potluck {

class chunk_audit {
public:
  enum class outcome {
    right,  ///< The mean is that of the parts.
    wrong,  ///< It is not: the reducer lied, or its machine is broken.
    denied, ///< Some senders show other parts than the reducer says it got.
    silent, ///< Everybody has shown its part but the reducer, or it does not
            ///< tell which it summed.
    open,   ///< Parts are missing: nothing is known.
  };

  /// @param samples Of each member, as in the contract.
  /// @param reducer Whose mean it is.
  /// @param left_out Members that are not in the mean, as the reducer said.
  /// @param seal Of the digests of the parts, as the reducer said.
  /// @param mean `length` values; copied. @param how It was packed.
  chunk_audit(std::vector<std::uint64_t> samples, averaging_rule rule,
              std::size_t reducer, const std::vector<std::uint8_t>& left_out,
              const digest& seal, const float* mean, std::size_t length,
              packing how = packing::float32);

  /// Whose parts are missing, ascending.
  std::vector<std::size_t> missing() const;
  bool complete() const {
    return missing_.empty() && said_;
  }

  /// The reducer tells the digests of the parts, in the contract's order.
  /// @return Whether they were waited for.
  bool tell(std::vector<digest> parts);

  /// A member shows its part. What does not fit the contract is no part.
  /// @param body Digest of the part as it was sent.
  /// @return Whether it was waited for.
  bool show(std::size_t member, std::uint64_t samples, const float* values,
            std::size_t count, const digest& body);

  /// By what has come so far.
  outcome judge();
  /// Senders that the reducer's words do not fit, ascending.
  const std::vector<std::size_t>& denied() const {
    return denied_;
  }
  /// Values of the mean.
  std::size_t length() const {
    return mean_.size();
  }
  std::size_t reducer() const {
    return reducer_;
  }

private:
  bool as_it_should_be();

  std::vector<std::uint64_t> samples_;
  averaging_rule rule_;
  packing packing_;
  std::size_t reducer_;
  digest seal_;
  std::optional<std::vector<digest>> said_; ///< None: it has not told.
  std::vector<digest> shown_; ///< By the members; empty where missing.
  std::vector<float> mean_;
  std::set<std::size_t> missing_;
  std::size_t asked_ = 0; ///< Members with a part in the mean.
  double total_ = 0;      ///< Their samples.
  std::vector<std::size_t> denied_;
  bool refused_ = false; ///< A part is in the mean that must not be.
  chunk_average again_;
  std::vector<double> sum_;       ///< Under the plain mean.
  std::vector<double> magnitude_; ///< Sums of absolute values, likewise.
};

} // namespace potluck
