#include "models/text/sample_stream.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "models/text/tokenizer.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Tells apart what is drawn from one order seed.
constexpr std::uint64_t mask_purpose = 0x6D61736B;

/// Tokens of a sample's window.
std::uint32_t window_of(std::uint32_t sequence_length) {
  if (sequence_length < 3)
    throw std::invalid_argument("a sample needs three tokens or more");
  return sequence_length - 2;
}

} // namespace

sample_stream::sample_stream(std::vector<std::int32_t> text,
                             std::uint32_t sequence_length,
                             std::uint32_t vocabulary, double mask_probability)
    : windows_(std::move(text), window_of(sequence_length), vocabulary),
      vocabulary_(vocabulary) {
  if (!(mask_probability > 0 && mask_probability <= 1))
    throw std::invalid_argument("the mask probability is not in (0, 1]");
  const auto window = static_cast<double>(windows_.length());
  chosen_ = static_cast<std::uint32_t>(
      std::clamp(std::round(mask_probability * window), 1.0, window));
}

masked_sample sample_stream::sample(std::uint64_t order_seed,
                                    std::uint64_t number) const {
  masked_sample result;
  result.tokens.reserve(windows_.length() + 2);
  result.tokens.push_back(special_token::begin);
  windows_.append(order_seed, number, result.tokens);
  result.tokens.push_back(special_token::separator);
  mask(result, mix(mix(order_seed, mask_purpose), number));
  return result;
}

void sample_stream::mask(masked_sample& x, std::uint64_t seed) const {
  random_stream chance(seed);
  // The first `chosen_` of a shuffle that is not carried further than that.
  std::vector<std::uint32_t> places(windows_.length());
  std::iota(places.begin(), places.end(), 1u);
  for (std::uint32_t i = 0; i < chosen_; ++i)
    std::swap(places[i], places[i + chance.below(windows_.length() - i)]);
  places.resize(chosen_);
  std::sort(places.begin(), places.end());
  x.positions = std::move(places);
  for (auto position : x.positions) {
    auto& token = x.tokens[position];
    x.labels.push_back(token);
    const auto fate = chance.uniform01();
    if (fate < 0.8)
      token = special_token::mask;
    else if (fate < 0.9)
      token = static_cast<std::int32_t>(
          special_token::count
          + chance.below(vocabulary_ - special_token::count));
  }
}

} // namespace potluck
