/// `potluck export`: a checkpoint in the form that other programs read.

#include <iostream>

#include "models/catalogue.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/layout_text.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/safetensors.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

int run_export(cli::command_line& options, const std::string&) {
  if (options.text("format") != "safetensors")
    return complain("--format: '" + options.text("format")
                    + "' is not known; write safetensors.");
  if (!options.given("checkpoint"))
    return complain("Name the checkpoint to export with --checkpoint FILE.");
  auto saved = load_checkpoint(options.text("checkpoint"));
  if (!saved)
    return complain(saved.error());
  auto layout = layout_of(saved->charter);
  if (!layout)
    return complain(layout.error());
  if (saved->state.parameters.size() != layout->values())
    return complain("The checkpoint's parameters do not fit its model; it was "
                    "written by another version of potluck.");
  auto directory = options.text("output");
  auto done
      = export_safetensors(directory, saved->charter, *layout, saved->state);
  if (!done)
    return complain(done.error());
  const bool has_words = !saved->charter.tokenizer().empty();
  std::cout << "Wrote model.safetensors"
            << (has_words ? ", config.json and the tokenizer"
                          : " and config.json")
            << " to " << directory << " (step " << saved->state.step << ", "
            << layout->values() << " parameters)." << std::endl;
  return all_well;
}

} // namespace

command export_command() {
  cli::command_spec spec;
  spec.name = "export";
  spec.summary = "Write a checkpoint's model for other programs";
  spec.usage = "potluck export --checkpoint FILE [--output DIR]";
  spec.options = {
      {"checkpoint", option_kind::text, "", "The checkpoint to export.",
       "FILE"},
      {"output", option_kind::text, "exported",
       "The directory to write to; made when missing.", "DIR"},
      {"format", option_kind::text, "safetensors",
       "safetensors, with a config.json (for albert, Hugging Face's).",
       "FORMAT"},
  };
  return {spec, run_export};
}

} // namespace potluck::tools
