#include "runtime/admission/claim_program.hpp"

#include <chrono>
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

  bool asks(const std::string& script, const std::string& words,
            std::chrono::milliseconds limit = 30s) {
    const auto path = folder / "log-in";
    std::ofstream{path} << "#!/bin/sh\n" << script << "\n";
    ::chmod(path.c_str(), 0700);
    return says_yes(path, ann(), words, limit);
  }
};

} // namespace

TEST_CASE("a program hears who it is and what they say, and decides") {
  school s;
  const std::string script = "read id; read words; [ $id = " + to_string(ann())
                             + " ] && [ $words = secret ]";
  CHECK(s.asks(script, "secret\n"));
  CHECK_FALSE(s.asks(script, "guess\n"));
  CHECK(s.asks("exit 0", std::string(2048, 'x'))); // It need not read.
  CHECK_FALSE(s.asks("kill -9 $$", ""));
  CHECK_FALSE(says_yes("/nowhere/log-in", ann(), "", 1s));
}

TEST_CASE("a program that takes too long is ended, with what it has started") {
  school s;
  const auto began = std::chrono::steady_clock::now();
  CHECK_FALSE(s.asks("sleep 600 & sleep 600", "", 200ms));
  CHECK(std::chrono::steady_clock::now() - began < 60s);
}
