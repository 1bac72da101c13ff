/// `potluck-full`: all subcommands, with LibTorch for those that need it.

#include <iostream>

#include "messages/handshake.hpp"
#include "models/blas_kernels.hpp"
#include "runtime/nearest_name.hpp"
#include "tools/potluck/front.hpp"

namespace {

using potluck::tools::command;
using potluck::tools::commands;

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
            << potluck::protocol_version
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

int main(int argc, char** argv) {
  potluck::use_better_kernels(argv);
  potluck::tools::prepare_process();
  std::vector<std::string> words{argv + 1, argv + argc};
  if (words.empty()) {
    print_help(std::cerr);
    return potluck::tools::users_mistake;
  }
  if (words[0] == "help" && words.size() > 1)
    words = {words[1], "--help"};
  if (words[0] == "help" || words[0] == "--help" || words[0] == "-h") {
    print_help(std::cout);
    return potluck::tools::all_well;
  }
  if (words[0] == "version" || words[0] == "--version") {
    print_version();
    return potluck::tools::all_well;
  }
  auto chosen = find(words[0]);
  if (!chosen) {
    auto near
        = potluck::nearest_name(words[0], potluck::tools::command_names());
    return potluck::tools::complain(
        "'" + words[0] + "' is not a subcommand; "
        + (near.empty() ? "see `potluck help`."
                        : "did you mean '" + near + "'? See `potluck help`."));
  }
  words.erase(words.begin());
  return potluck::tools::run_command(*chosen, words, argv[0]);
}
