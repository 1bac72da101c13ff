#include "tools/potluck/options_file.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <sstream>

#include "runtime/nearest_name.hpp"
#include "runtime/numbers.hpp"

namespace potluck::cli {

namespace {

/// Bytes. std::regex goes one call deeper for every character of some lines.
constexpr std::size_t longest_line = 4096;

/// Line (from 1) of CAF's parser error; 0 if it has none.
std::size_t line_of_error(const caf::error& error) {
  std::smatch match;
  auto text = to_string(error.context());
  if (!std::regex_search(text, match, std::regex{"\"line\" = ([0-9]+)"}))
    return 0;
  std::size_t line = std::stoul(match[1]);
  // CAF counts the line's end as the next line.
  return line - (error == caf::pec::unexpected_newline && line > 1);
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

using texts = std::vector<std::string>;

template <class Number>
std::optional<option_value> number_in(const std::string& text) {
  Number number{};
  if (!read_number(text.substr(text.rfind("+", 0) == 0 ? 1 : 0), number))
    return std::nullopt;
  return number;
}

/// A value as words of the command line would say it; nothing where CAF's type
/// is none of this kind's.
/// @param written As it stands in the file. CAF's reader of numbers is off by a
/// few units in the last place, and peers that were told the same number here
/// and on the command line would not agree on it.
std::optional<texts> to_words(option_kind kind, const caf::config_value& x,
                              const std::optional<std::string>& written) {
  auto text = caf::get_if<std::string>(&x);
  if (text && (kind == option_kind::text || kind == option_kind::list))
    return texts{*text};
  if (kind == option_kind::list) {
    auto list = caf::get_if<caf::config_value::list>(&x);
    texts result;
    for (std::size_t i = 0; list && i < list->size(); ++i)
      if (auto element = caf::get_if<std::string>(&(*list)[i]))
        result.push_back(*element);
    return list && result.size() == list->size() ? std::optional{result}
                                                 : std::nullopt;
  }
  if (caf::holds_alternative<std::int64_t>(x)
      || caf::holds_alternative<double>(x) || caf::holds_alternative<bool>(x))
    return texts{written.value_or(caf::deep_to_string(x))};
  return std::nullopt;
}

} // namespace

std::string plain(caf::string_view text) {
  return {text.begin(), text.end()};
}

std::optional<option_value> to_value(option_kind kind, const texts& all) {
  switch (kind) {
    case option_kind::text:
      return all.back();
    case option_kind::list:
      return all;
    case option_kind::integer:
      return number_in<std::int64_t>(all.back());
    case option_kind::real:
      return number_in<double>(all.back());
    case option_kind::flag:
      if (all.back() == "true" || all.back() == "false")
        return all.back() == "true";
  }
  return std::nullopt;
}

std::string wanted(option_kind kind) {
  constexpr std::array<const char*, 5> names{
      "text", "a list of texts", "a whole number", "a number", "true or false"};
  return names.at(static_cast<std::size_t>(kind));
}

bool is_caf_section(const caf::config_option_set& cafs,
                    const std::string& name) {
  return std::any_of(cafs.begin(), cafs.end(), [&](const auto& x) {
    auto category = plain(x.category());
    return category != "global"
           && (category == name || category.rfind(name + ".", 0) == 0);
  });
}

options_file::options_file(const command_spec& spec,
                           const caf::config_option_set& cafs,
                           const CLI::App& app)
    : spec_{spec}, cafs_{cafs}, app_{app} {
}

std::size_t options_file::line_of(const std::string& section,
                                  const std::string& key) const {
  auto hit = keys_.find(section + "." + key);
  return hit == keys_.end() ? 0 : hit->second;
}

std::string options_file::place(std::size_t line) const {
  return app_.get_config_ptr()->as<std::string>()
         + (line == 0 ? "" : " line " + std::to_string(line)) + ": ";
}

std::string options_file::unknown_name(const std::string& what,
                                       const std::string& name,
                                       const texts& candidates) const {
  auto guess = nearest_name(name, candidates);
  return "there is no " + what + " '" + name + "': "
         + (guess.empty() ? "see potluck " + spec_.name + " --help."
                          : "did you mean '" + guess + "'?");
}

void options_file::scan_lines() const {
  std::istringstream in{text_};
  std::string section = "global";
  auto depth = 0; // Of brackets: keys inside a value are none of ours.
  static const std::regex head{"^\\s*\\[\\s*([^\\]=\\s]*)\\s*\\]\\s*(;.*)?$"};
  static const std::regex entry{"^\\s*([\\w-]+)\\s*=.*$"};
  static const std::regex newer{"^\\s*(caf\\s*\\{|caf\\..*|\\[\\s*caf\\b.*)"};
  for (std::string line; std::getline(in, line);) {
    lines_.push_back(line);
    if (line.size() > longest_line)
      throw mistake{place(lines_.size())
                    + "this line is too long: write a long list over several "
                      "lines."};
    std::smatch match;
    if (std::regex_search(line, newer))
      throw mistake{place(lines_.size())
                    + "this is the syntax of CAF 0.18, which CAF 0.17 ignores: "
                      "write a section like [scheduler] and below it "
                      "max-threads=2."};
    if (depth <= 0 && std::regex_match(line, match, head)) {
      section = match[1];
      continue;
    }
    if (depth <= 0 && std::regex_match(line, match, entry)) {
      auto [hit, fresh]
          = keys_.emplace(section + "." + match[1].str(), lines_.size());
      if (!fresh)
        throw mistake{place(lines_.size()) + "'" + match[1].str()
                      + "' stands on line " + std::to_string(hit->second)
                      + " already: remove one of the two."};
    }
    depth += brackets_opened(line);
  }
}

std::vector<CLI::ConfigItem> options_file::from_config(std::istream& in) const {
  text_.assign(std::istreambuf_iterator<char>{in}, {});
  // CAF takes a carriage return for a part of the value.
  text_.erase(std::remove(text_.begin(), text_.end(), '\r'), text_.end());
  scan_lines();
  std::istringstream ini{text_};
  auto parsed = caf::actor_system_config::parse_config(ini);
  if (!parsed) {
    auto line = line_of_error(parsed.error());
    if (line == 0 || line > lines_.size())
      throw mistake{place(0)
                    + "cannot be read to its end: close its quotes "
                      "and brackets."};
    throw mistake{place(line)
                  + "this cannot be read: " + hint_for(lines_[line - 1]) + "."};
  }
  // A value that the file's end cuts off is dropped by CAF without a word.
  for (const auto& [name, line] : keys_)
    if (!holds(*parsed, name.rfind("global.", 0) == 0 ? name.substr(7) : name))
      throw mistake{place(line)
                    + "this value does not end: close its quotes "
                      "and brackets."};

  // The command's own section counts more than keys at the top: the first of
  // two items does.
  items result;
  for (const auto& [name, x] : *parsed) {
    auto inner = caf::get_if<caf::settings>(&x);
    auto candidates = spec_.siblings;
    if (inner == nullptr
        || std::count(candidates.begin(), candidates.end(), name) > 0)
      continue;
    if (name == spec_.name) {
      take_section(*inner, name, result);
    } else if (is_caf_section(cafs_, name)) {
      check_caf_section(*inner, name);
    } else {
      candidates.push_back(spec_.name);
      for (const auto& option : cafs_)
        candidates.push_back(plain(option.category()));
      throw mistake{place(0) + unknown_name("section", name, candidates)};
    }
  }
  take_section(*parsed, "global", result);
  return result;
}

void options_file::take_section(const caf::settings& section,
                                const std::string& name, items& out) const {
  texts known;
  for (const auto& option : spec_.options)
    known.push_back(option.name);
  for (const auto& [key, x] : section) {
    auto hit = std::find(known.begin(), known.end(), key);
    if (hit != known.end()) {
      auto at = static_cast<std::size_t>(hit - known.begin());
      out.push_back(take(spec_.options[at], x, name));
      continue;
    }
    if (name == "global" && caf::holds_alternative<caf::settings>(x))
      continue; // A section.
    auto where = place(line_of(name, key));
    for (auto here : {"config-file", "help", "long-help", "dump-config"})
      if (key == here)
        throw mistake{where + "'" + key
                      + "' has no place in a file: give it "
                        "on the command line."};
    throw mistake{where + unknown_name("option", key, known)};
  }
}

CLI::ConfigItem options_file::take(const option_spec& option,
                                   const caf::config_value& x,
                                   const std::string& section) const {
  constexpr std::array<const char*, 5> examples{"\"words\"", "[\"a\", \"b\"]",
                                                "1", "1.5", "true"};
  auto line = line_of(section, option.name);
  auto written = line == 0 ? std::nullopt : bare_word_in(lines_[line - 1]);
  auto words = to_words(option.kind, x, written);
  if (!words || !to_value(option.kind, *words))
    throw mistake{place(line) + "'" + option.name + "' wants "
                  + wanted(option.kind) + ", as in " + option.name + "="
                  + examples.at(static_cast<std::size_t>(option.kind))
                  + ", not " + caf::deep_to_string(x) + "."};
  return {{}, option.name, *words};
}

void options_file::check_caf_section(const caf::settings& section,
                                     const std::string& prefix) const {
  for (const auto& [key, x] : section) {
    auto option = cafs_.qualified_name_lookup(prefix, key);
    auto inner = caf::get_if<caf::settings>(&x);
    if (option == nullptr && inner
        && is_caf_section(cafs_, prefix + "." + key)) {
      check_caf_section(*inner, prefix + "." + key);
    } else if (option == nullptr) {
      texts candidates;
      for (const auto& known : cafs_)
        if (plain(known.category()) == prefix)
          candidates.push_back(plain(known.long_name()));
      throw mistake{
          place(line_of(prefix, key))
          + unknown_name("option of [" + prefix + "]", key, candidates)};
    } else if (option->check(x)) {
      throw mistake{place(line_of(prefix, key)) + "'" + key + "' of [" + prefix
                    + "] wants a " + plain(option->type_name()) + ", not "
                    + caf::deep_to_string(x) + "."};
    }
  }
}

} // namespace potluck::cli
