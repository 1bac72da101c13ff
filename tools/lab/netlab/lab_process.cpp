#include "tools/lab/netlab/lab_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace potluck::netlab {

lab_process::lab_process(const network_command& what,
                         std::vector<std::string> words,
                         host_network::host where)
    : what_(what), words_(std::move(words)), where_(where) {
}

expected<bool> lab_process::start(const host_network& network,
                                  const std::string& output) {
  begin_ = end_ = std::chrono::steady_clock::now();
  std::vector<char*> arguments;
  for (const auto& word : words_)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto complaint
      = "netlab: '" + words_[0] + "' cannot be started: check the path.\n";
  auto id = ::fork();
  if (id < 0) {
    status_ = 127 << 8;
    return failure{
        "A process cannot be made: " + std::string{std::strerror(errno)} + "."};
  }
  if (id == 0) {
    // Only what is safe between fork and exec.
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    auto in = ::open("/dev/null", O_RDONLY);
    auto out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    if (out >= 0 && network.enter(where_))
      ::execvp(arguments[0], arguments.data());
    [[maybe_unused]] auto size
        = ::write(STDERR_FILENO, complaint.data(), complaint.size());
    ::_exit(127);
  }
  ::setpgid(id, id); // Both sides do, so that neither can be too late.
  id_ = id;
  return true;
}

void lab_process::signal(int number) {
  if (running())
    ::kill(-id_, number);
}

void lab_process::ended(int status, time_point now) {
  // What it left behind of its group goes with it.
  ::kill(-id_, SIGKILL);
  id_ = -1;
  status_ = status;
  end_ = now;
}

bool lab_process::well() const {
  if (!status_)
    return false;
  return (WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0)
         || (asked && WIFSIGNALED(*status_));
}

std::string lab_process::fate() const {
  if (!status_)
    return started() ? "is running" : "was not started";
  if (WIFSIGNALED(*status_))
    return "was ended by signal " + std::to_string(WTERMSIG(*status_));
  return WEXITSTATUS(*status_) == 0
             ? "ended well"
             : "exited with status " + std::to_string(WEXITSTATUS(*status_));
}

double lab_process::seconds() const {
  if (!begin_)
    return 0;
  auto end = running() ? std::chrono::steady_clock::now() : *end_;
  return std::chrono::duration<double>(end - *begin_).count();
}

} // namespace potluck::netlab
