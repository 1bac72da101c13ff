#include "tools/potluck/full/program.hpp"

#include <iostream>

#include "messages/handshake.hpp"
#include "models/blas_kernels.hpp"
#include "runtime/nearest_name.hpp"
#include "tools/potluck/front.hpp"

namespace potluck::tools {

namespace {

void print_help(std::ostream& out) {
  out << "potluck: train one neural network on everybody's computers\n\n"
         "Usage: potluck SUBCOMMAND [OPTION]...\n\n";
  for (const auto& c : commands()) {
    auto name = c.spec.name;
    name.resize(12, ' ');
    out << "  " << name << c.spec.summary << "\n";
  }
  out << "\n`potluck SUBCOMMAND --help` lists a subcommand's options. Every "
         "option can also stand\nin a file given with --config-file=FILE. "
         "`potluck --version` says what this is.\n";
}

void print_version() {
  std::cout << "potluck " POTLUCK_VERSION ", protocol version "
            << protocol_version
            << "\n"
               "Licence GPL-3.0-or-later: you may change and pass it on under "
               "the GNU General Public\nLicense, version 3 or later "
               "(/usr/share/common-licenses/GPL-3). There is no warranty.\n";
}

const command* find(const std::string& name) {
  for (const auto& c : commands())
    if (c.spec.name == name)
      return &c;
  return nullptr;
}

} // namespace

int run_program(int argc, char** argv) {
  use_better_kernels(argv);
  prepare_process();
  std::vector<std::string> words{argv + 1, argv + argc};
  if (words.empty()) {
    print_help(std::cerr);
    return users_mistake;
  }
  if (words[0] == "help" && words.size() > 1)
    words = {words[1], "--help"};
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    print_help(std::cout);
    return all_well;
  }
  if (words[0] == "version" || words[0] == "--version") {
    print_version();
    return all_well;
  }
  auto chosen = find(words[0]);
  if (!chosen) {
    auto near = nearest_name(words[0], command_names());
    return complain(
        "'" + words[0] + "' is not a subcommand; "
        + (near.empty() ? "see `potluck help`."
                        : "did you mean '" + near + "'? See `potluck help`."));
  }
  words.erase(words.begin());
  return run_command(*chosen, words, argv[0]);
}

} // namespace potluck::tools
