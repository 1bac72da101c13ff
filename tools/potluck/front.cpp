#include "tools/potluck/front.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>

#include <sys/resource.h>
#include <unistd.h>

#include "runtime/ports/transport.hpp"

namespace potluck::tools {

namespace {

constexpr auto full_program = "potluck-full";

char** words_of_this_process = nullptr;

/// A file a connection, and some: systems allow 1,024 unless one asks for more.
void allow_connections() {
  constexpr rlim_t wanted = most_connections + 256;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= wanted)
    return;
  files.rlim_cur = std::min(wanted, files.rlim_max);
  // Where it may not, later connections are refused: what else to do?
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
}

} // namespace

void prepare_process() {
  // A connection that breaks is an error code here, not the process's end.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that may not grow any further.
  std::signal(SIGXFSZ, SIG_IGN);
  allow_connections();
}

const std::vector<std::string>& command_names() {
  static const std::vector<std::string> names{
      "demo",   "create", "amend", "bootstrap", "authority",  "delegate",
      "join",   "doctor", "dht",   "expert",    "checkpoint", "import",
      "export", "eval",   "sim",   "chaos",     "plan",       "bench"};
  return names;
}

command one_of_all(command c) {
  for (const auto& name : command_names())
    if (name != c.spec.name)
      c.spec.siblings.push_back(name);
  return c;
}

int run_command(const command& chosen, const std::vector<std::string>& words,
                const std::string& program) {
  try {
    auto parsed = cli::parse_command(chosen.spec, words);
    if (parsed.exit_code)
      return *parsed.exit_code;
    return chosen.run(parsed.config, program);
  } catch (const std::exception& x) {
    return complain(x.what(), failed);
  }
}

void remember_words(char** argv) {
  words_of_this_process = argv;
}

expected<std::string> path_beside(const std::string& name) {
  std::error_code problem;
  auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem)
    return failure{"This program's own file is not known, since /proc is not "
                   "mounted: mount it."};
  return self.replace_filename(name).string();
}

int become_full() {
  auto full = path_beside(full_program);
  if (!full)
    return complain(full.error(), failed);
  ::execv(full->c_str(), words_of_this_process);
  return complain("Cannot start " + *full + ": " + std::strerror(errno)
                      + ". It belongs beside potluck; build or install both.",
                  failed);
}

int complain(const std::string& sentence, int status) {
  std::cerr << "potluck: " << sentence << std::endl;
  return status;
}

} // namespace potluck::tools
