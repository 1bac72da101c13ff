#include "tools/caf_run/processes.hpp"

#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace potluck::caf_run {

std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (auto c : text)
    quoted += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> command_for(const host_line& line,
                                     const std::vector<std::string>& words,
                                     const std::string& directory) {
  if (line.is_local())
    return words;
  auto remote = "cd " + shell_quoted(directory) + " && exec";
  for (const auto& word : words)
    remote += " " + shell_quoted(word);
  // Two -t give the remote process a terminal although we have none to lend:
  // it is hung up, and so ends, when this ssh ends.
  return {"ssh", "-tt", "-o", "BatchMode=yes", line.host, remote};
}

expected<pid_t> start(const std::vector<std::string>& words,
                      const std::string& log) {
  std::vector<char*> arguments;
  for (const auto& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  if (!log.empty()) {
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK
                                            | POSIX_SPAWN_SETSIGDEF
                                            | POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  auto error = posix_spawnp(&pid, arguments[0], &files, &attributes,
                            arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    return failure{"could not be started ('" + words[0]
                   + "': " + std::strerror(error) + ")"};
  return pid;
}

void signal_group(pid_t leader, int signal) {
  ::kill(-leader, signal);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status))
    return "was ended by signal " + std::to_string(WTERMSIG(status)) + " ("
           + ::strsignal(WTERMSIG(status)) + ")";
  if (WEXITSTATUS(status) != 0)
    return "exited with status " + std::to_string(WEXITSTATUS(status));
  return "";
}

} // namespace potluck::caf_run
