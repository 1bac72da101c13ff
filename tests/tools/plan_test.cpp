#include "tools/potluck/plan_format.hpp"

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

using namespace potluck;
using namespace potluck::tools;

namespace {

std::string file(const std::string& name) {
  std::ifstream in{"tools/plans/" + name + ".json"};
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

strategy_problem problem_of(const std::string& name) {
  auto x = read_problem(file(name));
  REQUIRE(x);
  return *x;
}

strategy_plan planned(const strategy_problem& x) {
  auto reviewed = review(x);
  REQUIRE_FALSE(reviewed.refusal());
  return plan_strategy(reviewed.problem, 4096);
}

std::string mistake(const std::string& json) {
  auto x = read_problem(json);
  return x ? "no mistake" : x.error();
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string two
    = R"({"target_batch": 10, "gradient_bytes": 1000, "peers": [
      {"id": "a", "samples_per_second": 10, "upload": 500, "download": 600},
      {"id": "b.c", "samples_per_second": 20, "upload": 700, "download": 800,
       "computes": null}]})";

} // namespace

TEST_CASE("the published networks take as long as the model of them") {
  struct row {
    const char* name;
    double seconds;
    const char* strategy;
  };
  for (auto x :
       {row{"row-a", 0.72, "all-reduce"}, row{"row-b", 3.83, "all-reduce"},
        row{"row-c", 2.04, "mixed"}, row{"row-d", 2.30, "mixed"}}) {
    CAPTURE(x.name);
    auto plan = planned(problem_of(x.name));
    CHECK(1 / plan.averaging_steps_per_second
          == doctest::Approx(x.seconds).epsilon(0.01));
    CHECK(plan.averaging_seconds == doctest::Approx(x.seconds).epsilon(0.01));
    CHECK(plan.strategy == x.strategy);
    CHECK(plan.steps_per_second == plan.averaging_steps_per_second);
    CHECK(plan.gap < 1e-6);
  }
}

TEST_CASE("the plan beats all-reduce and a parameter server as published") {
  // All-reduce and the server by the model: (1 + (n - 2) w) P / b, the slowest.
  double bytes = 51114064;
  auto seconds = [&](const std::string& name) {
    return planned(problem_of(name)).averaging_seconds;
  };
  double mixed = (1 + 22.0 / 24) * bytes / 25e6;
  CHECK(mixed == doctest::Approx(3.92).epsilon(0.01));
  CHECK(mixed / seconds("row-c") > 1.8);
  CHECK(23 * bytes / 125e6 / seconds("row-c") > 4);
  double server = 16 * bytes / 312.5e6;
  CHECK(server == doctest::Approx(2.62).epsilon(0.01));
  CHECK(server / seconds("row-d") > 1.1);
}

TEST_CASE("peers are read as they stand, and what is left out is open") {
  auto x = read_problem(two);
  REQUIRE(x);
  CHECK(x->target_batch == 10);
  CHECK(x->gradient_bytes == 1000);
  REQUIRE(x->peers.size() == 2);
  CHECK(x->peers[0].upload == 500);
  CHECK(x->peers[1].download == 800);
  CHECK_FALSE(x->peers[0].computes);
  CHECK_FALSE(x->peers[1].computes);
  CHECK(x->peers[0].holds_model);
  CHECK(x->peers[0].listens);
  CHECK(x->links.empty());
}

TEST_CASE("what cannot be read gets one sentence that names the place") {
  CHECK(has(mistake(""), "not JSON"));
  CHECK(has(mistake("{\"peers\": [NaN]}"), "not JSON"));
  CHECK(has(mistake("{\"target_batch\": 1e999}"), "not JSON"));
  CHECK(has(mistake("[]"), "must be an object"));
  CHECK(has(mistake("{}"), "no target_batch"));
  CHECK(has(mistake(R"({"target_batch": "10"})"), "must be a number"));
  CHECK(
      has(mistake(R"({"target_bacth": 10})"), "did you mean 'target_batch'?"));
  CHECK(has(mistake(R"({"target_batch": 1, "target_batch": 2})"),
            "stands twice"));
  auto peer = [](const std::string& fields) {
    return mistake(R"({"target_batch": 1, "gradient_bytes": 1, "peers": [{)"
                   + fields + "}]}");
  };
  CHECK(has(peer(R"("id": 7)"), "peer 1: id must be a text"));
  CHECK(has(peer(R"("id": "a")"), "peer 1 has no samples_per_second"));
  CHECK(has(peer(R"("uplaod": 1)"), "did you mean 'upload'?"));
  CHECK(has(peer(R"("id": "a", "samples_per_second": 1, "upload": 1,
                    "download": 1, "computes": 1)"),
            "computes must be true or false"));
  CHECK(has(mistake(R"({"target_batch": 1, "gradient_bytes": 1, "peers": {}})"),
            "must be a list"));
  CHECK(has(mistake(R"({"target_batch": 1, "gradient_bytes": 1, "peers": [],
                        "links": [{"from": "a", "to": "b"}]})"),
            "link 1 has no limit"));
  CHECK(has(mistake(std::string(100000, '[')), "too deeply"));
}

TEST_CASE("the object printed has every field of the format") {
  auto problem = problem_of("example");
  auto reviewed = review(problem);
  auto plan = plan_strategy(reviewed.problem, 100);
  auto x = nlohmann::json::parse(to_json(plan, reviewed.findings, 0.5));
  for (auto name :
       {"steps_per_second", "scheduled_steps_per_second",
        "compute_steps_per_second", "averaging_steps_per_second", "upper_bound",
        "gap", "compute_seconds", "averaging_seconds", "seconds"})
    CHECK(x.at(name).is_number());
  for (auto name : {"strategy", "solver", "digest"})
    CHECK(x.at(name).is_string());
  for (auto name : {"a", "g", "relays", "findings"})
    CHECK(x.at(name).is_array());
  double shares = 0;
  for (const auto& peer : problem.peers) {
    CHECK(x.at("computes").at(peer.id).is_boolean());
    CHECK(x.at("binding").at(peer.id).is_string());
    shares += x.at("shares").at(peer.id).get<double>();
    for (auto name : {"upload", "download", "samples_per_second"})
      CHECK(x.at("gains").at(name).at(peer.id).is_number());
  }
  CHECK(shares == doctest::Approx(1));
  CHECK(x.at("gains").at("auxiliary").at("steps_per_second").is_number());
  CHECK(x.at("a").at(0).at("rate").is_number());
  CHECK(x.at("g").at(0).at("from").is_string());
  auto help = plan_format_help();
  for (const auto& [name, value] : x.items())
    CHECK_MESSAGE(has(help, name), name << " is missing in the help");
}

TEST_CASE("the table names every peer and what limits it") {
  auto problem = problem_of("example");
  problem.peers[0].id = "ann\x1b[2J";
  problem.links.clear();
  auto text = to_text(problem, planned(problem), review(problem).findings);
  for (auto name : {"bob", "eve", "max", "rack"})
    CHECK(has(text, name));
  CHECK(has(text, "limited by"));
  CHECK_FALSE(has(text, "\x1b")); // Nobody's id drives the terminal.
}

TEST_CASE("--what-if changes a figure, a link, or who is there") {
  auto x = *read_problem(
      two, {"a.upload=2e6", "b.c.download=7", // An id with a dot.
            "a.computes=false", "b.c.computes=true", "b.c.computes=null",
            "a.holds_model=false", "target_batch=99", "gradient_bytes=98",
            "a>b.c=5", "a>b.c=6"});
  CHECK(x.peers[0].upload == 2e6);
  CHECK(x.peers[1].download == 7);
  CHECK(x.peers[0].computes == false);
  CHECK_FALSE(x.peers[1].computes);
  CHECK_FALSE(x.peers[0].holds_model);
  CHECK(x.target_batch == 99);
  CHECK(x.gradient_bytes == 98);
  REQUIRE(x.links.size() == 1);
  CHECK(x.links[0].limit == 6);
  x = *read_problem(two, {"a>b.c=5", "+x:upload=1,download=2,computes=false,"
                                     "holds_model=false"});
  REQUIRE(x.peers.size() == 3);
  CHECK(x.peers[2].id == "x");
  CHECK(x.peers[2].computes == false);
  CHECK_FALSE(x.peers[2].holds_model);
  x = *read_problem(two, {"a>b.c=5", "-b.c"});
  CHECK(x.peers.size() == 1);
  CHECK(x.links.empty()); // It went with its end.
  CHECK(read_problem(two, {"a>b.c=1", "a>b.c=null"})->links.empty());
}

TEST_CASE("a change that makes no sense is refused in one sentence") {
  auto mistaken = [](const std::string& change) {
    auto x = read_problem(two, {change});
    return x ? "no mistake" : x.error();
  };
  CHECK(has(mistaken("a.uplaod=1"), "--what-if 'a.uplaod=1': "));
  CHECK(has(mistaken("a.uplaod=1"), "did you mean 'upload'?"));
  CHECK(has(mistaken("a.upload=fast"), "must be a number"));
  CHECK(has(mistaken("a.upload=1 2"), "must be a number"));
  CHECK(has(mistaken("a.computes=maybe"), "true or false"));
  CHECK(has(mistaken("z.upload=1"), "no peer 'z'"));
  CHECK(has(mistaken("-z"), "no peer 'z'"));
  CHECK(has(mistaken("+a:upload=1,download=1"), "already"));
  CHECK(has(mistaken("+x:upload=1"), "peer 3 has no download"));
  CHECK(has(mistaken("+x"), "name the new peer's figures"));
  CHECK(has(mistaken("+x:upload"), "FIELD=VALUE"));
  CHECK(has(mistaken("a>z=1"), "no peer 'z'"));
  CHECK(has(mistaken("a>b.c=wide"), "limit must be a number"));
  CHECK(has(mistaken("upload"), "write ID.FIELD=VALUE"));
  CHECK(has(mistaken("batch=1"), "neither"));
  CHECK(has(mistaken(""), "write ID.FIELD=VALUE"));
}
