/// A tokenized text cut into windows, in an endless shuffled order that is
/// addressed by number.
///
/// Order and windows follow from the seed and the number alone, so every
/// machine with the same text computes the same window, and computes only those
/// that it wants.
#pragma once

#include <cstdint>
#include <vector>

namespace potluck {

class token_windows {
public:
  /// @param text Tokens below `vocabulary`, at least one.
  /// @param length Of a window, at least 1.
  /// @param vocabulary More than the special tokens.
  /// Throws std::invalid_argument on anything else.
  token_windows(std::vector<std::int32_t> text, std::uint32_t length,
                std::uint32_t vocabulary);

  std::uint32_t length() const {
    return length_;
  }

  /// Windows in an epoch. An epoch's windows do not overlap and miss less than
  /// one window's tokens; they begin at another place of the (cyclic) text each
  /// epoch. A text shorter than a window is repeated inside it.
  std::uint64_t count() const {
    return count_;
  }

  /// Appends window `number` of the order that `seed` fixes. Each run of
  /// `count()` numbers, counted from 0, holds every window of an epoch once.
  void append(std::uint64_t seed, std::uint64_t number,
              std::vector<std::int32_t>& to) const;

private:
  std::vector<std::int32_t> text_;
  std::uint32_t length_;
  std::uint64_t count_;
};

} // namespace potluck
