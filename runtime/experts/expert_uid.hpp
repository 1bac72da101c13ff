/// The names of experts: a layer and a place on its grid, "ffn.3.12".
///
/// Every expert of a layer has as many coordinates as its grid has dimensions,
/// 1 to 4; each is a number below 256 without leading zeros.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/expected.hpp"

namespace potluck::limits {

/// Dimensions of a grid of experts, and coordinates of each: the records of one
/// prefix travel in one answer of 256.
constexpr std::size_t expert_dimensions = 4;
constexpr std::uint32_t expert_coordinates = 256;
/// Letters of a layer's name.
constexpr std::size_t expert_layer_letters = 32;
/// Experts that a pattern may mean, and that one host announces: a hundred
/// publications a second are half of what a peer may send its neighbours.
constexpr std::size_t expert_pattern = 65536;
constexpr std::size_t experts_hosted = 4096;

} // namespace potluck::limits

namespace potluck {

struct expert_uid {
  std::string layer; ///< Letters a to z, digits, '_' and '-'.
  std::vector<std::uint32_t> place;

  friend bool operator==(const expert_uid& a, const expert_uid& b) {
    return a.layer == b.layer && a.place == b.place;
  }
};

std::string to_string(const expert_uid& x);

/// Fails with a sentence about what is wrong.
expected<expert_uid> parse_expert_uid(std::string_view text);

/// A coordinate as it stands in a uid; fails on any other text.
expected<std::uint32_t> parse_coordinate(std::string_view text);

/// From the shortest to the longest, without the uid itself: "ffn", "ffn.3".
std::vector<std::string> prefixes_of(const expert_uid& x);

/// The sizes of a grid, "16x16".
expected<std::vector<std::uint32_t>> parse_expert_grid(std::string_view text);

/// The uids that `pattern` means on a grid, ascending. Each coordinate of the
/// pattern is a number, a range "0-15" or "*" for all.
expected<std::vector<expert_uid>>
experts_of_pattern(std::string_view pattern,
                   const std::vector<std::uint32_t>& grid);

} // namespace potluck
