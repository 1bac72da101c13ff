#include "tools/potluck/full/starting_point.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "models/catalogue.hpp"
#include "models/text/tokenizer.hpp"
#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/run_optimizer.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/potluck/safetensors.hpp"

namespace potluck::tools {

namespace {

namespace fs = std::filesystem;

/// Settings that are a run's own, and no part of what it trains.
const std::vector<std::string> of_the_run{"run",       "initial",  "admission",
                                          "authority", "vouchers", "successor"};

bool is_of_the_run(const std::string& name) {
  return std::count(of_the_run.begin(), of_the_run.end(), name) > 0;
}

struct source {
  run_settings settings;
  charter_files files;
  model_layout layout;
  std::vector<float> parameters;
  std::vector<std::string> notes;
};

expected<source> read_checkpoint_at(const std::string& path) {
  auto saved = load_checkpoint(path);
  if (!saved)
    return failure{saved.error()};
  source result;
  result.settings = saved->charter.settings();
  result.files = saved->charter.files();
  auto layout = layout_of(saved->charter);
  if (!layout)
    return failure{path + ": " + layout.error()};
  if (layout->values() != saved->state.parameters.size())
    return failure{path
                   + " does not fit its own model; it was written by another "
                     "version of potluck."};
  result.layout = std::move(*layout);
  result.parameters = std::move(saved->state.parameters);
  return result;
}

expected<std::string> read_tokenizer(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  constexpr std::size_t most = 15u << 20; // Of a charter's files.
  std::string bytes(most + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.empty())
    return failure{"there is no tokenizer " + path
                   + "; put the model's spiece.model there"};
  if (bytes.size() > most)
    return failure{path
                   + " is no tokenizer; put the model's spiece.model "
                     "there"};
  return bytes;
}

/// Puts the tokenizer in, if the model reads text.
expected<bool> add_tokenizer(const std::string& folder, source& to) {
  const auto& data = to.settings.own["data"];
  const auto vocabulary = data.find("vocabulary");
  if (vocabulary == data.end())
    return true;
  const auto path = folder + "/spiece.model";
  auto bytes = read_tokenizer(path);
  if (!bytes)
    return failure{bytes.error()};
  auto words = tokenizer::open(*bytes);
  if (!words)
    return failure{path + ": " + words.error()};
  if (std::to_string((*words)->vocabulary()) != vocabulary->second)
    return failure{path + " has " + std::to_string((*words)->vocabulary())
                   + " pieces, and the model has " + vocabulary->second
                   + "; put the tokenizer there that it was trained with"};
  to.files["tokenizer"] = std::move(*bytes);
  if (lowers_case(folder + "/tokenizer_config.json"))
    to.notes.push_back(
        "This model was trained on small letters (do_lower_case in "
        "tokenizer_config.json), and Potluck leaves capitals as they are: "
        "give it text without them.");
  return true;
}

expected<source> read_folder(const std::string& folder) {
  source result;
  auto config = read_model_config(folder + "/config.json");
  if (!config)
    return failure{config.error()};
  config->erase(std::remove_if(config->begin(), config->end(),
                               [](auto& x) { return is_of_the_run(x.name); }),
                config->end());
  if (auto done = assign(result.settings, *config, known_families()); !done)
    return failure{folder + "/config.json: " + done.error()};
  if (result.settings.model == script_model)
    return failure{folder
                   + " has the parameters of a TorchScript model, and not its "
                     "code; name the run's checkpoint instead, or found a run "
                     "of the code with `potluck create NAME --model FILE.pt`."};
  complete(result.settings, known_families());
  auto layout = layout_of(result.settings);
  if (!layout)
    return failure{folder + "/config.json: " + layout.error()};
  const bool is_albert = result.settings.model == "albert";
  auto values = read_safetensors(folder + "/model.safetensors", *layout,
                                 is_albert ? spare_tensors_of_albert()
                                           : spare_tensors{});
  if (!values)
    return failure{values.error()};
  result.layout = std::move(*layout);
  result.parameters = std::move(*values);
  if (auto done = add_tokenizer(folder, result); !done)
    return failure{done.error()};
  return result;
}

/// The settings that come along, but for those that are changed.
expected<run_settings> settings_for(const std::string& run, const source& from,
                                    const std::vector<setting>& changed) {
  auto result = from.settings;
  const run_settings usual;
  result.run = run;
  result.initial = usual.initial;
  result.admission = usual.admission;
  result.authority = usual.authority;
  result.vouchers = usual.vouchers;
  result.successor = usual.successor;
  const auto given = [&](const char* name) {
    return std::any_of(changed.begin(), changed.end(),
                       [&](auto& x) { return x.name == name; });
  };
  if (given("optimizer"))
    result.own.erase("optimizer"); // Another one has other settings.
  if (auto done = assign(result, changed, known_families()); !done)
    return failure{"--" + done.error()};
  if (!given("warmup-steps"))
    result.warmup_steps = std::min(
        result.warmup_steps, std::max<std::uint64_t>(1, result.steps / 10));
  if (!is_tensors_model(result.model))
    complete(result, known_families());
  if (auto problem = problem_with(result); !problem.empty())
    return failure{problem};
  return result;
}

} // namespace

expected<starting_point> start_from(const std::string& from,
                                    const std::string& run,
                                    const std::vector<setting>& changed) {
  std::error_code unknown;
  auto found = fs::is_directory(from, unknown) ? read_folder(from)
                                               : read_checkpoint_at(from);
  if (!found)
    return failure{found.error()};
  auto settings = settings_for(run, *found, changed);
  if (!settings)
    return failure{settings.error()};
  auto layout = layout_of(charter{*settings, found->files});
  if (!layout)
    return failure{layout.error()};
  if (auto problem = layout_difference(found->layout, *layout);
      !problem.empty())
    return failure{from
                   + " has another model than the flags ask for (here: "
                     "the file, there: the flags): "
                   + problem + "; leave the flags of the model out."};
  if (auto optimizer = make_optimizer(*settings, *layout, 1); !optimizer)
    return failure{optimizer.error()};
  starting_point result;
  auto& state = result.first.state;
  state = initial_state(*layout, settings->seed, moments_kept(*settings));
  state.parameters = std::move(found->parameters);
  state.recent.clear();
  settings->initial = to_string(remember_digest(state));
  found->files[layout_file] = to_layout_text(*layout);
  result.first.charter = charter(std::move(*settings), std::move(found->files));
  result.notes = std::move(found->notes);
  return result;
}

} // namespace potluck::tools
