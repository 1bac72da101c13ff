#include "runtime/random.hpp"

#include <stdexcept>

namespace potluck {

namespace {

constexpr std::uint64_t golden_gamma = 0x9e3779b97f4a7c15u;

std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t rotate_left(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

} // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  // Scrambling `a` first keeps mix(a, b) and mix(b, a) apart.
  return scramble(scramble(a + golden_gamma) + b + golden_gamma);
}

std::uint64_t seed_of(const peer_id& id) {
  std::uint64_t result = 0;
  for (std::size_t at = 0; at < id.bytes.size(); at += 8) {
    std::uint64_t word = 0;
    for (std::size_t i = at; i < at + 8; ++i)
      word = word << 8 | id.bytes[i];
    result = mix(result, word);
  }
  return result;
}

random_stream::random_stream(std::uint64_t seed) {
  for (auto& word : state_) {
    seed += golden_gamma;
    word = scramble(seed);
  }
  // Never all zero: scramble is a bijection and the four inputs differ.
}

random_stream::random_stream(const std::array<std::uint64_t, 4>& state)
    : state_(state) {
  if (state == std::array<std::uint64_t, 4>{})
    throw std::invalid_argument("a random_stream cannot start from zeros.");
}

std::uint64_t random_stream::next() {
  const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = rotate_left(state_[3], 45);
  return result;
}

std::uint64_t random_stream::below(std::uint64_t n) {
  if (n == 0)
    throw std::invalid_argument("random_stream::below needs n above zero.");
  // 2^64 mod n of the smallest values are refused: a multiple of n remains.
  const std::uint64_t refused = (0 - n) % n;
  for (;;) {
    const std::uint64_t x = next();
    if (x >= refused)
      return x % n;
  }
}

double random_stream::uniform01() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

void random_stream::fill(std::uint8_t* data, std::size_t size) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (i % 8 == 0)
      word = next();
    data[i] = static_cast<std::uint8_t>(word);
    word >>= 8;
  }
}

} // namespace potluck
