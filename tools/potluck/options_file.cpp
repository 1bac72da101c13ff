// The configuration file: CAF reads it, this decides whether it meant what it
// says. CAF silently ignores values of a wrong type, unknown keys, the second
// of two equal keys, and files in the syntax of its version 0.18.

#include "tools/potluck/options.hpp"

#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "runtime/nearest_name.hpp"

namespace potluck::cli {

namespace {

using complaint = std::optional<std::string>;

constexpr const char* default_file = "caf-application.ini";

/// Line and column (from 1) of CAF's parser error; 0 if it has none.
std::size_t line_of(const caf::error& error) {
  std::smatch match;
  auto text = to_string(error.context());
  if (std::regex_search(text, match, std::regex{"\"line\" = ([0-9]+)"}))
    return std::stoul(match[1]);
  return 0;
}

/// Brackets that the line opens, less those that it closes.
int brackets_opened(const std::string& line) {
  auto opened = 0;
  auto quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      quoted = !quoted;
    else if (!quoted && line[i] == ';')
      break;
    else if (!quoted && (line[i] == '[' || line[i] == '{'))
      ++opened;
    else if (!quoted && (line[i] == ']' || line[i] == '}'))
      --opened;
  }
  return opened;
}

/// Whether `name`, as in `section.key`, leads to a value.
bool holds(const caf::settings& in, const std::string& name) {
  auto dot = name.find('.');
  auto hit = in.find(name.substr(0, dot));
  if (hit == in.end() || dot == name.npos)
    return hit != in.end();
  auto inner = caf::get_if<caf::settings>(&hit->second);
  return inner != nullptr && holds(*inner, name.substr(dot + 1));
}

/// What the user probably overlooked in a line that CAF cannot parse.
std::string hint_for(const std::string& line) {
  if (std::regex_search(line, std::regex{"^\\s*#"}))
    return "comments begin with ';'";
  std::smatch match;
  static const std::regex bare{"^\\s*([\\w-]+)\\s*=\\s*([^\"\\s][^\"]*?)\\s*$"};
  if (std::regex_match(line, match, bare))
    return "text stands in double quotes, as in " + match[1].str() + "=\""
           + match[2].str() + "\"";
  return "a line is name=value, [section], or a comment after ';'";
}

/// What stands behind `=` in a line, if it is one bare word: `7`, not `"7"`.
std::optional<std::string> bare_word_in(const std::string& line) {
  static const std::regex shape{"^[^=]*=\\s*([^\\s;\"'\\[{]+)\\s*(;.*)?$"};
  std::smatch match;
  if (!std::regex_match(line, match, shape))
    return std::nullopt;
  return match[1].str();
}

/// The whole of `digits` as a number.
std::optional<double> exact_number(std::string digits) {
  if (digits[0] == '+')
    digits.erase(0, 1);
  double number = 0;
  auto end = digits.data() + digits.size();
  auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stop != end)
    return std::nullopt;
  return number;
}

std::string wanted(option_kind kind, const std::string& name) {
  switch (kind) {
    case option_kind::text:
      return "text, as in " + name + "=\"words\"";
    case option_kind::list:
      return "a list of texts, as in " + name + "=[\"a\", \"b\"]";
    case option_kind::integer:
      return "a whole number, as in " + name + "=1";
    case option_kind::real:
      return "a number, as in " + name + "=1.5";
    case option_kind::flag:
      return "true or false, as in " + name + "=true";
  }
  return "another value";
}

} // namespace

std::string command_line::place(const std::string& section,
                                const std::string& key) const {
  auto hit = lines_.find(section + "." + key);
  if (hit == lines_.end())
    return file_ + ": ";
  return file_ + " line " + std::to_string(hit->second) + ": ";
}

std::string
command_line::unknown_name(const std::string& what, const std::string& name,
                           const std::vector<std::string>& candidates) const {
  auto guess = nearest_name(name, candidates);
  auto start = "there is no " + what + " '" + name + "'";
  if (guess.empty())
    return start + ": see potluck " + spec_.name + " --help.";
  return start + ": did you mean '" + guess + "'?";
}

bool command_line::is_caf_section(const std::string& name) const {
  return std::any_of(custom_options_.begin(), custom_options_.end(),
                     [&](const caf::config_option& x) {
                       auto category = plain(x.category());
                       return category != "global"
                              && (category == name
                                  || category.rfind(name + ".", 0) == 0);
                     });
}

complaint command_line::scan_lines() {
  std::istringstream lines{file_text_};
  std::string section = "global";
  auto depth = 0; // of brackets: keys inside a value are none of ours
  static const std::regex head{"^\\s*\\[\\s*([^\\]=\\s]*)\\s*\\]\\s*(;.*)?$"};
  static const std::regex entry{"^\\s*([\\w-]+)\\s*=.*$"};
  static const std::regex newer{"^\\s*(caf\\s*\\{|caf\\..*|\\[\\s*caf\\b.*)"};
  for (std::string line; std::getline(lines, line);) {
    file_lines_.push_back(line);
    auto here = file_ + " line " + std::to_string(file_lines_.size()) + ": ";
    std::smatch match;
    if (std::regex_search(line, newer))
      return here + "this is the syntax of CAF 0.18, which CAF 0.17 ignores: "
             + "write a section like [scheduler] and below it max-threads=2.";
    if (depth <= 0 && std::regex_match(line, match, head)) {
      section = match[1];
      continue;
    }
    if (depth <= 0 && std::regex_match(line, match, entry)) {
      auto [hit, fresh]
          = lines_.emplace(section + "." + match[1].str(), file_lines_.size());
      if (!fresh)
        return here + "'" + match[1].str() + "' stands on line "
               + std::to_string(hit->second)
               + " already: remove one of the two.";
    }
    depth += brackets_opened(line);
  }
  return std::nullopt;
}

complaint command_line::read_file() {
  if (!file_named_)
    file_ = default_file;
  std::ifstream in{file_};
  std::ostringstream all;
  if (in)
    all << in.rdbuf();
  std::error_code ignored;
  if (!in || std::filesystem::is_directory(file_, ignored)) {
    if (!file_named_)
      return std::nullopt;
    return "cannot read the configuration file '" + file_
           + "': check the path behind --config-file.";
  }
  file_text_ = all.str();
  // CAF takes a carriage return for a part of the value.
  file_text_.erase(std::remove(file_text_.begin(), file_text_.end(), '\r'),
                   file_text_.end());

  if (auto wrong = scan_lines())
    return wrong;
  std::istringstream ini{file_text_};
  auto parsed = parse_config(ini);
  if (!parsed) {
    auto number = line_of(parsed.error());
    if (parsed.error() == caf::pec::unexpected_newline && number > 1)
      --number; // CAF counts the line's end as the next line
    if (number == 0 || number > file_lines_.size())
      return file_ + ": cannot be read to its end: close its quotes and "
             + "brackets.";
    return file_ + " line " + std::to_string(number) + ": this cannot be read: "
           + hint_for(file_lines_[number - 1]) + ".";
  }
  // A value that the file's end cuts off is dropped by CAF without a word.
  for (const auto& [name, number] : lines_)
    if (!holds(*parsed, name.rfind("global.", 0) == 0 ? name.substr(7) : name))
      return file_ + " line " + std::to_string(number)
             + ": this value does not end: close its quotes and brackets.";

  // Keys at the top first, then the command's own section, which counts more.
  if (auto wrong = accept_section(*parsed, "global"))
    return wrong;
  for (const auto& [name, x] : *parsed) {
    auto inner = caf::get_if<caf::settings>(&x);
    if (inner == nullptr)
      continue;
    complaint wrong;
    if (name == spec_.name)
      wrong = accept_section(*inner, name);
    else if (is_caf_section(name))
      wrong = accept_caf_section(*inner, name);
    else if (std::find(spec_.siblings.begin(), spec_.siblings.end(), name)
             == spec_.siblings.end()) {
      auto candidates = spec_.siblings;
      candidates.push_back(spec_.name);
      for (const auto& option : custom_options_)
        candidates.push_back(plain(option.category()));
      wrong = file_ + ": " + unknown_name("section", name, candidates);
    }
    if (wrong)
      return wrong;
  }
  return std::nullopt;
}

complaint command_line::accept_section(const caf::settings& section,
                                       const std::string& section_name) {
  for (const auto& [key, x] : section) {
    auto where = place(section_name, key);
    if (auto option = find(key)) {
      if (auto wrong = accept_key(*option, x, section_name))
        return wrong;
    } else if (section_name == "global"
               && caf::holds_alternative<caf::settings>(x)) {
      continue; // a section, read by the caller
    } else if (key == "config-file" || key == "help" || key == "long-help"
               || key == "dump-config") {
      return where + "'" + key
             + "' has no place in a file: give it on the command line.";
    } else {
      std::vector<std::string> candidates;
      for (const auto& known : spec_.options)
        candidates.push_back(known.name);
      return where + unknown_name("option", key, candidates);
    }
  }
  return std::nullopt;
}

complaint command_line::accept_key(const option_spec& option,
                                   const caf::config_value& x,
                                   const std::string& section) {
  auto where = place(section, option.name);
  // As the user wrote it: CAF's reader of numbers is off by a few units in the
  // last place, and peers that were told the same number in the file and on
  // the command line would not agree on it.
  std::optional<std::string> written;
  if (auto hit = lines_.find(section + "." + option.name); hit != lines_.end())
    written = bare_word_in(file_lines_[hit->second - 1]);
  auto fitting = x;
  auto fits = false;
  switch (option.kind) {
    case option_kind::text:
      fits = caf::holds_alternative<std::string>(x);
      if (written
          && (caf::holds_alternative<std::int64_t>(x)
              || caf::holds_alternative<double>(x)
              || caf::holds_alternative<bool>(x))) {
        fitting = caf::config_value{*written};
        fits = true;
      }
      break;
    case option_kind::list:
      if (caf::holds_alternative<std::string>(x))
        fitting = caf::config_value{caf::config_value::list{x}};
      if (auto all = caf::get_if<caf::config_value::list>(&fitting))
        fits = std::all_of(all->begin(), all->end(), [](const auto& element) {
          return caf::holds_alternative<std::string>(element);
        });
      break;
    case option_kind::integer:
      fits = caf::holds_alternative<std::int64_t>(x);
      break;
    case option_kind::real:
      if (auto whole = caf::get_if<std::int64_t>(&x))
        fitting = caf::config_value{static_cast<double>(*whole)};
      fits = caf::holds_alternative<double>(fitting);
      if (fits && written)
        if (auto exact = exact_number(*written))
          fitting = caf::config_value{*exact};
      break;
    case option_kind::flag:
      fits = caf::holds_alternative<bool>(x);
      break;
  }
  if (!fits)
    return where + "'" + option.name + "' wants "
           + wanted(option.kind, option.name) + ", not "
           + caf::deep_to_string(x) + ".";
  values_[option.name] = std::move(fitting);
  given_.insert(option.name);
  return std::nullopt;
}

complaint command_line::accept_caf_section(const caf::settings& section,
                                           const std::string& prefix) {
  for (const auto& [key, x] : section) {
    auto where = place(prefix, key);
    auto option = custom_options_.qualified_name_lookup(prefix, key);
    auto inner = caf::get_if<caf::settings>(&x);
    if (option == nullptr && inner != nullptr
        && is_caf_section(prefix + "." + key)) {
      if (auto wrong = accept_caf_section(*inner, prefix + "." + key))
        return wrong;
      continue;
    }
    if (option == nullptr) {
      std::vector<std::string> candidates;
      for (const auto& known : custom_options_)
        if (plain(known.category()) == prefix)
          candidates.push_back(plain(known.long_name()));
      return where
             + unknown_name("option of [" + prefix + "]", key, candidates);
    }
    if (option->check(x))
      return where + "'" + key + "' of [" + prefix + "] wants a "
             + plain(option->type_name()) + ", not " + caf::deep_to_string(x)
             + ".";
  }
  return std::nullopt;
}

} // namespace potluck::cli
