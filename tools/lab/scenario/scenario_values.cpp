#include "tools/lab/scenario/scenario_values.hpp"

#include <charconv>
#include <cmath>
#include <vector>

namespace potluck {

namespace {

/// `value` of a unit is `value * times / over` of the measure: whole factors,
/// so that one correctly rounded operation gives the nearest number.
struct unit {
  std::string name;
  double times;
  double over;
};

const std::vector<unit>& units_of(measure kind) {
  static const std::vector<unit> none;
  static const std::vector<unit> seconds{{"d", 86400, 1}, {"h", 3600, 1},
                                         {"min", 60, 1},  {"s", 1, 1},
                                         {"ms", 1, 1e3},  {"us", 1, 1e6}};
  static const std::vector<unit> rates{
      {"gbit", 125e6, 1}, {"mbit", 125e3, 1}, {"kbit", 125, 1}, {"GB", 1e9, 1},
      {"MB", 1e6, 1},     {"kB", 1e3, 1},     {"B", 1, 1}};
  static const std::vector<unit> shares{{"%", 1, 100}};
  switch (kind) {
    case measure::seconds:
      return seconds;
    case measure::rate:
      return rates;
    case measure::share:
      return shares;
    case measure::plain:
      break;
  }
  return none;
}

double apply(const unit& x, double value) {
  return x.over == 1 ? value * x.times : value / x.over;
}

} // namespace

std::string example_of(measure x) {
  switch (x) {
    case measure::seconds:
      return "\"20ms\", \"5min\", \"3d\" or a number of seconds";
    case measure::rate:
      return "\"10mbit\", \"2MB\" or a number of bytes a second";
    case measure::share:
      return "0.05 or \"5%\"";
    case measure::plain:
      break;
  }
  return "a number, for instance 50";
}

expected<double> read_measure(measure kind, const std::string& text) {
  double value = 0;
  auto end = text.data() + text.size();
  auto [behind, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc{} && std::isfinite(value)) {
    while (behind != end && *behind == ' ')
      ++behind;
    const std::string rest(behind, end);
    for (const auto& x : units_of(kind))
      if (x.name == rest)
        return apply(x, value);
  }
  return failure{"`" + text + "` is not understood; write " + example_of(kind)
                 + "."};
}

std::string print_number(double x) {
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof(buffer), x).ptr;
  return std::string(buffer, end);
}

std::string print_measure(measure kind, double x) {
  std::string shortest;
  if (kind == measure::share || x == 0)
    return shortest;
  for (const auto& unit : units_of(kind)) {
    const double value = unit.over == 1 ? x / unit.times : x * unit.over;
    const auto text = print_number(value) + unit.name;
    const auto back = read_measure(kind, text);
    if (!back || *back != x)
      continue;
    // The largest unit of which it is a whole number, as a person would.
    if (value == std::floor(value))
      return text;
    if (shortest.empty() || text.size() < shortest.size())
      shortest = text;
  }
  return shortest;
}

} // namespace potluck
