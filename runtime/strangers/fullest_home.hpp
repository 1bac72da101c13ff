/// Which home gives one of its places up where all are taken: whoever brings a
/// crowd pays for it, and nobody is pushed out by somebody who has as many.
/// Pure.
#pragma once

#include <algorithm>
#include <cstddef>

namespace potluck {

/// @param homes What each home has, by its name.
/// @param size How many places that is.
/// @param has Places of the home that wants one more.
/// @returns Where the home stands that has most; the end if it would have fewer
///     then than the other.
template <class Homes, class Size>
auto home_that_gives_way(Homes& homes, std::size_t has, Size size) {
  const auto fullest = std::max_element(
      homes.begin(), homes.end(), [&](const auto& a, const auto& b) {
        return size(a.second) < size(b.second);
      });
  const bool gives = fullest != homes.end() && size(fullest->second) > has + 1;
  return gives ? fullest : homes.end();
}

} // namespace potluck
