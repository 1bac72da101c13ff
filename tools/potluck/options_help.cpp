// What the options framework prints: help, and the options in effect.

#include "tools/potluck/options.hpp"

#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <string>
#include <system_error>

namespace potluck::cli {

namespace {

constexpr std::size_t help_column = 30;
constexpr std::size_t help_width = 80;

/// `  --name VALUE      help, broken into lines that fit`.
void print_option(std::ostream& out, const std::string& left,
                  const std::string& help) {
  auto line = "  " + left;
  if (line.size() + 2 > help_column) {
    out << line << '\n';
    line.clear();
  }
  line.resize(help_column, ' ');
  std::istringstream words{help};
  auto empty = true;
  for (std::string word; words >> word;) {
    if (!empty && line.size() + 1 + word.size() > help_width) {
      out << line << '\n';
      line.assign(help_column, ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
  }
  out << line << '\n';
}

/// The shortest digits that are read back as the same number.
std::string exactly(double number) {
  std::array<char, 32> digits;
  auto [end, error]
      = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} ? std::string{digits.data(), end} : "0";
}

} // namespace

std::string command_line::help(bool long_help) const {
  std::ostringstream out;
  out << spec_.summary << "\n\nusage: " << spec_.usage << "\n\noptions:\n";
  for (const auto& option : spec_.options) {
    auto left = "--" + option.name;
    if (option.kind != option_kind::flag)
      left += "=" + (option.placeholder.empty() ? "VALUE" : option.placeholder);
    auto right = option.help;
    if (option.kind == option_kind::list)
      right += " (may be repeated)";
    if (!option.default_text.empty() && option.kind != option_kind::flag)
      right += " (default: " + option.default_text + ")";
    print_option(out, left, right);
  }
  out << "\nof every command:\n";
  print_option(out, "--config-file=FILE",
               "Read options from FILE, as name=value lines (default: "
               "caf-application.ini, if there is one).");
  print_option(out, "--dump-config",
               "Print the options in effect as such a file, and end.");
  print_option(out, "--help", "Print this, and end.");
  print_option(out, "--long-help",
               "Print this and the options of the actor system, and end.");
  if (!spec_.notes.empty())
    out << '\n' << spec_.notes;
  if (!long_help)
    return out.str();
  out << "\nof the actor system (CAF), in the file under [scheduler] and so "
         "on:\n";
  for (const auto& option : custom_options_)
    if (!option.has_flat_cli_name())
      print_option(out,
                   "--" + plain(option.full_name())
                       + (option.is_flag()
                              ? ""
                              : "=<" + plain(option.type_name()) + ">"),
                   plain(option.description()));
  return out.str();
}

std::string command_line::dump() const {
  std::ostringstream out;
  for (const auto& [name, x] : values_) {
    out << name << "=";
    if (auto number = caf::get_if<double>(&x))
      out << exactly(*number) << '\n';
    else
      out << caf::deep_to_string(x) << '\n';
  }
  for (const auto& [name, x] : content) {
    auto section = caf::get_if<caf::settings>(&x);
    if (section == nullptr || !is_caf_section(name))
      continue;
    out << "[" << name << "]\n";
    for (const auto& [key, inner] : *section)
      out << key << "=" << caf::deep_to_string(inner) << '\n';
  }
  return out.str();
}

} // namespace potluck::cli
