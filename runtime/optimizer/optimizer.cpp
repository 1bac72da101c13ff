#include "runtime/optimizer/optimizer.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <stdexcept>

#include "messages/digest_stream.hpp"
#include "runtime/optimizer/exact_loops.hpp"
#include "runtime/parallel_loop.hpp"

namespace potluck {

namespace {

/// Values that are summed and updated together; a multiple of `sum_lanes`.
/// Part of the definition of the sums: another size gives other bits.
constexpr std::size_t block_values = 8192;
static_assert(block_values % sum_lanes == 0);

/// That several threads update before they hash them: with so few the vectors
/// are still in a cache, with fewer the threads would wait for each other.
constexpr std::size_t stretch_values = 128 * 1024;

/// Rounding to nearest and denormals as they are, in this thread and in those
/// that it starts, whatever the caller's arithmetic is.
class standard_arithmetic {
public:
  standard_arithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~standard_arithmetic() {
    std::fesetenv(&before_);
  }
  standard_arithmetic(const standard_arithmetic&) = delete;
  standard_arithmetic& operator=(const standard_arithmetic&) = delete;

private:
  std::fenv_t before_;
};

/// The gradient's square must still be a float, with room to spare.
constexpr double largest_norm = 1e15;

block_vectors at(const optimized_vectors& all, const float* mean_gradient,
                 std::size_t begin, std::size_t size) {
  const auto from = [&](float* x) { return x ? x + begin : nullptr; };
  return {all.parameters + begin, from(all.first_moment),
          from(all.second_moment), mean_gradient + begin, size};
}

void subtract(const block_vectors& b) {
  for (std::size_t i = 0; i < b.size; ++i)
    b.x[i] -= b.gradient[i];
}

} // namespace

optimizer::optimizer(std::unique_ptr<optimizer_rule> rule,
                     const model_layout& layout, options how)
    : rule_(std::move(rule)), clip_norm_(how.clip_norm),
      threads_(std::max(1u, how.threads)), tensors_(std::move(how.tensors)) {
  const auto& entries = layout.entries();
  if (tensors_.empty())
    for (const auto& x : entries)
      tensors_.push_back({x.decays, 1, x.buffer});
  if (tensors_.size() != entries.size())
    throw std::invalid_argument("optimizer: terms of another layout");
  // Every tensor on its own, so that its norm is a sum over blocks.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t end = entries[i].offset + entries[i].values;
    for (std::size_t begin = entries[i].offset; begin < end;
         begin += block_values)
      blocks_.push_back({i, begin, std::min(block_values, end - begin)});
  }
  threads_ = static_cast<unsigned>(std::max<std::size_t>(
      1, std::min<std::size_t>(threads_, blocks_.size())));
  std::size_t values = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    values += blocks_[i].size;
    if (threads_ > 1 && values < stretch_values && i + 1 < blocks_.size())
      continue;
    stretches_.push_back(i + 1);
    values = 0;
  }
}

optimized_vectors vectors_in(training_state& x) {
  const auto of = [](std::vector<float>& moment) {
    return moment.empty() ? nullptr : moment.data();
  };
  return {x.parameters.data(), of(x.first_moment), of(x.second_moment)};
}

double optimizer::gradient_squares(const float* mean_gradient,
                                   bool of_buffers) const {
  std::vector<double> squares(blocks_.size());
  for_each_index(blocks_.size(), threads_, [&](std::size_t i) {
    const auto& b = blocks_[i];
    if (tensors_[b.tensor].buffer == of_buffers)
      squares[i] = block_squares(mean_gradient + b.begin, b.size);
  });
  double sum = 0;
  for (double x : squares)
    sum += x;
  return sum;
}

std::vector<double> optimizer::trust(const optimized_vectors& vectors,
                                     const float* mean_gradient,
                                     double rate) const {
  std::vector<double> result(tensors_.size(), 1);
  if (!rule_->measures())
    return result;
  std::vector<squared_norms> shares(blocks_.size());
  for_each_index(blocks_.size(), threads_, [&](std::size_t i) {
    const auto& b = blocks_[i];
    if (!tensors_[b.tensor].buffer)
      shares[i] = rule_->measure(at(vectors, mean_gradient, b.begin, b.size),
                                 tensors_[b.tensor]);
  });
  std::vector<squared_norms> sums(tensors_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    auto& sum = sums[blocks_[i].tensor];
    sum.parameters += shares[i].parameters;
    sum.direction += shares[i].direction;
  }
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    result[i] = rule_->trust(sums[i], tensors_[i], rate * tensors_[i].rate);
  return result;
}

optimizer::verdict optimizer::apply(const optimized_vectors& vectors,
                                    const float* mean_gradient,
                                    std::uint64_t step, double rate,
                                    state_digests* digests) {
  if (step == 0)
    throw std::invalid_argument("optimizer: updates are counted from 1");
  const standard_arithmetic standard;
  const double norm = std::sqrt(gradient_squares(mean_gradient, false));
  const double scale
      = clip_norm_ > 0 && norm > clip_norm_ ? clip_norm_ / norm : 1;
  // Written so that a NaN is refused too.
  if (!(norm * scale <= largest_norm)
      || !(std::sqrt(gradient_squares(mean_gradient, true)) <= largest_norm))
    return verdict::unusable;

  rule_->begin(step, static_cast<float>(scale));
  const auto ratios = trust(vectors, mean_gradient, rate);
  // A stretch is hashed while the next one is updated: its vectors lie behind
  // each other.
  const float* const all[]
      = {vectors.parameters, vectors.first_moment, vectors.second_moment};
  digest_stream streams[3];
  const std::size_t hashes = digests != nullptr ? 3 : 0;
  const auto first = [&](std::size_t stretch) {
    return stretch == 0 ? 0 : stretches_[stretch - 1];
  };
  const auto blocks = [&](std::size_t stretch) {
    return stretch < stretches_.size() ? stretches_[stretch] - first(stretch)
                                       : 0;
  };
  const auto count
      = [&](std::size_t stretch) { return hashes + blocks(stretch); };
  const auto work = [&](std::size_t stretch, std::size_t i) {
    if (i >= hashes) {
      const auto& b = blocks_[first(stretch) + i - hashes];
      const auto& terms = tensors_[b.tensor];
      const auto here = at(vectors, mean_gradient, b.begin, b.size);
      if (terms.buffer)
        subtract(here);
      else
        rule_->move(here, terms, rate * terms.rate, ratios[b.tensor]);
    } else if (stretch > 0 && all[i] != nullptr) {
      const auto begin = blocks_[first(stretch - 1)].begin;
      const auto& last = blocks_[stretches_[stretch - 1] - 1];
      streams[i].add(all[i] + begin,
                     (last.begin + last.size - begin) * sizeof(float));
    }
  };
  for_each_stage(stretches_.size() + 1, threads_, count, work);
  const auto digest_in = [&](std::size_t i) {
    return all[i] != nullptr ? streams[i].result() : digest{};
  };
  if (digests != nullptr)
    *digests = {digest_in(0), digest_in(1), digest_in(2)};
  return verdict::applied;
}

} // namespace potluck
