#include "runtime/admission/claim_program.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/state/file_descriptor.hpp"

extern char** environ;

namespace potluck {

namespace {

constexpr auto look_interval = std::chrono::milliseconds{5};

/// All of it: it is less than what a socket holds, so nobody waits.
bool write_all(int to, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n
        = ::send(to, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR)
      return errno == EPIPE || errno == ECONNRESET; // It need not read.
    done += n < 0 ? 0 : static_cast<std::size_t>(n);
  }
  return true;
}

/// In a process group of its own, so that what it starts ends with it, and with
/// signals as a shell's commands have them.
/// @returns An errno; 0: it has started.
int start(const std::string& program, int input, pid_t& child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t how;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&how);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  sigset_t none;
  sigset_t usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigmask(&how, &none);
  posix_spawnattr_setsigdefault(&how, &usual);
  posix_spawnattr_setpgroup(&how, 0);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK
                                     | POSIX_SPAWN_SETSIGDEF);
  auto path = program;
  char* words[] = {path.data(), nullptr};
  const auto started
      = posix_spawn(&child, path.c_str(), &files, &how, words, environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return started;
}

failure not_asked(const std::string& program, const std::string& why) {
  return {"The program " + program + " " + why
          + ", so those that it should judge wait; mend the program."};
}

failure not_started(const std::string& program, int problem) {
  return not_asked(program, std::string{"cannot be started ("}
                                + std::strerror(problem) + ")");
}

} // namespace

std::string problem_with_program(const std::string& program) {
  struct ::stat about = {};
  std::string why;
  if (::stat(program.c_str(), &about) != 0)
    why = std::strerror(errno);
  else if (!S_ISREG(about.st_mode))
    why = "it is no file";
  else if (::access(program.c_str(), X_OK) != 0)
    why = std::strerror(errno);
  return why.empty() ? ""
                     : "The program " + program + " cannot be started (" + why
                           + "); name the path of an executable file.";
}

expected<bool> ask_program(const std::string& program, const peer_id& peer,
                           const std::string& words,
                           std::chrono::milliseconds limit) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return not_started(program, errno);
  file_descriptor reading{ends[0]};
  file_descriptor writing{ends[1]};
  pid_t child = -1;
  if (const auto problem = start(program, reading.get(), child); problem != 0)
    return not_started(program, problem);
  reading = file_descriptor{};
  const bool told = write_all(writing.get(), to_string(peer) + "\n" + words);
  writing = file_descriptor{};
  const auto over = std::chrono::steady_clock::now() + limit;
  int status = 0;
  for (;;) {
    const auto ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child)
      break;
    if (ended < 0 && errno != EINTR)
      return not_asked(program, "ended with a status that nobody knows");
    if (std::chrono::steady_clock::now() >= over) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return not_asked(program, "did not end within "
                                    + std::to_string(limit.count()) + " ms");
    }
    std::this_thread::sleep_for(look_interval);
  }
  if (WIFSIGNALED(status))
    return not_asked(program,
                     "was ended by signal " + std::to_string(WTERMSIG(status)));
  if (!told)
    return not_asked(program, "could not be told the claim");
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace potluck
