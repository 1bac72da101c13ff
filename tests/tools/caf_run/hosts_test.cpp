#include "tools/caf_run/hosts.hpp"

#include <sstream>

#include <doctest/doctest.h>

using namespace potluck::caf_run;

namespace {

potluck::expected<std::vector<host_line>> read(const std::string& text) {
  std::istringstream in{text};
  return read_hosts(in);
}

bool complains(const std::string& text, const std::string& part) {
  auto hosts = read(text);
  return !hosts && hosts.error().find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a host file is read line by line, without comments") {
  auto hosts = read("# everybody\n\n"
                    "east slots=4 command=join config=a.ini # the master\n"
                    "  west wait serve\n");
  REQUIRE(hosts);
  REQUIRE(hosts->size() == 2);
  const auto& east = (*hosts)[0];
  CHECK(east.host == "east");
  CHECK(east.slots == 4);
  CHECK(east.command == "join");
  CHECK(east.config == "a.ini");
  CHECK_FALSE(east.wait);
  CHECK_FALSE(east.serve);
  CHECK(east.label() == "line 3 (east, join)");
  const auto& west = (*hosts)[1];
  CHECK(west.slots == 1);
  CHECK(west.wait);
  CHECK(west.serve);
  CHECK(west.label() == "line 4 (west)");
}

TEST_CASE("a wrong line is named with its mend") {
  CHECK(complains("a\nb slots=many\n", "line 2: 'slots=many'"));
  CHECK(complains("a slots=\n", "write slots=1"));
  CHECK(complains("a slots=-1\n", "above zero"));
  CHECK(complains("a colour=red\n", "'colour=red' is not known"));
  CHECK(complains("a command=\n", "'command=' is not known"));
  CHECK(complains("a serve\n", "the first line is the master"));
  CHECK(complains("a wait\n", "the first line is the master"));
  CHECK(complains("-oProxyCommand=x\n", "begins with the name of a host"));
  CHECK(complains("slots=2\n", "begins with the name of a host"));
  CHECK(complains("# nobody\n\n", "names no host"));
}

TEST_CASE("only this machine's own names start without ssh") {
  for (auto name : {"localhost", "127.0.0.1", "127.1.2.3", "::1"}) {
    host_line line;
    line.host = name;
    CHECK(line.is_local());
  }
  for (auto name : {"east", "localhost.example.org", "10.127.0.1"}) {
    host_line line;
    line.host = name;
    CHECK_FALSE(line.is_local());
  }
}
