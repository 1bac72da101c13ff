#include "runtime/experts/expert_uid.hpp"

#include <algorithm>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == text.npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_layer(std::string_view text) {
  return !text.empty() && text.size() <= limits::expert_layer_letters
         && std::all_of(text.begin(), text.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '_' || c == '-';
            });
}

failure not_a_layer(std::string_view text) {
  return failure{"'" + std::string{text}
                 + "' is not the name of a layer; write 1 to "
                 + std::to_string(limits::expert_layer_letters)
                 + " of a-z, 0-9, '_' and '-'."};
}

failure wrong_dimensions(std::string_view text) {
  return failure{"'" + std::string{text}
                 + "' must have 1 to 4 coordinates behind the layer, for "
                   "instance ffn.3.12."};
}

/// First and last coordinate of one dimension of a pattern.
struct range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

expected<range> parse_range(std::string_view text, std::uint32_t size) {
  if (text == "*")
    return range{0, size - 1};
  auto ends = split(text, '-');
  auto first = parse_coordinate(ends.front());
  auto last = parse_coordinate(ends.back());
  if (ends.size() > 2 || !first || !last || *first > *last)
    return failure{"'" + std::string{text}
                   + "' is not a coordinate; write a number, a range as 0-15, "
                     "or *."};
  if (*last >= size)
    return failure{"Coordinate " + std::to_string(*last)
                   + " is outside of the grid, which has "
                   + std::to_string(size) + " in this dimension."};
  return range{*first, *last};
}

} // namespace

std::string to_string(const expert_uid& x) {
  auto text = x.layer;
  for (auto i : x.place)
    text += "." + std::to_string(i);
  return text;
}

expected<std::uint32_t> parse_coordinate(std::string_view text) {
  std::uint32_t value = 0;
  bool leading_zero = text.size() > 1 && text.front() == '0';
  if (!read_number(text, value) || leading_zero
      || value >= limits::expert_coordinates)
    return failure{"'" + std::string{text}
                   + "' is not a coordinate; write a number from 0 to 255."};
  return value;
}

expected<expert_uid> parse_expert_uid(std::string_view text) {
  auto parts = split(text, '.');
  expert_uid result;
  if (!is_layer(parts.front()))
    return not_a_layer(parts.front());
  result.layer = parts.front();
  if (parts.size() < 2 || parts.size() > limits::expert_dimensions + 1)
    return wrong_dimensions(text);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    auto coordinate = parse_coordinate(parts[i]);
    if (!coordinate)
      return failure{coordinate.error()};
    result.place.push_back(*coordinate);
  }
  return result;
}

std::vector<std::string> prefixes_of(const expert_uid& x) {
  std::vector<std::string> result{x.layer};
  for (std::size_t i = 0; i + 1 < x.place.size(); ++i)
    result.push_back(result.back() + "." + std::to_string(x.place[i]));
  return result;
}

expected<std::vector<std::uint32_t>> parse_expert_grid(std::string_view text) {
  std::vector<std::uint32_t> result;
  for (auto part : split(text, 'x')) {
    std::uint32_t size = 0;
    if (!read_number(part, size) || size == 0
        || size > limits::expert_coordinates)
      return failure{"'" + std::string{text}
                     + "' is not a grid; write 1 to 4 sizes from 1 to 256, for "
                       "instance 16x16."};
    result.push_back(size);
  }
  if (result.size() > limits::expert_dimensions)
    return failure{"'" + std::string{text}
                   + "' has too many dimensions; write 1 to 4 sizes, for "
                     "instance 16x16."};
  return result;
}

expected<std::vector<expert_uid>>
experts_of_pattern(std::string_view pattern,
                   const std::vector<std::uint32_t>& grid) {
  auto parts = split(pattern, '.');
  if (!is_layer(parts.front()))
    return not_a_layer(parts.front());
  if (parts.size() < 2 || parts.size() > limits::expert_dimensions + 1)
    return wrong_dimensions(pattern);
  if (parts.size() != grid.size() + 1)
    return failure{"'" + std::string{pattern} + "' has "
                   + std::to_string(parts.size() - 1)
                   + " coordinates, but the grid " + std::to_string(grid.size())
                   + "; write one for each dimension."};
  std::vector<range> ranges;
  std::uint64_t count = 1; // At most 2^32: 256 to the fourth.
  for (std::size_t i = 0; i < grid.size(); ++i) {
    auto r = parse_range(parts[i + 1], grid[i]);
    if (!r)
      return failure{r.error()};
    ranges.push_back(*r);
    count *= r->last - r->first + 1;
  }
  if (count > limits::expert_pattern)
    return failure{"'" + std::string{pattern} + "' means "
                   + std::to_string(count) + " experts; name at most "
                   + std::to_string(limits::expert_pattern) + "."};
  std::vector<expert_uid> result;
  result.reserve(count);
  expert_uid next{std::string{parts.front()}, {}};
  for (auto& r : ranges)
    next.place.push_back(r.first);
  while (result.size() < count) {
    result.push_back(next);
    for (auto i = ranges.size(); i-- > 0;) {
      if (next.place[i] < ranges[i].last) {
        ++next.place[i];
        break;
      }
      next.place[i] = ranges[i].first;
    }
  }
  return result;
}

} // namespace potluck
