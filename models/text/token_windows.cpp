#include "models/text/token_windows.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/permutation.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/random.hpp"

namespace potluck {

namespace {

/// Tells apart what is drawn from one order seed.
constexpr std::uint64_t order_purpose = 0x6F72646572;

} // namespace

token_windows::token_windows(std::vector<std::int32_t> text,
                             std::uint32_t length, std::uint32_t vocabulary)
    : text_(std::move(text)), length_(length) {
  if (text_.empty())
    throw std::invalid_argument("windows need a text");
  if (length == 0)
    throw std::invalid_argument("a window needs a token");
  if (vocabulary <= special_token::count)
    throw std::invalid_argument("the vocabulary holds no text tokens");
  for (auto token : text_)
    if (token < 0 || static_cast<std::uint32_t>(token) >= vocabulary)
      throw std::invalid_argument("a token lies outside the vocabulary");
  count_ = std::max<std::uint64_t>(text_.size() / length_, 1);
}

void token_windows::append(std::uint64_t seed, std::uint64_t number,
                           std::vector<std::int32_t>& to) const {
  const auto epoch_seed = mix(mix(seed, order_purpose), number / count_);
  const auto place = permutation(count_, epoch_seed)(number % count_);
  const auto start = random_stream(epoch_seed).below(text_.size());
  auto at = (start + place * length_) % text_.size();
  for (std::uint64_t left = length_; left > 0;) {
    const auto here = std::min<std::uint64_t>(left, text_.size() - at);
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(at);
    to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(here));
    left -= here;
    at = 0;
  }
}

} // namespace potluck
