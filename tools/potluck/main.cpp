/// `potluck`: one binary, a subcommand for every role.

#include <algorithm>
#include <csignal>
#include <iostream>

#include <sys/resource.h>

#include "runtime/config.hpp"
#include "runtime/nearest_name.hpp"
#include "tools/potluck/commands.hpp"

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
         "option can also stand\nin a file given with --config-file=FILE.\n";
}

const command* find(const std::string& name) {
  for (const auto& c : commands())
    if (c.spec.name == name)
      return &c;
  return nullptr;
}

/// A file a connection, and some: systems allow 1,024 unless one asks for more.
void allow_connections() {
  constexpr rlim_t wanted = potluck::limits::connections + 256;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
    return;
  files.rlim_cur = std::min(wanted, files.rlim_max);
  // Where it may not, later connections are refused: what else to do?
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
}

} // namespace

int main(int argc, char** argv) {
  // A connection that breaks is an error code here, not the process's end.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that may not grow any further.
  std::signal(SIGXFSZ, SIG_IGN);
  allow_connections();
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
  auto chosen = find(words[0]);
  if (!chosen) {
    std::vector<std::string> names;
    for (const auto& c : commands())
      names.push_back(c.spec.name);
    auto near = potluck::nearest_name(words[0], names);
    return potluck::tools::complain(
        "'" + words[0] + "' is not a subcommand; "
        + (near.empty() ? "see `potluck help`."
                        : "did you mean '" + near + "'? See `potluck help`."));
  }
  words.erase(words.begin());
  auto parsed = potluck::cli::parse_command(chosen->spec, words);
  if (parsed.exit_code)
    return *parsed.exit_code;
  return chosen->run(parsed.config, argv[0]);
}
