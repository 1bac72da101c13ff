#include "tools/lab/network/network_description.hpp"

#include <csignal>

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

network_description read(const std::string& text) {
  auto x = parse_network(text);
  REQUIRE_MESSAGE(x, (x ? "" : x.error()));
  return *x;
}

/// What is said about a bad description.
std::string refusal(const std::string& text) {
  auto x = parse_network(text);
  return x ? "accepted" : x.error();
}

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a host has the line that stands in the file") {
  auto x = read(R"({"seed": 9, "lasts": "2min", "hosts": [
    {"name": "a", "upload": "10mbit", "download": "2MB", "delay": "30ms",
     "jitter": "5ms", "loss": "1%", "queue": "1s"}]})");
  REQUIRE(x.hosts.size() == 1);
  const auto& line = x.hosts[0].line;
  CHECK(line.upload == 1.25e6);
  CHECK(line.download == 2e6);
  CHECK(line.delay == 30ms);
  CHECK(line.jitter == 5ms);
  CHECK(line.loss_up == 0.01);
  CHECK(line.queue == 1s);
  CHECK(x.seed == 9);
  CHECK(x.lasts == duration{2min});
}

TEST_CASE("a host stands behind the router that the file names") {
  auto x = read(R"({"hosts": [{"name": "a"},
    {"name": "home", "count": 2, "router": "symmetric"}]})");
  CHECK(x.hosts[0].router == router_kind::none);
  CHECK(x.hosts[1].router == router_kind::symmetric);
  CHECK(x.hosts[2].router == router_kind::symmetric);
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "router": "double-nat"}]})"),
            "hosts[0].router: there is no router `double-nat`"));
}

TEST_CASE("a line without figures has no limits") {
  auto x = read(R"({"hosts": [{"name": "a", "upload": 0}]})");
  CHECK(x.hosts[0].line.upload == 0);
  CHECK(x.hosts[0].line.download == 0);
  CHECK(x.hosts[0].line.queue == 100ms);
  CHECK(!x.lasts);
}

TEST_CASE("a count makes hosts, and the group's name stands for all of them") {
  auto x = read(R"({"hosts": [{"name": "seed"}, {"name": "home", "count": 3}],
    "commands": [{"host": "home", "words": ["true"]},
                 {"host": "home", "name": "probe", "words": ["true"]},
                 {"host": "home-2", "name": "extra", "words": ["true"]}]})");
  REQUIRE(x.hosts.size() == 4);
  CHECK(x.hosts[3].name == "home-3");
  CHECK(x.members("home") == std::vector<std::size_t>{1, 2, 3});
  CHECK(x.members("home-2") == std::vector<std::size_t>{2});
  CHECK(x.members("nobody").empty());
  REQUIRE(x.commands.size() == 7);
  CHECK(x.commands[0].name == "home-1");
  CHECK(x.commands[5].name == "probe-3");
  CHECK(x.commands[5].host == "home-3");
  CHECK(x.commands[6].name == "extra");
}

TEST_CASE("links, changes and commands have what stands in the file") {
  auto x = read(R"({"hosts": [{"name": "a"}, {"name": "b"}],
    "links": [{"from": "a", "to": "b", "both": true, "blocked": true},
              {"from": "a", "to": "b", "limit": "1mbit", "delay": "9ms"}],
    "changes": [{"at": "30s", "host": "a", "upload": "5mbit"}],
    "commands": [{"host": "a", "words": ["sleep", "{dir}"], "starts_at": "1s",
                  "ends_at": "4s", "signal": "kill", "serve": true}]})");
  REQUIRE(x.links.size() == 2);
  CHECK((x.links[0].both && x.links[0].blocked));
  CHECK(x.links[1].limit == 125e3);
  CHECK(x.links[1].delay == 9ms);
  REQUIRE(x.changes.size() == 1);
  access_line line;
  line.upload = 1;
  line.download = 2;
  x.changes[0].line.apply(line);
  CHECK(line.upload == 625e3);
  CHECK(line.download == 2);
  REQUIRE(x.commands.size() == 1);
  CHECK(x.commands[0].words == std::vector<std::string>{"sleep", "{dir}"});
  CHECK(x.commands[0].starts_at == 1s);
  CHECK(x.commands[0].ends_at == duration{4s});
  CHECK(x.commands[0].signal == SIGKILL);
  CHECK(x.commands[0].serve);
}

TEST_CASE("what a person gets wrong is said where it stands") {
  CHECK(has(refusal("{"), "not JSON"));
  CHECK(has(refusal("{}"), "needs `hosts`"));
  CHECK(has(refusal(R"({"hosts": 3})"), "hosts: it is a list"));
  CHECK(has(refusal(R"({"host": []})"), "did you mean `hosts`"));
  CHECK(has(refusal(R"({"hosts": [{}]})"), "hosts[0]: it needs `name`"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a b"}]})"), "is no name"));
  CHECK(has(refusal(R"({"hosts": [{"name": "../x"}]})"), "is no name"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "upload": "10mbits"}]})"),
            "hosts[0].upload: `10mbits` is not understood"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "upload": -1}]})"),
            "out of range"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "upload": 3}]})"),
            "out of range"));
  CHECK(
      has(refusal(R"({"hosts": [{"name": "a", "loss": 1}]})"), "out of range"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a"}, {"name": "a"}]})"),
            "another host `a`"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a-1"},
                                  {"name": "a", "count": 2}]})"),
            "another host `a-1`"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "count": 2},
                                  {"name": "a"}]})"),
            "another host `a`"));
  CHECK(has(refusal(R"({"hosts": [{"name": "a", "count": 251}]})"),
            "out of range"));
  const std::string one = R"({"hosts": [{"name": "alpha"}], )";
  CHECK(has(refusal(one + R"("links": [{"from": "alpha", "to": "alhpa"}]})"),
            "did you mean `alpha`"));
  CHECK(has(refusal(one + R"("commands": [{"host": "alpha", "words": []}]})"),
            "the program first"));
  CHECK(has(refusal(one + R"("commands": [{"host": "alpha"}]})"),
            "needs `words`"));
  CHECK(has(refusal(one + R"("commands": [{"host": "alpha", "words": ["x"]},
                                      {"host": "alpha", "words": ["x"]}]})"),
            "another command `alpha`"));
  CHECK(has(refusal(one + R"("commands": [{"host": "alpha", "words": ["x"],
                         "starts_at": "2s", "ends_at": "1s"}]})"),
            "end before it starts"));
  CHECK(has(refusal(one + R"("commands": [{"host": "alpha", "words": ["x"],
                         "signal": "stop"}]})"),
            "\"kill\""));
}

TEST_CASE("the example of the help is a description") {
  auto text = network_help();
  auto x = read(text.substr(text.find("\n  {\"hosts\"")));
  CHECK(x.hosts.size() == 3);
  CHECK(x.commands.size() == 3);
}
