#include "runtime/manifest/checked_text.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace potluck {

namespace {

constexpr std::string_view alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
constexpr std::uint32_t sound = 0x2bc830a3; // Bech32m's constant.
constexpr std::size_t check_characters = 6;

using fives = std::vector<std::uint8_t>; ///< Numbers of five bits.

/// One more number in the remainder modulo the code's polynomial.
std::uint32_t step(std::uint32_t remainder, std::uint8_t x) {
  constexpr std::uint32_t generators[]
      = {0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3};
  const auto top = remainder >> 25;
  remainder = (remainder & 0x1ffffff) << 5 ^ x;
  for (unsigned i = 0; i < 5; ++i)
    if ((top >> i & 1) != 0)
      remainder ^= generators[i];
  return remainder;
}

template <class Iterator>
std::uint32_t remainder_of(std::uint32_t begin, Iterator from, Iterator to) {
  for (; from != to; ++from)
    begin = step(begin, *from);
  return begin;
}

/// Of the prefix, which the check sum covers too.
std::uint32_t remainder_of(const std::string& prefix) {
  std::uint32_t x = 1;
  for (unsigned char c : prefix)
    x = step(x, c >> 5);
  x = step(x, 0);
  for (unsigned char c : prefix)
    x = step(x, c & 31);
  return x;
}

fives in_fives(std::string_view bytes) {
  fives result;
  unsigned held = 0;
  unsigned bits = 0;
  for (unsigned char c : bytes) {
    held = (held << 8 | c) & 0xfff;
    for (bits += 8; bits >= 5;) {
      bits -= 5;
      result.push_back(held >> bits & 31);
    }
  }
  if (bits > 0)
    result.push_back(held << (5 - bits) & 31);
  return result;
}

/// Without the check sum. Bits beyond the last whole byte are left out.
std::string in_bytes(const fives& xs) {
  std::string result;
  unsigned held = 0;
  unsigned bits = 0;
  for (std::size_t i = 0; i + check_characters < xs.size(); ++i) {
    held = (held << 5 | xs[i]) & 0xfff;
    bits += 5;
    if (bits >= 8) {
      bits -= 8;
      result += static_cast<char>(held >> bits & 0xff);
    }
  }
  return result;
}

struct slip {
  fives meant;
  std::size_t at = 0; ///< Which of them.
  std::string what;   ///< With a `#` for the place in the text.
};

std::string quoted(std::uint8_t five) {
  return std::string{"'"} + alphabet[five] + "'";
}

/// The one slip after which `xs` is what was written; nothing if there is none.
std::optional<slip> find_slip(std::uint32_t prefix, const fives& xs) {
  auto before = prefix; // The remainder in front of i.
  auto found = [&](fives meant, std::size_t i, std::string what) {
    return slip{std::move(meant), i, std::move(what)};
  };
  for (std::size_t i = 0; i <= xs.size(); ++i) {
    const auto here = xs.begin() + static_cast<std::ptrdiff_t>(i);
    for (std::uint8_t x = 0; x < 32; ++x)
      if (remainder_of(step(before, x), here, xs.end()) == sound) {
        auto meant = xs;
        meant.insert(meant.begin() + (here - xs.begin()), x);
        return found(std::move(meant), i,
                     "before character # one is missing, " + quoted(x));
      }
    if (i == xs.size())
      break;
    for (std::uint8_t x = 0; x < 32; ++x)
      if (remainder_of(step(before, x), here + 1, xs.end()) == sound) {
        auto meant = xs;
        meant[i] = x;
        return found(std::move(meant), i,
                     "character # should be " + quoted(x) + ", not "
                         + quoted(xs[i]));
      }
    if (remainder_of(before, here + 1, xs.end()) == sound) {
      auto meant = xs;
      meant.erase(meant.begin() + (here - xs.begin()));
      return found(std::move(meant), i, "character # is one too many");
    }
    if (i + 1 < xs.size()
        && remainder_of(step(step(before, here[1]), here[0]), here + 2,
                        xs.end())
               == sound) {
      auto meant = xs;
      std::swap(meant[i], meant[i + 1]);
      return found(std::move(meant), i,
                   "character # and the next one are swapped");
    }
    before = step(before, xs[i]);
  }
  return std::nullopt;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

} // namespace

std::string to_checked_text(const std::string& prefix, std::string_view bytes) {
  auto xs = in_fives(bytes);
  auto x = remainder_of(remainder_of(prefix), xs.begin(), xs.end());
  for (std::size_t i = 0; i < check_characters; ++i)
    x = step(x, 0);
  x ^= sound;
  for (std::size_t i = check_characters; i-- > 0;)
    xs.push_back(x >> (5 * i) & 31);
  auto result = prefix + ":";
  for (auto five : xs)
    result += alphabet[five];
  return result;
}

checked_text read_checked_text(const std::string& prefix,
                               std::string_view text) {
  if (text.size() > most_checked_characters)
    return {"", "it is longer than any"};
  const auto place = [](std::size_t i) { return std::to_string(i + 1); };
  std::string small{text};
  const bool capital = !small.empty() && is_capital(small.front());
  for (std::size_t i = 0; i < small.size(); ++i) {
    const bool letter
        = is_capital(small[i]) || (small[i] >= 'a' && small[i] <= 'z');
    if (letter && is_capital(small[i]) != capital)
      return {"", "from character " + place(i)
                      + " on capitals and small letters are mixed"};
    if (is_capital(small[i]))
      small[i] = static_cast<char>(small[i] - 'A' + 'a');
  }
  const auto front = prefix + ":";
  if (small.compare(0, front.size(), front) != 0)
    return {"", "it does not begin with " + front};
  fives xs;
  for (std::size_t i = front.size(); i < small.size(); ++i) {
    const auto five = alphabet.find(small[i]);
    if (five == std::string_view::npos)
      return {"", "character " + place(i) + " is none that it can have"};
    xs.push_back(static_cast<std::uint8_t>(five));
  }
  const auto begin = remainder_of(prefix);
  if (remainder_of(begin, xs.begin(), xs.end()) == sound) {
    auto bytes = in_bytes(xs);
    // One text for the same bytes.
    if (to_checked_text(prefix, bytes) == small)
      return {std::move(bytes)};
    return {"", "its last characters mean nothing"};
  }
  auto one = find_slip(begin, xs);
  if (!one)
    return {in_bytes(xs),
            "several characters are wrong or missing, and its check sum does "
            "not fit"};
  one->what.replace(one->what.find('#'), 1, place(front.size() + one->at));
  return {in_bytes(one->meant), one->what, one->at * 5 / 8};
}

} // namespace potluck
