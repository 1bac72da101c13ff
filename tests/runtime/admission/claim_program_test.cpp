#include "runtime/admission/claim_program.hpp"

#include <chrono>
#include <csignal>
#include <fstream>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "tests/support/temporary_directory.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id ann() {
  peer_id x;
  x.bytes.fill(0xab);
  return x;
}

struct school {
  support::temporary_directory folder;

  expected<bool> ask(const std::string& script, const std::string& words,
                     std::chrono::milliseconds limit = 30s) {
    std::ofstream{path} << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0700);
    return ask_program(path, ann(), words, limit);
  }
  bool asks(const std::string& script, const std::string& words) {
    return unwrap(ask(script, words));
  }

  const std::string path = folder / "log-in";
};

/// Whether it could not be asked, and says which program, and why.
bool fails(const expected<bool>& x, const std::string& program,
           const std::string& why) {
  if (x)
    return false;
  INFO(x.error());
  CHECK(x.error().find("The program " + program + " ") == 0);
  CHECK(x.error().find(why) != std::string::npos);
  return true;
}

} // namespace

TEST_CASE("a program hears who it is and what they say, and decides") {
  school s;
  const std::string script = "read id; read words; [ $id = " + to_string(ann())
                             + " ] && [ $words = secret ]";
  CHECK(s.asks(script, "secret\n"));
  CHECK_FALSE(s.asks(script, "guess\n"));
  CHECK(s.asks("exit 0", std::string(2048, 'x'))); // It need not read.
  CHECK_FALSE(s.asks("exit 7", ""));
}

TEST_CASE("a program that does not end by itself, or cannot be started, has "
          "judged nobody") {
  school s;
  CHECK(fails(s.ask("kill -9 $$", ""), s.path, "was ended by signal 9"));
  CHECK(fails(ask_program("/nowhere/log-in", ann(), "", 1s), "/nowhere/log-in",
              "cannot be started (No such file"));
  ::chmod(s.path.c_str(), 0600);
  CHECK(fails(ask_program(s.path, ann(), "", 1s), s.path,
              "cannot be started (Permission denied)"));
}

TEST_CASE("a program whose status the system keeps to itself says no yes") {
  school s;
  const auto usual = ::signal(SIGCHLD, SIG_IGN);
  const auto said = s.ask("exit 1", "");
  ::signal(SIGCHLD, usual);
  CHECK(fails(said, s.path, "nobody knows"));
}

TEST_CASE("what is no executable file is no program") {
  school s;
  CHECK(problem_with_program("/nowhere/log-in")
        == "The program /nowhere/log-in cannot be started (No such file or "
           "directory); name the path of an executable file.");
  CHECK(problem_with_program(s.folder.path()).find("it is no file")
        != std::string::npos);
  std::ofstream{s.path} << "#!/bin/sh\n";
  ::chmod(s.path.c_str(), 0600);
  CHECK(problem_with_program(s.path).find("Permission denied")
        != std::string::npos);
  ::chmod(s.path.c_str(), 0700);
  CHECK(problem_with_program(s.path).empty());
}

TEST_CASE("a program that takes too long is ended, with what it has started") {
  school s;
  const auto began = std::chrono::steady_clock::now();
  CHECK(fails(s.ask("sleep 600 & sleep 600", "", 200ms), s.path,
              "did not end within 200 ms"));
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}
