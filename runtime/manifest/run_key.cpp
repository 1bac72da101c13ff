#include "runtime/manifest/run_key.hpp"

#include <algorithm>

namespace potluck {

namespace {

constexpr std::size_t hex_digits = 2 * run_id::size;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9');
}

} // namespace

std::string problem_with_run_name(const std::string& name) {
  const bool sound
      = !name.empty() && name.size() <= max_run_name
        && is_letter_or_digit(name.front())
        && std::all_of(name.begin(), name.end(), [](char c) {
             return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
           });
  return sound ? ""
               : "a run's name is 1 to 64 letters, digits, dots, dashes and "
                 "underscores, of which the first is a letter or digit";
}

std::string run_key(const std::string& name, const run_id& id) {
  return name + "@" + to_string(id);
}

run_id id_in(const std::string& key) {
  run_id id;
  if (key.size() <= hex_digits + 1)
    return {};
  const auto at = key.size() - hex_digits - 1;
  // One id has one key: hex digits are small.
  if (!from_hex(key.substr(at + 1), id.bytes.data(), run_id::size)
      || run_key(key.substr(0, at), id) != key
      || !problem_with_run_name(key.substr(0, at)).empty())
    return {};
  return id;
}

std::string name_in(const std::string& key) {
  return id_in(key).empty() ? key : key.substr(0, key.size() - hex_digits - 1);
}

std::string shown_run(const std::string& key) {
  const auto id = id_in(key);
  return id.empty() ? key : name_in(key) + " (" + short_name(id) + ")";
}

std::string run_file_name(const std::string& key) {
  const auto id = id_in(key);
  auto result = name_in(key);
  if (!id.empty())
    result += "-" + to_string(id).substr(0, 16);
  std::replace(result.begin(), result.end(), '/', '_'); // A trial's name.
  return result;
}

} // namespace potluck
