#include "tools/library/loop_options.hpp"

#include <algorithm>

#include "runtime/lines/rate.hpp"
#include "runtime/manifest/invitation.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/nearest_name.hpp"
#include "runtime/numbers.hpp"
#include "runtime/state/charter_fields.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/library/complaint.hpp"
#include "tools/library/outside_model.hpp"
#include "tools/potluck/peer_setup.hpp"

namespace potluck::library {

namespace {

/// Bytes per second below which heartbeats and reports alone would be late.
constexpr double least_cap = 8000;
constexpr std::uint64_t most_threads = 1024;
constexpr std::uint64_t most_checkpoints = 1000;

/// The value, or a complaint that begins with the option's name.
template <class T>
T sound(const std::string& name, expected<T> x) {
  if (!x)
    throw complaint{name + ": " + x.error()};
  return std::move(*x);
}

/// What optimizers, and loops that call experts, declare by this name, each in
/// its own way; all of them where it is empty.
std::vector<declared_setting> own_settings(const std::string& name) {
  std::vector<declared_setting> result;
  for (const auto* family : outside_families())
    for (const auto& kind : family->kinds)
      for (const auto& x : kind.settings)
        if (name.empty() || x.name == name)
          result.push_back(x);
  return result;
}

bool is_of_experts(const std::string& name) {
  const auto& all = outside_models().kinds.front().settings;
  return std::any_of(all.begin(), all.end(),
                     [&](auto& x) { return x.name == name; });
}

/// The tensors say them.
bool is_derived(const std::string& name) {
  return name == "model" || name == "initial";
}

} // namespace

loop_options::loop_options()
    : options_{{"run", run_settings{}.run},
               {"invitation", ""},
               {"peer", ""},
               {"listen", "[::]:0"},
               {"announce", ""},
               {"identity-dir", tools::default_identity_directory()},
               {"artifact", ""},
               {"max-artifacts", "2GB"},
               {"port-mapping", "yes"},
               {"max-upload", ""},
               {"max-download", ""},
               {"checkpoint", ""},
               {"checkpoint-every", "100"},
               {"checkpoint-keep", "3"},
               {"threads", "0"},
               {"log-json", ""},
               {"insecure", "no"},
               {"relay-experts", "no"}},
      listen_{address{"::", 0}} {
  settings_.model = tensors_model;
}

void loop_options::set(const std::string& name, const std::string& value) {
  const auto option = options_.find(name);
  if (option == options_.end()) {
    std::vector<std::string> known;
    for (const auto& x : options_)
      known.push_back(x.first);
    for (const auto& field : charter_fields())
      known.push_back(field.name);
    for (const auto& own : own_settings(""))
      known.push_back(own.name);
    if (std::count(known.begin(), known.end(), name) == 0) {
      const auto guess = nearest_name(name, known);
      throw complaint{"there is no option or setting '" + name + "'"
                      + (guess.empty() ? "; potluck.h lists them"
                                       : "; did you mean " + guess + "?")};
    }
    if (is_derived(name))
      throw complaint{"'" + name
                      + "' follows from the tensors, and cannot be set"};
    if (find_field(name)) {
      if (auto done = assign(settings_, name, value); !done)
        throw complaint{done.error()};
      given_[name] = value;
      return;
    }
    std::string problem;
    for (const auto& own : own_settings(name)) {
      auto read = own.read(value);
      problem = read ? "" : read.error();
      if (read)
        break;
    }
    if (!problem.empty())
      throw complaint{problem};
    own_.push_back({name, value});
    given_[name] = value;
    return;
  }
  if (name == "run") {
    if (auto problem = problem_with_run_name(value); !problem.empty())
      throw complaint{"'" + value + "' is no name for a run: " + problem};
    settings_.run = value;
  } else if (name == "invitation") {
    sound(name, read_invitation(value));
  } else if (name == "peer") {
    peers_.push_back(sound(name, tools::parse_contact(value)));
    if (given(name)) {
      option->second += " " + value;
      return;
    }
  } else if (name == "listen") {
    auto where = sound(name, parse_address(value));
    if (!given(name))
      listen_.clear();
    listen_.push_back(std::move(where));
    if (given(name)) {
      option->second += " " + value;
      return;
    }
  } else if (name == "artifact") {
    sound(name, add_own_artifact(artifacts_, value));
    if (given(name)) {
      option->second += " " + value;
      return;
    }
  } else if (name == "max-artifacts") {
    sound(name, read_bytes(value));
  } else if (name == "announce") {
    sound(name, parse_address(value));
  } else if (name == "port-mapping" || name == "insecure"
             || name == "relay-experts") {
    if (value != "yes" && value != "no")
      throw complaint{name + " must be yes or no, and is '" + value + "'"};
  } else if (name == "max-upload" || name == "max-download") {
    if (sound(name, read_rate(value)) < least_cap)
      throw complaint{name + ": " + value
                      + " is too little to take part; give it 64kbit at least"};
  } else if (name == "checkpoint-every" || name == "checkpoint-keep"
             || name == "threads") {
    std::uint64_t number = 0;
    if (!read_number(value, number)
        || (name == "checkpoint-keep"
            && (number == 0 || number > most_checkpoints))
        || (name == "threads" && number > most_threads))
      throw complaint{name + " must be a whole number"
                      + (name == "threads"
                             ? " up to " + std::to_string(most_threads)
                         : name == "checkpoint-keep"
                             ? " from 1 to " + std::to_string(most_checkpoints)
                             : "")
                      + ", and is '" + value + "'"};
  }
  option->second = value;
  given_[name] = value;
}

std::string loop_options::get(const std::string& name) const {
  if (auto option = options_.find(name); option != options_.end())
    return option->second;
  for (const auto& field : charter_fields())
    if (field.name == name)
      return field.print(settings_);
  if (!own_settings(name).empty()) {
    auto known = whole();
    complete(known, built_in_families());
    for (const auto& line : to_table(known))
      if (line.name == name)
        return line.value;
    throw complaint{is_of_experts(name)
                        ? "the run has no " + name
                              + ", since `experts` is not set"
                        : "the optimizer " + settings_.optimizer
                              + " has no setting '" + name + "'"};
  }
  throw complaint{"there is no option or setting '" + name
                  + "'; potluck.h lists them"};
}

run_settings loop_options::whole() const {
  auto result = settings_;
  if (auto done = assign(result, own_, outside_families()); !done)
    throw complaint{done.error()};
  if (!names_experts(result))
    return result;
  if (!calls_experts())
    throw complaint{"settings of experts are set, but not `experts`, which "
                    "names them"};
  if (auto done = complete_experts(result); !done)
    throw complaint{done.error()};
  return result;
}

run_settings loop_options::settings(const std::string& initial) const {
  auto result = whole();
  result.initial = initial;
  if (!given("warmup-steps"))
    result.warmup_steps = std::min(
        result.warmup_steps, std::max<std::uint64_t>(1, result.steps / 10));
  if (auto problem = problem_with(result); !problem.empty())
    throw complaint{problem};
  return result;
}

std::vector<setting> loop_options::demanded() const {
  std::vector<setting> result; // Which model it is the tensors say.
  for (const auto& field : charter_fields())
    if (given(field.name) && field.name != "run")
      result.push_back({field.name, field.print(settings_)});
  for (const auto& line : to_table(whole()))
    if (given(line.name) && !find_field(line.name))
      result.push_back(line);
  return result;
}

std::uint64_t loop_options::integer(const std::string& name) const {
  std::uint64_t number = 0;
  read_number(text(name), number); // Checked when it was set.
  return number;
}

double loop_options::rate(const std::string& name) const {
  return text(name).empty() ? 0 : sound(name, read_rate(text(name)));
}

} // namespace potluck::library
