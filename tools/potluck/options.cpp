#include "tools/potluck/options.hpp"

#include <caf/config_option_set.hpp>
#include <caf/deep_to_string.hpp>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "runtime/nearest_name.hpp"

namespace potluck::cli {

namespace {

using complaint = std::optional<std::string>;

/// Text to value; nothing if the text is none of this kind.
std::optional<caf::config_value> to_value(option_kind kind,
                                          const std::string& text) {
  auto whole = [&](auto number) -> std::optional<caf::config_value> {
    auto end = text.data() + text.size();
    auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end || text.empty())
      return std::nullopt;
    return caf::config_value{number};
  };
  switch (kind) {
    case option_kind::text:
      return caf::config_value{text};
    case option_kind::integer:
      return whole(std::int64_t{0});
    case option_kind::real:
      return whole(double{0});
    case option_kind::flag:
      if (text == "true" || text == "false")
        return caf::config_value{text == "true"};
      return std::nullopt;
    case option_kind::list:
      return caf::config_value{
          caf::config_value::list{caf::config_value{text}}};
  }
  throw std::logic_error("an option of no known kind");
}

bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in{text};
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

} // namespace

// -- values -------------------------------------------------------------------

command_line::command_line(command_spec spec) : spec_(std::move(spec)) {
  // CAF's default, work stealing, polls thousands of times a second while there
  // is nothing to do: not on computers that people use for other things.
  set("scheduler.policy", caf::atom("sharing"));
  for (const auto& option : spec_.options)
    assign_default(option);
}

void command_line::assign_default(const option_spec& option) {
  auto fitting = option.default_text;
  if (fitting.empty() && option.kind == option_kind::flag)
    fitting = "false";
  if (fitting.empty()
      && (option.kind == option_kind::integer
          || option.kind == option_kind::real))
    fitting = "0";
  auto initial = option.kind == option_kind::list && fitting.empty()
                     ? caf::config_value{caf::config_value::list{}}
                     : to_value(option.kind, fitting);
  if (!initial)
    throw std::logic_error("the default of --" + option.name
                           + " is not of its kind");
  values_[option.name] = std::move(*initial);
}

const option_spec* command_line::find(const std::string& name) const {
  auto hit = std::find_if(spec_.options.begin(), spec_.options.end(),
                          [&](const auto& x) { return x.name == name; });
  return hit == spec_.options.end() ? nullptr : &*hit;
}

const caf::config_value& command_line::value(const std::string& name,
                                             option_kind kind) const {
  auto option = find(name);
  if (option == nullptr || option->kind != kind)
    throw std::logic_error("the command '" + spec_.name
                           + "' has no such option of this kind: " + name);
  return values_.at(name);
}

std::string command_line::text(const std::string& name) const {
  return caf::get<std::string>(value(name, option_kind::text));
}

std::vector<std::string> command_line::list(const std::string& name) const {
  std::vector<std::string> result;
  for (const auto& x :
       caf::get<caf::config_value::list>(value(name, option_kind::list)))
    result.push_back(caf::get<std::string>(x));
  return result;
}

std::int64_t command_line::integer(const std::string& name) const {
  return caf::get<std::int64_t>(value(name, option_kind::integer));
}

double command_line::real(const std::string& name) const {
  return caf::get<double>(value(name, option_kind::real));
}

bool command_line::flag(const std::string& name) const {
  return caf::get<bool>(value(name, option_kind::flag));
}

bool command_line::given(const std::string& name) const {
  if (find(name) == nullptr)
    throw std::logic_error("the command '" + spec_.name
                           + "' has no such option: " + name);
  return given_.count(name) > 0;
}

// -- the command line ---------------------------------------------------------

complaint command_line::read(const std::vector<std::string>& words,
                             request& asked) {
  // First the words, for they name the file; but their values count last.
  if (auto wrong = read_words(words, asked))
    return wrong;
  if (asked.help || asked.long_help)
    return std::nullopt;
  auto by_words = values_;
  auto given_by_words = given_;
  if (auto wrong = read_file())
    return wrong;
  for (const auto& name : given_by_words)
    values_[name] = by_words[name];
  std::istringstream ini{file_text_};
  if (auto error = parse(caf_words_, ini))
    return "CAF refuses its options: " + render(error) + ".";
  for (const auto& [name, x] : values_)
    content[name] = x;
  return std::nullopt;
}

complaint command_line::read_words(const std::vector<std::string>& words,
                                   request& asked) {
  auto positional = [&](const std::string& word) -> complaint {
    positionals_.push_back(word);
    if (positionals_.size() <= spec_.positionals)
      return std::nullopt;
    return "'" + word + "' is one word too many: options begin with --, see "
           + "potluck " + spec_.name + " --help.";
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "--") {
      for (++i; i < words.size(); ++i)
        if (auto wrong = positional(words[i]))
          return wrong;
      break;
    }
    if (word == "-h" || word == "-?") {
      asked.help = true;
      continue;
    }
    if (word.empty() || word[0] != '-' || word == "-") {
      if (auto wrong = positional(word))
        return wrong;
      continue;
    }
    if (!starts_with(word, "--"))
      return no_such_option(word);
    auto equals = word.find('=');
    auto written = word.substr(2, equals == word.npos ? equals : equals - 2);
    std::optional<std::string> argument;
    if (equals != word.npos)
      argument = word.substr(equals + 1);
    auto name = written;
    if (starts_with(name, "caf#")) {
      name.erase(0, 4);
      if (name == "slave-mode" || name == "slave-name"
          || name == "bootstrap-node" || name == "slave-nodes") {
        if (auto wrong = read_launch_option(name, argument))
          return wrong;
        continue;
      }
    }
    // An option of ours hides one of CAF's that has the same name.
    auto own = name == written ? find(name) : nullptr;
    auto cafs = own ? nullptr : custom_options_.cli_long_name_lookup(name);
    if (own == nullptr && cafs == nullptr)
      return no_such_option(written);
    auto is_flag = own ? own->kind == option_kind::flag : cafs->is_flag();
    if (!argument && is_flag)
      argument = "true";
    if (!argument) { // --name value
      if (i + 1 == words.size() || starts_with(words[i + 1], "--"))
        return "--" + written + " needs a value: write --" + written + "="
               + (own && !own->placeholder.empty() ? own->placeholder : "VALUE")
               + ".";
      argument = words[++i];
    }
    complaint wrong;
    if (own)
      wrong = read_own_option(*own, *argument);
    else if (name == "help")
      asked.help = true;
    else if (name == "long-help")
      asked.long_help = true;
    else if (name == "dump-config")
      asked.dump_config = true;
    else if (name == "config-file") {
      file_ = *argument;
      file_named_ = true;
    } else
      wrong = read_caf_option(*cafs, written, *argument);
    if (wrong)
      return wrong;
  }
  return std::nullopt;
}

complaint
command_line::read_launch_option(const std::string& name,
                                 const std::optional<std::string>& argument) {
  if (name == "slave-mode") {
    if (argument && *argument != "true" && *argument != "false")
      return "--caf#slave-mode is a flag: write it without '=" + *argument
             + "'.";
    launch_.slave_mode = argument.value_or("true") == "true";
    return std::nullopt;
  }
  if (!argument || argument->empty())
    return "--caf#" + name + " needs a value: write --caf#" + name + "="
           + (name == "slave-name" ? "HOST." : "HOST/PORT.");
  if (name == "slave-name")
    launch_.slave_name = *argument;
  else if (name == "bootstrap-node")
    launch_.bootstrap_nodes = split(*argument, ',');
  else
    launch_.slave_nodes = split(*argument, ',');
  return std::nullopt;
}

complaint command_line::read_caf_option(const caf::config_option& option,
                                        const std::string& written,
                                        const std::string& argument) {
  if (!option.parse(argument))
    return "--" + written + " wants a " + plain(option.type_name())
           + " in CAF's notation, not '" + argument + "'.";
  caf_words_.push_back("--" + plain(option.full_name()) + "=" + argument);
  return std::nullopt;
}

complaint command_line::read_own_option(const option_spec& option,
                                        const std::string& argument) {
  if (option.kind == option_kind::list) {
    auto& all = listed_[option.name];
    all.push_back(argument);
    caf::config_value::list values;
    for (const auto& x : all)
      values.emplace_back(x);
    values_[option.name] = caf::config_value{std::move(values)};
    given_.insert(option.name);
    return std::nullopt;
  }
  auto parsed = to_value(option.kind, argument);
  if (parsed) {
    values_[option.name] = std::move(*parsed);
    given_.insert(option.name);
    return std::nullopt;
  }
  auto start = "--" + option.name;
  if (option.kind == option_kind::flag)
    return start + " is a flag: write " + start + ", " + start + "=true or "
           + start + "=false, not '" + argument + "'.";
  auto example = option.default_text.empty() ? "1" : option.default_text;
  return start + " wants a "
         + (option.kind == option_kind::integer ? "whole number" : "number")
         + ", not '" + argument + "': write for instance " + start + "="
         + example + ".";
}

std::string command_line::no_such_option(const std::string& name) const {
  // CAF 0.18 wrote --caf.scheduler.max-threads.
  if (starts_with(name, "caf.")
      && custom_options_.cli_long_name_lookup(name.substr(4)))
    return "--" + name + " is the syntax of CAF 0.18: write --" + name.substr(4)
           + ".";
  std::vector<std::string> known;
  for (const auto& option : spec_.options)
    known.push_back(option.name);
  for (const auto& option : custom_options_)
    known.push_back(option.has_flat_cli_name() ? plain(option.long_name())
                                               : plain(option.full_name()));
  for (std::string launch :
       {"slave-mode", "slave-name", "bootstrap-node", "slave-nodes"}) {
    if (name == launch)
      return "there is no option --" + name + ": did you mean --caf#" + launch
             + "?";
    known.push_back("caf#" + launch);
  }
  auto shown = name[0] == '-' ? name : "--" + name;
  auto guess = nearest_name(name[0] == '-' ? name.substr(1) : name, known);
  if (guess.empty())
    return "there is no option " + shown + ": see potluck " + spec_.name
           + " --help.";
  return "there is no option " + shown + ": did you mean --" + guess + "?";
}

// -- entry --------------------------------------------------------------------

parsed_command parse_command(const command_spec& spec,
                             const std::vector<std::string>& words,
                             std::ostream& out, std::ostream& err) {
  auto owner = std::make_unique<command_line>(spec);
  auto& config = *owner;
  command_line::request asked;
  std::optional<int> exit_code;
  if (auto wrong = config.read(words, asked)) {
    err << "potluck " << spec.name << ": " << *wrong << '\n';
    exit_code = 2;
  } else if (asked.help || asked.long_help) {
    out << config.help(asked.long_help);
    exit_code = 0;
  } else if (asked.dump_config) {
    out << config.dump();
    exit_code = 0;
  }
  return {std::move(owner), config, exit_code};
}

parsed_command parse_command(const command_spec& spec, int argc, char** argv) {
  return parse_command(spec, std::vector<std::string>(argv, argv + argc));
}

} // namespace potluck::cli
