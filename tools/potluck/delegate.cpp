/// `potluck delegate`: say that a machine is yours.

#include <iostream>

#include "runtime/uv/wall_clock.hpp"
#include "tools/potluck/admission_options.hpp"
#include "tools/potluck/commands.hpp"
#include "tools/potluck/peer_options.hpp"

namespace potluck::tools {

namespace {

using cli::option_kind;

std::vector<cli::option_spec> delegate_options() {
  return {
      {"key", option_kind::text, "",
       "Sign with the person's key in this file (default: person in the "
       "identity directory); made when it is missing.",
       "FILE"},
      {"life", option_kind::text, "365d", "How long it counts.", "TIME"},
  };
}

int run_delegate(cli::command_line& options, const std::string&) {
  const auto directory = identity_directory(options);
  if (directory.empty())
    return complain("Name a folder for keys with --identity-dir DIR.");
  const auto file = key_file(options, "key", directory + "/person");
  if (!file)
    return complain(file.error());
  auto person = identity::key_in(file->parent_path(), file->filename());
  if (!person)
    return complain(person.error());
  if (options.positionals().empty()) {
    auto machine = identity::key_in(directory, "identity");
    if (!machine)
      return complain(machine.error());
    std::cout << "This machine is " << to_string(machine->id())
              << ",\nand the person " << to_string(person->id())
              << ".\nThe authority of a run admits the person; `potluck "
                 "delegate MACHINE` prints what\nanother machine of the "
                 "person's gives to `potluck join` as --delegation.\n";
    return all_well;
  }
  auto machine = parse_id<peer_id>(options.positionals().front());
  if (!machine || machine->empty())
    return complain("'" + options.positionals().front()
                    + "' is no machine's id: write the 64 hex digits that "
                      "`potluck delegate` prints there.");
  auto life = read_life(options.text("life"));
  if (!life)
    return complain("--life: " + life.error());
  const auto until
      = wall_clock_ms() + static_cast<std::uint64_t>(life->count());
  std::cout << to_text(delegate_to(*machine, until, *signatures_of(*person)))
            << std::endl;
  return all_well;
}

} // namespace

command delegate_command() {
  cli::command_spec spec;
  spec.name = "delegate";
  spec.summary = "Say that another machine is yours, where runs admit people";
  spec.usage = "potluck delegate [MACHINE] [OPTION]...";
  spec.positionals = 1;
  spec.options = delegate_options();
  for (auto& option : network_options())
    if (option.name == "identity-dir")
      spec.options.push_back(option);
  return {spec, run_delegate};
}

} // namespace potluck::tools
