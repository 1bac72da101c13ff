#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "tests/support/temporary_directory.hpp"
#include "tools/lab/scenario/fault_plan.hpp"
#include "tools/lab/scenario/limits.hpp"
#include "tools/lab/scenario/scenario.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

const std::string one_home = R"("groups": [{"name": "homes", "count": 4}])";

/// The scenario with this beside four homes.
expected<scenario> with(const std::string& more) {
  return parse_scenario("{" + one_home + (more.empty() ? "" : ", ") + more
                        + "}");
}

expected<scenario> with_fault(const std::string& fault) {
  return with("\"faults\": [" + fault + "]");
}

expected<scenario> with_group(const std::string& members) {
  return parse_scenario(R"({"groups": [{"name": "homes", "count": 4}, {)"
                        + members + "}]}");
}

std::string complaint_of(const expected<scenario>& x) {
  return x ? "none" : x.error();
}

std::vector<std::filesystem::path> library() {
  std::vector<std::filesystem::path> result;
  for (const auto& file :
       std::filesystem::directory_iterator{"tools/scenarios"})
    if (file.is_regular_file())
      result.push_back(file.path());
  return result;
}

} // namespace

// ---- reading ----------------------------------------------------------------

TEST_CASE("every field of a scenario is read, with the units of people") {
  auto x = parse_scenario(R"({
    // a comment
    "name": "all", "about": "everything", "lasts": "2h", /* another */
    "run": {"target-batch": 64, "learning-rate": "1e-2"},
    "model_values": 4096,
    "groups": [
      {"name": "seed", "count": 1, "role": "bootstrap"},
      {"name": "homes", "count": 3, "router": "port-restricted", "homes": 2,
       "samples_per_second": {"lognormal": [40, 0.5]},
       "joins_at": {"uniform": ["1s", "1min"]}, "clock_drift": "1%",
       "line": {"delay": "20ms", "jitter": 0.001, "upload": "10mbit",
                "download": "2MB", "loss": "5%", "duplicate": 0.1,
                "reorder": 0.2, "corrupt": 0.3},
       "writes_checkpoints": true, "stays": {"exponential": "10min"},
       "away": "250us", "leaves_orderly": 0.5, "keeps_disk": 0.25}],
    "faults": [
      {"fault": "throttle", "who": {"share": 0.5, "group": "homes"},
       "at": "3d", "every": "1h", "until": "4d", "for": {"uniform": [1, 2]},
       "amount": "8kbit"},
      {"fault": "kill", "who": {"peers": [3, 0]}, "back_after": "1min"},
      {"fault": "stop", "who": {"random": 2}, "for": 5},
      {"fault": "stop", "who": {"group": "homes"}},
      {"fault": "crash_actor", "actor": "router"},
      {"fault": "misbehave", "manner": "nan"},
      {"fault": "join", "group": "homes", "count": 7}],
    "strangers": [
      {"manner": "mutator", "rate": 250, "identities": 6, "addresses": 3,
       "from": "10s", "until": "1min", "line": {"delay": "5ms"}},
      {"manner": "idle"}],
    "expects": {"finishes": false, "first_try": 0.75,
                "recovers_within": "90s", "final_loss": 1.5, "may_ban": true}
  })");
  REQUIRE_MESSAGE(x, complaint_of(x));
  using law = quantity::law;
  CHECK(x->name == "all");
  CHECK(x->about == "everything");
  CHECK(x->lasts == 2h);
  CHECK(x->run
        == std::vector<setting>{{"target-batch", "64"},
                                {"learning-rate", "0.01"}});
  CHECK(x->model_values == 4096);
  CHECK(x->peers() == 4);
  const auto& g = x->groups[1];
  CHECK(x->groups[0].role == "bootstrap");
  CHECK(g.router == "port-restricted");
  CHECK(g.homes == 2);
  CHECK(g.samples_per_second == quantity{law::lognormal, 40, 0.5});
  CHECK(g.joins_at == quantity{law::uniform, 1, 60});
  CHECK(g.clock_drift == quantity{law::constant, 0.01, 0});
  CHECK(g.line.delay.a == 0.02);
  CHECK(g.line.jitter.a == 0.001);
  CHECK(g.line.upload.a == 1.25e6);
  CHECK(g.line.download.a == 2e6);
  CHECK(g.line.loss == 0.05);
  CHECK(g.line.duplicate == 0.1);
  CHECK(g.line.reorder == 0.2);
  CHECK(g.line.corrupt == 0.3);
  CHECK(g.writes_checkpoints);
  CHECK(g.stays == quantity{law::exponential, 600, 0});
  CHECK(g.away.a == 250e-6);
  CHECK(g.leaves_orderly == 0.5);
  CHECK(g.keeps_disk == 0.25);
  const auto& f = x->faults;
  CHECK(f[0].kind == fault_kind::throttle);
  CHECK(f[0].who.share == 0.5);
  CHECK(f[0].who.group == "homes");
  CHECK(f[0].at.a == 3 * 86400);
  CHECK(f[0].every == quantity{law::constant, 3600, 0});
  CHECK(f[0].until == duration{96h});
  CHECK(f[0].lasts == quantity{law::uniform, 1, 2});
  CHECK(f[0].amount == 1000);
  CHECK(f[1].who.peers == std::vector<std::size_t>{3, 0});
  CHECK(f[1].back_after == quantity{law::constant, 60, 0});
  CHECK(f[2].who.count == 2);
  CHECK(f[3].who.share == 1);
  CHECK(f[4].detail == "router");
  CHECK(f[5].detail == "nan");
  CHECK(f[6].detail == "homes");
  CHECK(f[6].who.count == 7);
  REQUIRE(x->strangers.size() == 2);
  const auto& s = x->strangers[0];
  CHECK(s.manner == "mutator");
  CHECK(s.rate == 250);
  CHECK(s.identities == 6);
  CHECK(s.addresses == 3);
  CHECK(s.from == 10s);
  CHECK(s.until == duration{1min});
  CHECK(s.line.delay.a == 0.005);
  CHECK_FALSE(x->strangers[1].until);
  CHECK_FALSE(x->expects.finishes);
  CHECK(x->expects.first_try == 0.75);
  CHECK(x->expects.recovers_within == 90s);
  CHECK(x->expects.final_loss == 1.5);
  CHECK(x->expects.may_ban);

  auto text = to_text(*x);
  auto again = parse_scenario(text);
  REQUIRE_MESSAGE(again, complaint_of(again) << "\n" << text);
  CHECK(to_text(*again) == text);
  for (auto part : {"\"20ms\"", "\"10mbit\"", "\"16mbit\"", "\"2h\"",
                    "\"250us\"", "\"lognormal\"", "\"3d\"", "\"router\"",
                    "\"share\"", "\"may_ban\"", "\"1min\"", "\"8kbit\""})
    CHECK_MESSAGE(text.find(part) != std::string::npos, part << text);
}

TEST_CASE("what a scenario leaves out has the defaults of its types") {
  auto x = with("");
  REQUIRE(x);
  CHECK(x->lasts == 30min);
  CHECK(x->groups[0].role == "trainer");
  CHECK(x->groups[0].samples_per_second.a == 50);
  CHECK(x->groups[0].keeps_disk == 1);
  CHECK_FALSE(x->groups[0].stays);
  CHECK(x->expects.finishes);
  CHECK(x->expects.recovers_within == 5min);
  CHECK(to_text(*x).find("lasts") == std::string::npos);
}

TEST_CASE("every mistake in a scenario is one sentence with its place") {
  std::vector<std::pair<expected<scenario>, std::string>> all{
      {parse_scenario("{"), "This is not JSON: parse error at line 1"},
      {parse_scenario("[]"), "the scenario: it is an object"},
      {parse_scenario("{}"), "groups: there is no trainer"},
      {parse_scenario(std::string(100, '[') + std::string(100, ']')),
       "nested deeper"},
      {with(R"("lasts": 60, "lasts": 61)"),
       "The name `lasts` stands twice in one object."},
      {with(R"("grups": [])"),
       "the scenario: there is no field `grups`; did you mean `groups`?"},
      {with(R"("xyzzyplugh": 1)"), "there are `name`, `about`"},
      {with(R"("name": 3)"), "name: it is a text, between double quotes."},
      {with(R"("lasts": "5 parsec")"),
       "lasts: `5 parsec` is not understood; write \"20ms\""},
      {with(R"("lasts": [1])"), "lasts: [1] is not understood"},
      {with(R"("lasts": -3)"),
       "lasts: -3s is out of range; it can be 1s to 366d."},
      {with(R"("lasts": "500d")"), "out of range"},
      {with(R"("model_values": 1.5)"), "1.5 is not a whole number."},
      {with(R"("run": {"target-bach": 3})"),
       "run: there is no setting `target-bach`; did you mean "
       "`target-batch`?"},
      {with(R"("run": {"target-batch": 0})"), "target-batch is 0"},
      {with(R"("run": {"target-batch": true})"),
       "`target-batch` is a number or a text."},
      {with(R"("run": 3)"), "run: it is an object"},
      {with(R"("faults": {})"), "faults: it is a list"},
      {with(R"("expects": {"may_ban": 1})"),
       "expects.may_ban: it is true or false."},
      {with_group(""), "groups[1]: it needs a `name`."},
      {with(R"("strangers": [{}])"), "strangers[0]: it needs a `manner`."},
      {with(R"("strangers": [{"manner": "finisher"}])"),
       "strangers[0].manner: there is no manner `finisher`; did you mean "
       "`finishers`?"},
      {with(R"("strangers": [{"manner": "idle", "addresses": 2}])"),
       "strangers[0]: each of the 2 addresses needs an identity"},
      {with(R"("strangers": [{"manner": "idle", "from": 5, "until": 5}])"),
       "`until` comes after `from`."},
      {with_group(R"("name": "x", "role": "stranger")"),
       "groups[1].role: there is no role `stranger`"},
      {with_group(R"("name": "homes")"),
       "groups[1]: another group is called `homes` too."},
      {with_group(R"("name": "x", "role": "tariner")"),
       "groups[1].role: there is no role `tariner`; did you mean "
       "`trainer`?"},
      {with_group(R"("name": "x", "count": 20000)"), "out of range"},
      {with_group(R"("name": "x", "count": 16384)"),
       "groups: they are more than 16384 peers."},
      {with_group(R"("name": "x", "stays": "5min")"), "`stays` needs `away`"},
      {with_group(R"("name": "x", "away": "5min")"), "`away` needs `stays`"},
      {with_group(R"("name": "x", "role": "bootstrap", "router": "symmetric")"),
       "could not be dialled"},
      {with_group(R"("name": "x", "router": "symetric")"),
       "groups[1].router: there is no router `symetric`; did you mean "
       "`symmetric`?"},
      {with_group(R"("name": "x", "behind_nat": true)"),
       "behind_nat: there is no such field any more; write \"router\": "
       "\"port-restricted\"."},
      {with_group(R"("name": "x", "homes": 2)"),
       "`homes` needs a `router` that they share."},
      {with_group(R"("name": "x", "line": {"upload": "10mb"})"),
       "groups[1].line.upload: `10mb` is not understood; write "
       "\"10mbit\""},
      {with_group(R"("name": "x", "line": {"loss": 1})"),
       "1 is out of range; it can be 0 to 0.95."},
      {with_group(R"("name": "x", "line": {"delay": {"unifrom": [1, 2]}})"),
       "there is no distribution `unifrom`; did you mean `uniform`?"},
      {with_group(R"("name": "x", "line": {"delay": {"uniform": [2, 1]}})"),
       "line.delay.uniform: the first value is the lower one."},
      {with_group(R"("name": "x", "line": {"delay": {"uniform": 2}})"),
       "it takes two values, [from, to]."},
      {with_group(R"("name": "x", "line": {"delay": {"lognormal": [1, 9]}})"),
       "9 is out of range"},
      {with_group(R"("name": "x", "line": {"delay": {"exponential": 0}})"),
       "exponential: it needs a value above zero."},
      {with_group(R"("name": "x", "line": {"delay": {}})"),
       "a distribution has one name"},
      {with_fault(R"({"fault": "stop"}, {"fault": "kil"})"),
       "faults[1].fault: there is no fault `kil`; did you mean `kill`?"},
      {with_fault("{}"), "faults[0]: it needs a `fault`."},
      {with_fault("3"), "faults[0]: it is an object"},
      {with_fault(R"({"fault": "delay"})"),
       "faults[0]: delay needs an `amount`: \"20ms\""},
      {with_fault(R"({"fault": "kill", "amount": 1})"),
       "amount: kill has none."},
      {with_fault(R"({"fault": "lose", "amount": 2})"),
       "faults[0].amount: 2 is out of range"},
      {with_fault(R"({"fault": "kill", "for": "1s"})"), "kill takes no `for`"},
      {with_fault(R"({"fault": "stop", "back_after": "1s"})"),
       "stop takes no `back_after`"},
      {with_fault(R"({"fault": "kill", "until": "1s"})"),
       "`until` needs `every`."},
      {with_fault(R"({"fault": "kill", "every": 0})"),
       "every: 0 is out of range; it can be 10ms to 366d."},
      {with_fault(R"({"fault": "kill", "manner": "nan"})"),
       "manner: only misbehave has it, not kill."},
      {with_fault(R"({"fault": "misbehave"})"), "misbehave needs a `manner`."},
      {with_fault(R"({"fault": "misbehave", "manner": "nam"})"),
       "there is no manner `nam`; did you mean `nan`?"},
      {with_fault(R"({"fault": "crash_actor", "actor": "ruoter"})"),
       "there is no actor `ruoter`; did you mean `router`?"},
      {with_fault(R"({"fault": "join"})"), "join needs a `group`."},
      {with_fault(R"({"fault": "join", "group": "hoems"})"),
       "there is no group `hoems`; did you mean `homes`?"},
      {with_fault(R"({"fault": "join", "group": "homes", "who": {}})"),
       "join takes `group` and `count` instead."},
      {with_fault(R"({"fault": "kill", "who": {}})"),
       "who: it needs `peers`, `random`, `share` or `group`."},
      {with_fault(R"({"fault": "kill", "who": {"random": 1, "share": 1}})"),
       "it has either `random` or `share`."},
      {with_fault(R"({"fault": "kill", "who": {"peers": [1], "random": 1}})"),
       "nothing else stands beside it."},
      {with_fault(R"({"fault": "kill", "who": {"peers": [1, 1]}})"),
       "who.peers: it names peer 1 twice."},
      {with_fault(R"({"fault": "kill", "who": {"peers": [4]}})"),
       "faults[0]: there is no peer 4; there are 4, counted from 0."},
      {with_fault(R"({"fault": "kill", "who": {"group": "hoems"}})"),
       "did you mean `homes`?"},
      {with_fault(R"({"fault": "kill", "who": {"share": 0}})"), "out of range"},
  };
  for (const auto& [x, sentence] : all) {
    CHECK_MESSAGE(complaint_of(x).find(sentence) != std::string::npos,
                  complaint_of(x) << "\nlacks: " << sentence);
    CHECK_MESSAGE(complaint_of(x).find('\n') == std::string::npos,
                  complaint_of(x));
    auto last = complaint_of(x).back();
    CHECK_MESSAGE((last == '.' || last == '?'), complaint_of(x));
  }
}

TEST_CASE("a file that is missing, a folder or too long is one sentence") {
  support::temporary_directory dir;
  auto path = dir.path() + "/x.json";
  CHECK(complaint_of(load_scenario(path)).find("cannot be read: No such file")
        != std::string::npos);
  CHECK(complaint_of(load_scenario(dir.path())).find("cannot be read")
        != std::string::npos);
  std::ofstream{path} << std::string(limits::scenario_bytes + 1, ' ');
  CHECK(complaint_of(load_scenario(path)).find("no longer than 1 MiB")
        != std::string::npos);
  std::ofstream{path} << "{" + one_home + "}";
  auto x = load_scenario(path);
  REQUIRE(x);
  CHECK(x->name == "x");
}

// ---- the library ------------------------------------------------------------

TEST_CASE("every scenario of the library parses, explains itself and scales") {
  std::set<std::string> names;
  for (const auto& path : library()) {
    CAPTURE(path);
    auto x = load_scenario(path.string());
    REQUIRE_MESSAGE(x, complaint_of(x));
    names.insert(x->name);
    CHECK(x->about.size() > 20);
    CHECK(x->name == path.stem().string());
    auto text = to_text(*x);
    auto again = parse_scenario(text);
    REQUIRE_MESSAGE(again, complaint_of(again) << text);
    CHECK(to_text(*again) == text);
    auto more = x->scaled_to(2 * x->peers());
    REQUIRE_MESSAGE(more, complaint_of(more));
    CHECK(more->peers() == 2 * x->peers());
    fault_plan plan{*x, 1};
    CHECK(plan.peers().size() == x->peers());
  }
  for (auto name :
       {"steady", "churn", "kill-half", "join-storm", "partition",
        "flaky-lines", "slow-peers", "stopped-peers", "deaf-peers",
        "full-disks", "skewed-clocks", "actor-crashes", "hostile", "power-cuts",
        "long-life", "satellite", "thin-lines", "chains", "full-cells"})
    CHECK_MESSAGE(names.count(name) == 1, name);
}

TEST_CASE("the library has every fault and every manner of misbehaviour") {
  std::set<fault_kind> kinds;
  std::set<std::string> manners;
  for (const auto& path : library()) {
    auto x = load_scenario(path.string());
    REQUIRE(x);
    for (const auto& rule : x->faults) {
      kinds.insert(rule.kind);
      if (rule.kind == fault_kind::misbehave)
        manners.insert(rule.detail);
    }
  }
  CHECK(manners.size() == misbehaviours().size());
  for (auto kind : {fault_kind::kill, fault_kind::power_cut, fault_kind::stop,
                    fault_kind::deafen, fault_kind::isolate, fault_kind::cut,
                    fault_kind::throttle, fault_kind::lose, fault_kind::corrupt,
                    fault_kind::slow, fault_kind::drift, fault_kind::fill_disk,
                    fault_kind::tear_writes, fault_kind::rot,
                    fault_kind::crash_actor, fault_kind::join})
    CHECK_MESSAGE(kinds.count(kind) == 1, to_string(kind));
}

// ---- help -------------------------------------------------------------------
