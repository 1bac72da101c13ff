#include "runtime/admission/claim_program.hpp"

#include <cerrno>
#include <csignal>
#include <thread>

#include <spawn.h>
#include <sys/socket.h>
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
bool start(const std::string& program, int input, pid_t& child) {
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
  return started == 0;
}

} // namespace

bool says_yes(const std::string& program, const peer_id& who,
              const std::string& words, std::chrono::milliseconds limit) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return false;
  file_descriptor reading{ends[0]};
  file_descriptor writing{ends[1]};
  pid_t child = -1;
  if (!start(program, reading.get(), child))
    return false;
  reading = file_descriptor{};
  const bool told = write_all(writing.get(), to_string(who) + "\n" + words);
  writing = file_descriptor{};
  const auto over = std::chrono::steady_clock::now() + limit;
  int status = 0;
  for (;;) {
    const auto ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR))
      break;
    if (std::chrono::steady_clock::now() >= over) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(look_interval);
  }
  return told && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace potluck
