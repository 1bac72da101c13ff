#include "tools/lab/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace potluck::tools {

namespace {

/// posix_spawn's two parameter objects, which free themselves.
class spawn_settings {
public:
  /// @param group To put the child into; 0 for a new one of its own.
  explicit spawn_settings(pid_t group) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, group);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK
                                              | POSIX_SPAWN_SETSIGDEF
                                              | POSIX_SPAWN_SETPGROUP);
  }
  spawn_settings(const spawn_settings&) = delete;
  spawn_settings& operator=(const spawn_settings&) = delete;
  ~spawn_settings() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
  }

  void open(int fd, const char* path, int flags) {
    posix_spawn_file_actions_addopen(&files, fd, path, flags, 0644);
  }
  void copy(int from, int to) {
    posix_spawn_file_actions_adddup2(&files, from, to);
  }

  expected<pid_t> spawn(const std::vector<std::string>& words) const {
    std::vector<char*> arguments;
    for (const auto& word : words)
      arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_t id = 0;
    auto error = posix_spawn(&id, arguments[0], &files, &attributes,
                             arguments.data(), environ);
    if (error != 0)
      return failure{"'" + words[0]
                     + "' cannot be started: " + std::strerror(error) + "."};
    return id;
  }

private:
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

/// The raw status of `waitpid`, which is repeated when a signal interrupts it.
pid_t wait_for(pid_t id, int& status, int flags) {
  pid_t result;
  do
    result = ::waitpid(id, &status, flags);
  while (result < 0 && errno == EINTR);
  return result;
}

} // namespace

std::string to_string(const child_end& x) {
  if (x.signal != 0)
    return "was ended by signal " + std::to_string(x.signal) + " ("
           + ::strsignal(x.signal) + ")";
  return "exited with status " + std::to_string(x.status);
}

child_process::child_process(child_process&& other) noexcept
    : id_(std::exchange(other.id_, -1)), end_(other.end_) {
}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(id_, other.id_);
  std::swap(end_, other.end_);
  return *this;
}

child_process::~child_process() {
  if (id_ < 0)
    return;
  ::kill(id_, SIGKILL);
  int status = 0;
  wait_for(id_, status, 0);
}

std::optional<child_end> child_process::end() {
  int status = 0;
  if (id_ < 0 || wait_for(id_, status, WNOHANG) != id_)
    return end_;
  id_ = -1;
  child_end how;
  if (WIFSIGNALED(status))
    how.signal = WTERMSIG(status);
  else
    how.status = WEXITSTATUS(status);
  end_ = how;
  return end_;
}

void child_process::signal(int number) {
  if (id_ >= 0)
    ::kill(id_, number);
}

expected<child_group> child_group::make() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return failure{std::string{"A pipe cannot be made: "} + std::strerror(errno)
                   + "."};
  file_descriptor theirs{ends[0]}, ours{ends[1]};
  spawn_settings settings{0};
  settings.copy(theirs.get(), STDIN_FILENO);
  settings.open(STDOUT_FILENO, "/dev/null", O_WRONLY);
  settings.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  auto guard = settings.spawn({"/bin/sh", "-c", "read line; kill -KILL 0"});
  if (!guard)
    return failure{guard.error()};
  return child_group{*guard, std::move(ours)};
}

child_group::child_group(child_group&& other) noexcept
    : guard_(std::exchange(other.guard_, -1)), line_(std::move(other.line_)) {
}

child_group::~child_group() {
  if (guard_ < 0)
    return;
  line_ = file_descriptor{};
  int status = 0;
  wait_for(guard_, status, 0);
}

expected<child_process>
child_group::start(const std::vector<std::string>& words,
                   const std::string& output) const {
  spawn_settings settings{guard_};
  settings.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  settings.open(STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  settings.copy(STDOUT_FILENO, STDERR_FILENO);
  auto id = settings.spawn(words);
  if (!id)
    return failure{id.error()};
  return child_process{*id};
}

} // namespace potluck::tools
