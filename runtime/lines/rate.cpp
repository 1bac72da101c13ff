#include "runtime/lines/rate.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace potluck {

namespace {

using unit_list = std::vector<std::pair<const char*, double>>;

/// A number above zero times its unit; nothing for anything else.
std::optional<double> read(const std::string& text, const unit_list& units,
                           bool per_second) {
  double value = 0;
  auto end = text.data() + text.size();
  auto [behind, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc{} && std::isfinite(value) && value > 0) {
    while (behind != end && *behind == ' ')
      ++behind;
    std::string unit(behind, end);
    if (per_second && unit.size() > 2
        && unit.compare(unit.size() - 2, 2, "/s") == 0)
      unit.resize(unit.size() - 2);
    for (const auto& [name, bytes] : units)
      if (unit == name && std::isfinite(value * bytes))
        return value * bytes;
  }
  return std::nullopt;
}

} // namespace

expected<double> read_rate(const std::string& text) {
  static const unit_list units{
      {"bit", 0.125},  {"kbit", 125},   {"mbit", 125e3}, {"Mbit", 125e3},
      {"gbit", 125e6}, {"Gbit", 125e6}, {"B", 1},        {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9}};
  if (auto rate = read(text, units, true))
    return *rate;
  return failure{"'" + text
                 + "' is not a rate; write for instance 10mbit, 800kbit/s or "
                   "2MB/s."};
}

expected<double> read_bytes(const std::string& text) {
  static const unit_list units{
      {"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  if (auto bytes = read(text, units, false))
    return *bytes;
  return failure{"'" + text
                 + "' is not a size; write for instance 500GB or 1.5TB."};
}

} // namespace potluck
