/// `potluck import`: parameters that others have trained, as the beginning of a
/// run.

#include <filesystem>
#include <iostream>

#include "runtime/manifest/run_key.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/full/starting_point.hpp"
#include "tools/potluck/settings_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

int run_import(cli::command_line& options, const std::string&) {
  if (options.positionals().size() != 1)
    return complain("Name what to import: potluck import FOLDER.");
  const auto name = options.text("run");
  if (auto problem = problem_with_run_name(name); !problem.empty())
    return complain("--run: '" + name + "' is no name for a run: " + problem
                    + ".");
  const auto path
      = options.given("output") ? options.text("output") : name + ".checkpoint";
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown))
    return complain("There is a file " + path
                    + " already; name another with --output FILE.");
  if (auto settings = settings_from(options); !settings)
    return complain(settings.error());
  auto begin = start_from(options.positionals().front(), name,
                          demanded_settings(options));
  if (!begin)
    return complain(begin.error());
  for (const auto& note : begin->notes)
    complain(note);
  auto saved = save_checkpoint(path, begin->first.charter, begin->first.state);
  if (!saved)
    return complain(saved.error(), failed);
  std::cout << "Wrote " << path << " (" << begin->first.charter.settings().model
            << ", " << begin->first.state.parameters.size()
            << " parameters). Train it with `potluck join --resume " << path
            << " --data PATH`." << std::endl;
  return all_well;
}

} // namespace

command import_command() {
  cli::command_spec spec;
  spec.name = "import";
  spec.summary = "Make a checkpoint of a model that was trained elsewhere";
  spec.usage = "potluck import FOLDER [--output FILE] [OPTION]...\n"
               "       potluck import CHECKPOINT [OPTION]...";
  spec.positionals = 1;
  spec.notes
      = "A FOLDER has model.safetensors, config.json (Hugging Face's of "
        "an ALBERT, or what\n`potluck export` wrote) and, for models of "
        "text, spiece.model. The checkpoint is step 0\nof a trial of the "
        "name --run; its other settings are as the flags say. Of a "
        "CHECKPOINT\nthe parameters are taken, and what the flags do "
        "not say.\n";
  spec.options
      = {{"output", option_kind::text, "",
          "The checkpoint to write (default: RUN.checkpoint).", "FILE"}};
  for (auto& option : settings_options()) {
    if (option.name == "run")
      option.default_text = "imported";
    spec.options.push_back(option);
  }
  return {spec, run_import};
}

} // namespace potluck::tools
