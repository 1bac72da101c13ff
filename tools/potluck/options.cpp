#include "tools/potluck/options.hpp"

#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "runtime/nearest_name.hpp"
#include "tools/potluck/options_file.hpp"

namespace potluck::cli {

namespace {

using texts = std::vector<std::string>;

std::string plain(caf::string_view text) {
  return {text.begin(), text.end()};
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

/// The shortest digits that are read back as the same number.
template <class... Format>
std::string digits_of(double number, Format... format) {
  std::array<char, 400> digits;
  auto end = digits.data() + digits.size();
  return {digits.data(),
          std::to_chars(digits.data(), end, number, format...).ptr};
}

/// Shown by `--long-help` only.
constexpr auto caf_group
    = "of the actor system (CAF), in the file under [scheduler] and so on";

/// Help in 80 columns, each option as it can be written.
class formatter : public CLI::Formatter {
public:
  explicit formatter(std::string usage) : usage_(std::move(usage)) {
  }

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nusage: " + usage_ + "\n\n";
  }

  std::string
  make_group(std::string name, bool is_positional,
             std::vector<const CLI::Option*> options) const override {
    // Behind a blank line already.
    return CLI::Formatter::make_group(name, is_positional, options).substr(1);
  }

  std::string make_option(const CLI::Option* option, bool) const override {
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

private:
  std::string usage_;
};

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

constexpr auto own_group = "options";

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
                    + digits_of(least, std::chars_format::fixed)
                    + (std::isinf(most)
                           ? ""
                           : " to " + digits_of(most, std::chars_format::fixed))
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

/// @param words For CAF's own parser, in its notation.
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

/// What CLI11 has to say, as a sentence of ours.
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

/// The words as CLI11 wants them: the last one first.
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

} // namespace

command_line::command_line(command_spec spec) : spec_(std::move(spec)) {
  // CAF's default, work stealing, polls thousands of times a second while there
  // is nothing to do: not on computers that people use for other things.
  set("scheduler.policy", caf::atom("sharing"));
  for (const auto& option : spec_.options) {
    auto kind = option.kind;
    texts initial{option.default_text};
    if (option.default_text.empty() && kind == option_kind::list)
      initial.clear();
    else if (option.default_text.empty() && kind != option_kind::text)
      initial = {kind == option_kind::flag ? "false" : "0"};
    auto value = to_value(kind, initial);
    if (!value)
      throw std::logic_error("the default of --" + option.name
                             + " is not of its kind");
    values_[option.name] = std::move(*value);
  }
}

std::optional<std::string> command_line::read(const texts& words,
                                              std::string& answer) {
  CLI::App app{spec_.summary};
  auto file = std::make_shared<options_file>(spec_, custom_options_, app);
  app.formatter(std::make_shared<formatter>(spec_.usage));
  app.config_formatter(file);
  app.footer(spec_.notes);
  app.allow_extras(); // Whose sentences are ours.
  bool dumps = false;
  texts caf_words;
  app.set_help_flag();
  for (const auto& option : spec_.options)
    if (!app.get_option_no_throw("--" + option.name))
      add_own(app, option, values_[option.name]);
  // What is shown depends on what was given beside --help.
  auto help = [&] {
    for (auto shown : app.get_options()) {
      if (shown->get_group() != own_group)
        continue;
      if (auto option = in_effect(shown->get_lnames().front()))
        shown->description(help_of(*option))
            ->group(option->only_with
                        ? "options with --" + option->only_with->option + "="
                              + text(option->only_with->option)
                        : own_group);
      else
        shown->group("");
    }
    return app.help();
  };
  add_common(app, dumps);
  add_launch(app, launch_);
  for (const auto& option : custom_options_)
    add_caf(app, option, caf_words);
  if (spec_.positionals > 0)
    app.add_option("words", positionals_)
        ->expected(0, static_cast<int>(spec_.positionals))
        ->group("");
  try {
    app.parse(last_first(words));
  } catch (const CLI::CallForAllHelp&) {
    answer = help();
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    for (auto option : app.get_options())
      if (option->get_group() == caf_group)
        option->group("");
    answer = help();
    return std::nullopt;
  } catch (const mistake& x) {
    return x.sentence;
  } catch (const CLI::ParseError& e) {
    return sentence_for(app, e);
  }
  for (const auto& word : app.remaining()) {
    if (word == "--")
      continue;
    if (word.size() > 1 && word[0] == '-')
      return no_such_option(app, spec_.name, word.substr(0, word.find('=')));
    return "'" + word + "' is one word too many: options begin with --, see "
           + "potluck " + spec_.name + " --help.";
  }
  std::istringstream ini{file->text()};
  if (auto error = parse(caf_words, ini))
    return "CAF refuses its options: " + render(error) + ".";
  for (const auto& [name, value] : values_) {
    if (app.count("--" + name) > 0)
      given_.insert(name);
    else if (auto option = in_effect(name); option && option->only_with)
      values_[name] = option->default_text;
    content[name]
        = std::visit([](const auto& x) { return caf::config_value{x}; }, value);
  }
  if (auto wrong = misplaced(); !wrong.empty())
    return wrong;
  if (dumps)
    answer = dump();
  return std::nullopt;
}

bool command_line::holds(const option_spec& option) const {
  if (!option.only_with)
    return true;
  const auto& values = option.only_with->values;
  const auto& given = text(option.only_with->option);
  return std::any_of(values.begin(), values.end(), [&](const auto& value) {
    if (value.front() != '*')
      return value == given;
    const auto end = value.size() - 1;
    return given.size() > end
           && given.compare(given.size() - end, end, value, 1) == 0;
  });
}

const option_spec* command_line::in_effect(const std::string& name) const {
  for (const auto& option : spec_.options)
    if (option.name == name && holds(option))
      return &option;
  return nullptr;
}

std::string command_line::misplaced() const {
  for (const auto& name : given_) {
    if (in_effect(name))
      continue;
    std::string chooser, values;
    for (const auto& option : spec_.options)
      if (option.name == name) {
        chooser = option.only_with->option;
        for (const auto& value : option.only_with->values)
          values += (values.empty() ? "" : " or ") + value;
      }
    return "--" + name + " goes with --" + chooser + "=" + values + ", and "
           + chooser + " is " + text(chooser) + ": change the one, or leave --"
           + name + " out.";
  }
  return {};
}

bool command_line::given(const std::string& name) const {
  if (values_.count(name) == 0)
    refuse(name);
  return given_.count(name) > 0;
}

texts command_line::given_words() const {
  texts result;
  for (const auto& name : given_) {
    auto say = [&](const std::string& text) {
      result.push_back("--" + name + "=" + text);
    };
    const auto& value = values_.at(name);
    if (auto all = std::get_if<texts>(&value))
      std::for_each(all->begin(), all->end(), say);
    else if (auto text = std::get_if<std::string>(&value))
      say(*text);
    else if (auto number = std::get_if<double>(&value))
      say(digits_of(*number));
    else
      say(caf::deep_to_string(content.find(name)->second));
  }
  return result;
}

void command_line::refuse(const std::string& name) const {
  throw std::logic_error("the command '" + spec_.name
                         + "' has no such option of this kind: " + name);
}

std::string command_line::dump() const {
  std::string result;
  auto write = [&](const std::string& name, const caf::config_value& x) {
    auto number = caf::get_if<double>(&x);
    result += name + "="
              + (number ? digits_of(*number) : caf::deep_to_string(x)) + "\n";
  };
  for (const auto& [name, value] : values_)
    if (in_effect(name))
      write(name, content.find(name)->second);
  for (const auto& [name, x] : content) {
    auto section = caf::get_if<caf::settings>(&x);
    if (section == nullptr || !is_caf_section(custom_options_, name))
      continue;
    result += "[" + name + "]\n";
    for (const auto& [key, inner] : *section)
      write(key, inner);
  }
  return result;
}

parsed_command parse_command(const command_spec& spec, const texts& words,
                             std::ostream& out, std::ostream& err) {
  auto owner = std::make_unique<command_line>(spec);
  auto& config = *owner;
  std::optional<int> exit_code;
  std::string answer;
  if (auto wrong = config.read(words, answer)) {
    err << "potluck " << spec.name << ": " << *wrong << '\n';
    exit_code = 2;
  } else if (!answer.empty()) {
    out << answer;
    exit_code = 0;
  }
  return {std::move(owner), config, exit_code};
}

} // namespace potluck::cli
