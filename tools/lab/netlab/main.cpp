// potluck-netlab: what tools/netlab runs.

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/lab/netlab/lab_birth.hpp"
#include "tools/lab/netlab/lab_run.hpp"

namespace {

using namespace potluck;
using namespace potluck::netlab;

constexpr const char* usage
    = "Emulates a small internet on this machine and runs commands on its "
      "hosts.\n"
      "\n"
      "usage: netlab [OPTION]... DESCRIPTION\n"
      "\n"
      "  --out=DIR             Logs and results; a folder that is new or "
      "empty\n"
      "                        (default: netlab-out).\n"
      "  --check               Only read the description and say what is "
      "wrong.\n"
      "  --without-namespaces  A proxy before each potluck instead of network\n"
      "                        namespaces: needs no privilege, but has no "
      "links.\n"
      "\n"
      "The exit status is 0 when all commands ended well, 1 when not, 2 for a\n"
      "mistake in what was asked, 3 when this machine cannot, 130 when\n"
      "interrupted.\n"
      "\n";

constexpr int mistaken = 2;
constexpr int incapable = 3;

int complain(const std::string& sentence, int status) {
  std::cerr << "netlab: " << sentence << '\n';
  return status;
}

sigset_t awaited_signals() {
  sigset_t result;
  sigemptyset(&result);
  for (auto x : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    sigaddset(&result, x);
  return result;
}

/// Passes what asks us to end on to the lab; how it ended. Precondition: the
/// awaited signals are blocked.
int wait_for(pid_t lab) {
  auto awaited = awaited_signals();
  int status = 0;
  while (::waitpid(lab, &status, WNOHANG) != lab) {
    int number = 0;
    if (::sigwait(&awaited, &number) == 0 && number != SIGCHLD)
      ::kill(lab, SIGTERM);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// The folder of this program: where its `potluck` lies, too.
void put_own_folder_on_the_path() {
  std::error_code problem;
  auto self = std::filesystem::read_symlink("/proc/self/exe", problem);
  const char* path = std::getenv("PATH");
  if (!problem)
    ::setenv(
        "PATH",
        (self.parent_path().string() + ":" + (path ? path : "/usr/bin:/bin"))
            .c_str(),
        1);
}

} // namespace

int main(int argc, char** argv) {
  std::string file, out = "netlab-out";
  bool only_check = false, namespaces = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--help" || word == "-h") {
      std::cout << usage << network_help();
      return 0;
    }
    if (word == "--check")
      only_check = true;
    else if (word == "--without-namespaces")
      namespaces = false;
    else if (word.rfind("--out=", 0) == 0)
      out = word.substr(6);
    else if (word == "--out" && i + 1 < argc)
      out = argv[++i];
    else if (word.rfind("-", 0) == 0)
      return complain("there is no option " + word + ": see netlab --help.",
                      mistaken);
    else if (!file.empty())
      return complain("one description at a time, not '" + word + "', too.",
                      mistaken);
    else
      file = word;
  }
  if (file.empty())
    return complain("which network? Write the path of a description.",
                    mistaken);
  auto what = load_network(file);
  if (!what)
    return complain(what.error(), mistaken);
  if (only_check)
    return 0;
  std::error_code problem;
  std::filesystem::create_directories(out, problem);
  auto where = std::filesystem::canonical(out, problem);
  if (problem)
    return complain("'" + out + "' cannot be made: " + problem.message() + ".",
                    mistaken);
  if (!std::filesystem::is_empty(where, problem))
    return complain("'" + out
                        + "' is not empty: name another folder with --out, or "
                          "remove it.",
                    mistaken);
  put_own_folder_on_the_path();
  auto awaited = awaited_signals();
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  auto birth = become_lab(namespaces);
  if (!birth)
    return complain(birth.error(), incapable);
  if (birth->side == lab_side::outside)
    return wait_for(birth->child);
  // Ctrl-C is for the outside, which passes it on.
  ::setpgid(0, 0);
  ::signal(SIGPIPE, SIG_IGN);
  expected<std::unique_ptr<host_network>> network
      = namespaces ? make_namespaces(what->seed) : make_proxies(what->seed);
  if (!network)
    return complain(network.error(), incapable);
  if (auto done = lay_out(*what, **network); !done)
    return complain(done.error(), incapable);
  return run_lab(*what, **network, where.string(), birth->lifeline);
}
