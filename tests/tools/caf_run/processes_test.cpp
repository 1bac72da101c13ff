#include "tools/caf_run/launch_protocol.hpp"
#include "tools/caf_run/launcher.hpp"
#include "tools/caf_run/processes.hpp"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace potluck::caf_run;

namespace {

/// How `sh -c script` ends.
std::string end_of(const std::string& script) {
  auto pid = start({"sh", "-c", script}, "");
  REQUIRE(pid);
  int status = 0;
  REQUIRE(::waitpid(*pid, &status, 0) == *pid);
  return how_it_ended(status);
}

} // namespace

TEST_CASE("a shell reads a quoted word back as it was") {
  for (std::string word : {"plain", "", "two words", "it's", "$HOME `x` \"q\"",
                           "back\\slash", "'", "new\nline"})
    CHECK(end_of("test " + shell_quoted(word) + "x = \"$(printf '%sx' "
                 + shell_quoted(word) + ")\"")
          == "");
}

TEST_CASE("the end of a process is put into words") {
  CHECK(end_of("exit 0") == "");
  CHECK(end_of("exit 7") == "exited with status 7");
  CHECK(end_of("kill -9 $$") == "was ended by signal 9 (Killed)");
}

TEST_CASE("a signal reaches the children of a process too") {
  auto fifo = std::filesystem::temp_directory_path()
              / ("potluck_processes_test_" + std::to_string(::getpid()));
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  auto reader = ::open(fifo.c_str(), O_RDWR);
  // The outer shell survives the signal, and ends only after the inner one.
  auto pid = start(
      {"sh", "-c", "trap : TERM; sh -c 'echo x; while :; do :; done'; exit 0"},
      fifo.string());
  REQUIRE(pid);
  char ready = 0;
  REQUIRE(::read(reader, &ready, 1) == 1);
  signal_group(*pid, SIGTERM);
  int status = 0;
  CHECK(::waitpid(*pid, &status, 0) == *pid);
  CHECK(how_it_ended(status) == "");
  ::close(reader);
  std::filesystem::remove(fifo);
}

TEST_CASE("a program that is not there is a failure in words") {
  auto pid = start({"/no/such/program"}, "");
  REQUIRE_FALSE(pid);
  CHECK(pid.error().find("/no/such/program") != std::string::npos);
}

TEST_CASE("another host is reached by ssh, in the same folder") {
  host_line line;
  line.host = "east";
  auto words = command_for(line, {"prog", "--name=it's"}, "/some where");
  CHECK(words.front() == "ssh");
  CHECK(words[words.size() - 2] == "east");
  CHECK(words.back() == "cd '/some where' && exec 'prog' '--name=it'\\''s'");
  line.host = "localhost";
  CHECK(command_for(line, {"prog"}, "/") == std::vector<std::string>{"prog"});
}

TEST_CASE("slaves and master get the options of the protocol") {
  launch_request request;
  request.program = {"prog", "--own"};
  request.config_dir = "conf";
  host_line line;
  line.host = "east";
  line.slots = 3;
  line.command = "join";
  line.config = "a.ini";
  CHECK(
      words_for(request, line, "1.2.3.4/5,6.7.8.9/5", {})
      == std::vector<std::string>{"prog", "join", "--config-file=conf/a.ini",
                                  "--own", "--caf#scheduler.max-threads=3",
                                  "--caf#slave-mode", "--caf#slave-name=east",
                                  "--caf#bootstrap-node=1.2.3.4/5,6.7.8.9/5"});
  auto master = words_for(request, line, "", {"east/1", "west/2"});
  CHECK(master.back() == "--caf#slave-nodes=east/1,west/2");
  CHECK(std::count(master.begin(), master.end(), "--caf#slave-mode") == 0);
}

TEST_CASE("a node is a host and a port") {
  auto node = parse_node("fe80::1/4000");
  REQUIRE(node);
  CHECK(node->first == "fe80::1");
  CHECK(node->second == 4000);
  for (auto bad :
       {"", "east", "east/", "/1", "east/0", "east/65536", "east/1x"})
    CHECK_FALSE(parse_node(bad));
}
