#include "runtime/lines/rate.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace potluck {

expected<double> read_rate(const std::string& text) {
  static const std::pair<const char*, double> units[]{
      {"bit", 0.125},  {"kbit", 125},   {"mbit", 125e3}, {"Mbit", 125e3},
      {"gbit", 125e6}, {"Gbit", 125e6}, {"B", 1},        {"kB", 1e3},
      {"MB", 1e6},     {"GB", 1e9}};
  double value = 0;
  auto end = text.data() + text.size();
  auto [behind, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc{} && std::isfinite(value) && value > 0) {
    while (behind != end && *behind == ' ')
      ++behind;
    std::string unit(behind, end);
    if (unit.size() > 2 && unit.compare(unit.size() - 2, 2, "/s") == 0)
      unit.resize(unit.size() - 2);
    for (const auto& [name, bytes] : units)
      if (unit == name && std::isfinite(value * bytes))
        return value * bytes;
  }
  return failure{"'" + text
                 + "' is not a rate; write for instance 10mbit, 800kbit/s or "
                   "2MB/s."};
}

} // namespace potluck
