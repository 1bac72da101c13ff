#include "models/text/sample_stream.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "models/permutation.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

// Tell apart what is drawn from one order seed.
constexpr std::uint64_t order_purpose = 0x6F72646572;
constexpr std::uint64_t mask_purpose = 0x6D61736B;

} // namespace

sample_stream::sample_stream(std::vector<std::int32_t> text,
                             std::uint32_t sequence_length,
                             std::uint32_t vocabulary, double mask_probability)
    : text_(std::move(text)), vocabulary_(vocabulary) {
  if (text_.empty())
    throw std::invalid_argument("a stream of samples needs a text");
  if (sequence_length < 3)
    throw std::invalid_argument("a sample needs three tokens or more");
  if (vocabulary <= special_token::count)
    throw std::invalid_argument("the vocabulary holds no text tokens");
  if (!(mask_probability > 0 && mask_probability <= 1))
    throw std::invalid_argument("the mask probability is not in (0, 1]");
  for (auto token : text_)
    if (token < 0 || static_cast<std::uint32_t>(token) >= vocabulary)
      throw std::invalid_argument("a token lies outside the vocabulary");
  window_ = sequence_length - 2;
  chosen_ = static_cast<std::uint32_t>(
      std::clamp(std::round(mask_probability * window_), 1.0,
                 static_cast<double>(window_)));
  windows_ = std::max<std::uint64_t>(text_.size() / window_, 1);
}

masked_sample sample_stream::sample(std::uint64_t order_seed,
                                    std::uint64_t number) const {
  const auto epoch_seed
      = mix(mix(order_seed, order_purpose), number / windows_);
  const auto place = permutation(windows_, epoch_seed)(number % windows_);
  const auto start = random_stream(epoch_seed).below(text_.size());
  masked_sample result;
  result.tokens.reserve(window_ + 2);
  result.tokens.push_back(special_token::begin);
  for (std::uint64_t i = 0; i < window_; ++i)
    result.tokens.push_back(
        text_[(start + place * window_ + i) % text_.size()]);
  result.tokens.push_back(special_token::separator);
  mask(result, mix(mix(order_seed, mask_purpose), number));
  return result;
}

void sample_stream::mask(masked_sample& x, std::uint64_t seed) const {
  random_stream chance(seed);
  // The first `chosen_` of a shuffle that is not carried further than that.
  std::vector<std::uint32_t> places(window_);
  std::iota(places.begin(), places.end(), 1u);
  for (std::uint32_t i = 0; i < chosen_; ++i)
    std::swap(places[i], places[i + chance.below(window_ - i)]);
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
