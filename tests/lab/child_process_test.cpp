#include "tools/lab/child_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace potluck::tools;

namespace {

/// True as soon as `condition` is; false if it is not within 20 s.
template <class Condition>
bool becomes_true(Condition condition) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

struct output_file {
  output_file() {
    auto fd = ::mkstemp(path);
    REQUIRE(fd >= 0);
    ::close(fd);
  }
  ~output_file() {
    std::remove(path);
  }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream{path}.rdbuf();
    return text.str();
  }

  char path[32] = "/tmp/child_process_XXXXXX";
};

std::vector<std::string> shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

child_end end_of(child_process& child) {
  REQUIRE(becomes_true([&] { return child.end().has_value(); }));
  return *child.end();
}

/// Ended, even if whoever adopted it has not waited for it yet.
bool is_gone(pid_t id) {
  std::ifstream in{"/proc/" + std::to_string(id) + "/stat"};
  std::string number, name, state;
  in >> number >> name >> state;
  return state.empty() || state == "Z" || state == "X";
}

} // namespace

TEST_CASE("a child's output and end are known") {
  auto family = child_group::make();
  REQUIRE(family);
  output_file out;
  auto child
      = family->start(shell("echo hello; echo there >&2; exit 3"), out.path);
  REQUIRE(child);
  auto end = end_of(*child);
  CHECK(end.status == 3);
  CHECK(to_string(end) == "exited with status 3");
  CHECK(out.content() == "hello\nthere\n");
}

TEST_CASE("a child that a signal ends is told from one that fails") {
  auto family = child_group::make();
  REQUIRE(family);
  auto child = family->start({"/bin/sleep", "1000"}, "/dev/null");
  REQUIRE(child);
  CHECK_FALSE(child->end());
  child->signal(SIGKILL);
  auto end = end_of(*child);
  CHECK(end.signal == SIGKILL);
  CHECK(to_string(end) == "was ended by signal 9 (Killed)");
  child->signal(SIGKILL); // Nobody is hit.
}

TEST_CASE("a signal that is blocked here reaches the child") {
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto family = child_group::make();
  REQUIRE(family);
  auto child = family->start({"/bin/sleep", "1000"}, "/dev/null");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  REQUIRE(child);
  child->signal(SIGTERM);
  CHECK(end_of(*child).signal == SIGTERM);
}

TEST_CASE("a program that is not there is named") {
  auto family = child_group::make();
  REQUIRE(family);
  auto child = family->start({"/no/such/program"}, "/dev/null");
  REQUIRE_FALSE(child);
  CHECK(child.error().find("/no/such/program") != std::string::npos);
}

TEST_CASE("children end with the process that started them, even by SIGKILL") {
  output_file out;
  auto parent = ::fork();
  REQUIRE(parent >= 0);
  if (parent == 0) {
    auto family = child_group::make();
    auto child = family->start(shell("trap '' TERM INT HUP; echo $$; "
                                     "while :; do sleep 1; done"),
                               out.path);
    while (true)
      ::pause();
  }
  auto spoken = becomes_true(
      [&] { return out.content().find('\n') != std::string::npos; });
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  REQUIRE(spoken);
  auto child = static_cast<pid_t>(std::stol(out.content()));
  CHECK(becomes_true([&] { return is_gone(child); }));
}
