#include "tools/potluck/options.hpp"

#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <climits>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tools/potluck/options_file.hpp"
#include "tools/potluck/options_words.hpp"

namespace potluck::cli {

namespace {

using texts = std::vector<std::string>;

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
  app.formatter(std::make_shared<help_format>(spec_.usage));
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
  auto help = [&](bool whole) {
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
    if (!whole)
      for (auto option : app.get_options())
        if (option->get_group() == caf_group)
          option->group("");
    return app.help();
  };
  add_common(app, dumps);
  add_launch(app, launch_);
  for (const auto& option : custom_options_)
    add_caf(app, option, caf_words);
  if (spec_.positionals > 0)
    app.add_option("words", positionals_)->expected(0, INT_MAX)->group("");
  try {
    app.parse(last_first(words));
  } catch (const CLI::CallForAllHelp&) {
    answer = help(true);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    answer = help(false);
    return std::nullopt;
  } catch (const mistake& x) {
    // In a file, for instance: whoever asks for help wants to mend it.
    const bool whole = app.get_help_all_ptr()->count() > 0;
    if (!whole && app.get_help_ptr()->count() == 0)
      return x.sentence;
    answer = help(whole);
    return std::nullopt;
  } catch (const CLI::ParseError& e) {
    return sentence_for(app, e);
  }
  auto too_many = [this](const std::string& word) {
    return "'" + word + "' is one word too many: options begin with --, see "
           + "potluck " + spec_.name + " --help.";
  };
  for (const auto& word : app.remaining()) {
    if (word == "--")
      continue;
    if (word.size() > 1 && word[0] == '-')
      return no_such_option(app, spec_.name, word.substr(0, word.find('=')));
    return too_many(word);
  }
  if (positionals_.size() > spec_.positionals)
    return too_many(positionals_[spec_.positionals]);
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
