#include "runtime/state/declared_setting.hpp"

#include <algorithm>
#include <limits>

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

using text_limits = declared_setting::text_limits;
using whole_limits = declared_setting::whole_limits;
using real_limits = declared_setting::real_limits;

constexpr std::size_t longest_name = 32;

std::string range_of(const whole_limits& x) {
  return std::to_string(x.low) + " to " + std::to_string(x.high);
}

std::string range_of(const real_limits& x) {
  const auto result
      = (x.low_allowed ? "at least " : "more than ") + print_real(x.low);
  if (x.high == std::numeric_limits<double>::max())
    return result + " and finite";
  return result + (x.high_allowed ? " and at most " : " and less than ")
         + print_real(x.high);
}

expected<std::string> read_as(const text_limits& x, const std::string& name,
                              const std::string& value) {
  if (x.choices.empty()) {
    if (is_setting_text(value, x.longest))
      return value;
    return failure{name + " must be 1 to " + std::to_string(x.longest)
                   + " printable ASCII characters"};
  }
  std::string all;
  for (const auto& choice : x.choices) {
    if (value == choice)
      return value;
    all += (all.empty() ? "" : ", ") + choice;
  }
  return failure{name + " must be one of " + all};
}

expected<std::string> read_as(const whole_limits& x, const std::string& name,
                              const std::string& value) {
  std::uint64_t number = 0;
  if (!read_number(value, number))
    return failure{name + " must be a whole number, " + range_of(x)};
  if (number < x.low || number > x.high)
    return failure{name + " is " + std::to_string(number) + ", but must be "
                   + range_of(x)};
  return std::to_string(number);
}

expected<std::string> read_as(const real_limits& x, const std::string& name,
                              const std::string& value) {
  double number = 0;
  if (!read_number(value, number))
    return failure{name + " must be a number, " + range_of(x)};
  const bool above = x.low_allowed ? number >= x.low : number > x.low;
  const bool below = x.high_allowed ? number <= x.high : number < x.high;
  if (!above || !below)
    return failure{name + " is " + print_real(number) + ", but must be "
                   + range_of(x)};
  return print_real(number);
}

} // namespace

expected<std::string> declared_setting::read(const std::string& value) const {
  return std::visit([&](const auto& x) { return read_as(x, name, value); },
                    limits);
}

bool is_setting_name(const std::string& x) {
  return !x.empty() && x.size() <= longest_name
         && std::all_of(x.begin(), x.end(), [](char c) {
              return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                     || c == '-';
            });
}

bool is_setting_text(const std::string& x, std::size_t longest) {
  return !x.empty() && x.size() <= longest
         && std::all_of(x.begin(), x.end(),
                        [](char c) { return c >= 0x20 && c <= 0x7e; });
}

std::string shown(const std::string& text) {
  constexpr std::size_t longest = 64;
  std::string result = text.substr(0, longest);
  for (char& c : result)
    if (c < 0x20 || c > 0x7e)
      c = '?';
  if (text.size() > longest)
    result += "...";
  return result;
}

std::uint64_t whole_in(const std::string& value) {
  std::uint64_t result = 0;
  read_number(value, result);
  return result;
}

double real_in(const std::string& value) {
  double result = 0;
  read_number(value, result);
  return result;
}

std::string print_real(double x) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), x).ptr;
  return {buffer, end};
}

} // namespace potluck
