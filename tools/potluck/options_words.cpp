#include "tools/potluck/options_words.hpp"

#include <caf/config_option_set.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include "runtime/nearest_name.hpp"

namespace potluck::cli {

namespace {

using texts = std::vector<std::string>;

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

template <class... Format>
std::string digits(double number, Format... format) {
  std::array<char, 400> text;
  auto end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, number, format...).ptr};
}

/// Adds an option whose texts go to `take`.
template <class Take>
CLI::Option* add(CLI::App& app, const std::string& names,
                 const std::string& placeholder, bool is_flag, Take take) {
  auto checked = [=](const CLI::results_t& all) {
    auto name = names.substr(0, names.find(','));
    for (const auto& text : all)
      if (!is_flag && starts_with(text, "--"))
        throw mistake{name + " needs a value: write " + name + "=" + placeholder
                      + "."};
    take(all);
    return true;
  };
  return app.add_option(names, CLI::callback_t{checked})
      ->type_name(is_flag ? "" : placeholder)
      ->expected(is_flag ? 0 : 1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

} // namespace

std::string digits_of(double number) {
  return digits(number);
}

std::string
help_format::make_group(std::string name, bool is_positional,
                        std::vector<const CLI::Option*> options) const {
  // Behind a blank line already.
  return CLI::Formatter::make_group(name, is_positional, options).substr(1);
}

std::string help_format::make_option(const CLI::Option* option, bool) const {
  constexpr std::size_t column = 30;
  constexpr std::size_t width = 80;
  auto line = "  --" + option->get_lnames().front();
  if (!option->get_type_name().empty())
    line += "=" + option->get_type_name();
  std::string result;
  if (line.size() + 2 > column)
    result = std::exchange(line, "") + "\n";
  line.resize(column, ' ');
  std::istringstream words{option->get_description()};
  for (std::string word; words >> word; line += word)
    if (line.size() > column && line.size() + 1 + word.size() > width) {
      result += line + "\n";
      line.assign(column, ' ');
    } else if (line.size() > column) {
      line += ' ';
    }
  return result + line + "\n";
}

std::string help_of(const option_spec& option) {
  auto help = option.help;
  if (option.kind == option_kind::list)
    help += " (may be repeated)";
  if (option.kind != option_kind::flag && !option.default_text.empty())
    help += " (default: " + option.default_text + ")";
  return help;
}

void add_own(CLI::App& app, const option_spec& option, option_value& value) {
  auto start = "--" + option.name;
  auto take = [&option, &value, start](const texts& all) {
    auto x = to_value(option.kind, all);
    if (!x && option.kind == option_kind::flag)
      throw mistake{start + " is a flag: write " + start + ", " + start
                    + "=true or " + start + "=false, not '" + all.back()
                    + "'."};
    auto example = option.default_text.empty() ? "1" : option.default_text;
    if (!x)
      throw mistake{start + " wants " + wanted(option.kind) + ", not '"
                    + all.back() + "': write for instance " + start + "="
                    + example + "."};
    value = std::move(*x);
    auto whole = std::get_if<std::int64_t>(&value);
    auto real = std::get_if<double>(&value);
    auto number = whole ? static_cast<double>(*whole) : real ? *real : 0;
    const auto [least, most] = option.allowed;
    if ((whole || real) && !(number >= least && number <= most))
      throw mistake{start + " must be "
                    + (std::isinf(most) ? "at least " : "a number from ")
                    + digits(least, std::chars_format::fixed)
                    + (std::isinf(most)
                           ? ""
                           : " to " + digits(most, std::chars_format::fixed))
                    + "."};
  };
  auto added = add(app, start,
                   option.placeholder.empty() ? "VALUE" : option.placeholder,
                   option.kind == option_kind::flag, take);
  added->description(help_of(option))->group(own_group);
  if (option.kind == option_kind::list)
    added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_common(CLI::App& app, bool& dump) {
  constexpr auto group = "of every command";
  app.set_config("--config-file", usual_file,
                 "Read options from FILE, as name=value lines (default: "
                 "caf-application.ini, if there is one).")
      ->type_name("FILE")
      ->group(group);
  app.add_flag("--dump-config", dump,
               "Print the options in effect as such a file, and end.")
      ->group(group);
  app.set_help_flag("--help,-h,-?", "Print this, and end.")->group(group);
  app.set_help_all_flag("--long-help", "Print this and the options of the "
                                       "actor system, and end.")
      ->group(group);
}

void add_launch(CLI::App& app, launch_options& launch) {
  app.add_flag("--caf#slave-mode", launch.slave_mode, "Set by caf-run.")
      ->group(caf_group);
  app.add_option("--caf#slave-name", launch.slave_name, "Likewise.")
      ->type_name("HOST")
      ->group(caf_group);
  auto add_nodes = [&](const std::string& name, texts& nodes) {
    app.add_option(name, nodes, "Likewise.")
        ->delimiter(',')
        ->type_name("HOST/PORT,...")
        ->allow_extra_args(false)
        ->group(caf_group);
  };
  add_nodes("--caf#bootstrap-node", launch.bootstrap_nodes);
  add_nodes("--caf#slave-nodes", launch.slave_nodes);
}

void add_caf(CLI::App& app, const caf::config_option& option, texts& words) {
  auto name = "--" + plain(option.full_name());
  // An option of ours hides one of CAF's that has the same name.
  if (option.has_flat_cli_name() || app.get_option_no_throw(name))
    return;
  auto type = plain(option.type_name());
  auto take = [&option, &words, name, type](const texts& all) {
    if (!option.parse(all.back()))
      throw mistake{name + " wants a " + type + " in CAF's notation, not '"
                    + all.back() + "'."};
    words.push_back(name + "=" + all.back());
  };
  add(app, name + ",--caf#" + name.substr(2), "<" + type + ">",
      option.is_flag(), take)
      ->description(plain(option.description()))
      ->group(caf_group);
}

std::string no_such_option(const CLI::App& app, const std::string& command,
                           const std::string& word) {
  auto name = word.substr(word.find_first_not_of('-'));
  // CAF 0.18 wrote --caf.scheduler.max-threads.
  if (starts_with(name, "caf.")
      && app.get_option_no_throw("--" + name.substr(4)))
    return word + " is the syntax of CAF 0.18: write --" + name.substr(4) + ".";
  texts known;
  for (auto option : app.get_options())
    if (option->nonpositional())
      known.push_back(option->get_lnames().front());
  auto guess = app.get_option_no_throw("--caf#" + name)
                   ? "caf#" + name
                   : nearest_name(name, known);
  return "there is no option " + word + ": "
         + (guess.empty() ? "see potluck " + command + " --help."
                          : "did you mean --" + guess + "?");
}

std::string sentence_for(const CLI::App& app, const CLI::ParseError& error) {
  std::string what = error.what();
  auto name = what.substr(0, what.find(':'));
  if (dynamic_cast<const CLI::FileError*>(&error))
    return "cannot read the configuration file '"
           + app.get_config_ptr()->as<std::string>()
           + "': check the path behind --config-file.";
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    return name + " needs a value: write " + name + "="
           + app.get_option(name)->get_type_name() + ".";
  return what + ".";
}

texts last_first(const texts& words) {
  texts result;
  for (auto word = words.rbegin(); word != words.rend(); ++word)
    // Where nothing stands behind `=`, CLI11 would take the next word.
    if (starts_with(*word, "--") && word->back() == '=') {
      result.push_back("");
      result.push_back(word->substr(0, word->size() - 1));
    } else {
      result.push_back(*word);
    }
  return result;
}

} // namespace potluck::cli
