#include "tests/support/process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "tests/support/await.hpp"

extern char** environ;

namespace potluck::support {

namespace {

std::string quoted(const std::string& text) {
  constexpr auto plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-+=./:,@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string::npos)
    return text;
  std::string result = "'";
  for (auto c : text)
    result += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return result + "'";
}

/// `NAME=value` lines: the test's own environment with the changes.
std::vector<std::string>
environment_with(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> result;
  for (auto i = environ; *i; ++i) {
    std::string line = *i;
    if (!changes.count(line.substr(0, line.find('='))))
      result.push_back(line);
  }
  for (auto& [name, value] : changes)
    if (!value.empty())
      result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

} // namespace

std::string replay_line(const command& x) {
  std::string line;
  if (!x.directory.empty())
    line += "cd " + quoted(x.directory) + " && ";
  if (!x.environment.empty()) {
    line += "env";
    for (auto& [name, value] : x.environment)
      line += value.empty() ? " -u " + name : " " + name + "=" + quoted(value);
    line += " ";
  }
  for (auto& word : x.words)
    line += (&word == &x.words.front() ? "" : " ") + quoted(word);
  return line;
}

process::process(command what, std::string output)
    : what_(std::move(what)), output_(std::move(output)) {
  // Everything that allocates comes before the fork.
  auto words = what_.words;
  auto variables = environment_with(what_.environment);
  auto arguments = pointers(words);
  auto environment = pointers(variables);
  auto parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0)
    throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ > 0)
    return;
  // Not posix_spawn: it cannot ask to die with the parent, and a test that
  // ctest kills for being late must not leave peers behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(127);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (auto number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    ::signal(number, SIG_DFL);
  auto in = ::open("/dev/null", O_RDONLY);
  auto out = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (in < 0 || out < 0 || ::dup2(in, STDIN_FILENO) < 0
      || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(out, STDERR_FILENO) < 0
      || (!what_.directory.empty() && ::chdir(what_.directory.c_str()) != 0))
    ::_exit(127);
  ::execve(arguments[0], arguments.data(), environment.data());
  ::_exit(127);
}

process::~process() {
  if (end_)
    return;
  ::kill(pid_, SIGKILL); // Also ends a stopped process.
  reap(0);
}

bool process::reap(int options) {
  if (end_)
    return true;
  int status = 0;
  pid_t reaped;
  do
    reaped = ::waitpid(pid_, &status, options);
  while (reaped < 0 && errno == EINTR);
  if (reaped != pid_)
    return false;
  end_ = process_end{};
  if (WIFSIGNALED(status))
    end_->signal = WTERMSIG(status);
  else
    end_->status = WEXITSTATUS(status);
  return true;
}

bool process::running() {
  return !reap(WNOHANG);
}

std::optional<process_end> process::wait(std::chrono::milliseconds patience) {
  await([this] { return reap(WNOHANG); }, patience);
  return end_;
}

void process::signal(int number) {
  if (running())
    ::kill(pid_, number);
}

std::string process::output() const {
  std::ifstream file{output_};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace potluck::support
