#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tools/lab/scenario/fault_plan.hpp"
#include "tools/lab/scenario/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using what = fault_event::what;

namespace {

scenario parsed(const std::string& text) {
  auto x = parse_scenario(text);
  REQUIRE_MESSAGE(x, (x ? "" : x.error()));
  return *x;
}

scenario homes(std::size_t count, const std::string& faults,
               const std::string& more = "") {
  return parsed(
      R"({"groups": [{"name": "seed", "count": 1, "role": "bootstrap"},
                     {"name": "homes", "count": )"
      + std::to_string(count) + more + R"(}], "faults": [)" + faults + "]}");
}

/// Carries events out at once, as an owner does.
class owner {
public:
  explicit owner(const scenario& x, std::uint64_t seed) : plan(x, seed) {
  }

  std::vector<fault_event> until(duration now) {
    auto events = plan.due(now, there);
    for (const auto& x : events)
      carry_out(x);
    all.insert(all.end(), events.begin(), events.end());
    return events;
  }

  /// In steps of `step`, as a loop with a clock does.
  void walk(duration end, duration step) {
    for (duration t{0}; t <= end; t += step)
      until(t);
  }

  fault_plan plan;
  std::set<std::size_t> there;
  std::vector<fault_event> all;

private:
  void carry_out(const fault_event& x) {
    for (auto peer : x.peers)
      if (x.action == what::join || x.action == what::back)
        CHECK(there.insert(peer).second);
      else if (x.action == what::begin
               && (x.kind == fault_kind::kill || x.kind == fault_kind::leave
                   || x.kind == fault_kind::power_cut))
        CHECK(there.erase(peer) == 1);
  }
};

std::string text_of(const std::vector<fault_event>& events) {
  std::string result;
  for (const auto& x : events) {
    result += std::to_string(x.at.count()) + " "
              + std::to_string(static_cast<int>(x.action)) + " "
              + to_string(x.kind) + " " + std::to_string(x.number) + " of "
              + std::to_string(x.of) + (x.keeps_disk ? " kept" : "");
    for (auto peer : x.peers)
      result += " " + std::to_string(peer);
    result += "\n";
  }
  return result;
}

const std::string busy_faults
    = R"({"fault": "kill", "who": {"random": 2}, "at": "5s",
          "every": {"exponential": "7s"}, "until": "5min",
          "back_after": {"exponential": "3s"}},
         {"fault": "delay", "who": {"share": 0.4}, "amount": "50ms",
          "at": "2s", "every": "11s", "for": {"uniform": ["1s", "9s"]},
          "until": "5min"},
         {"fault": "join", "group": "homes", "count": 2, "at": "30s",
          "every": "1min", "until": "5min"},
         {"fault": "isolate", "who": {"group": "homes", "random": 3},
          "at": "10s", "for": "2s"})";
const std::string busy_churn
    = R"(, "stays": {"lognormal": ["40s", 1]}, "away": {"exponential": "9s"},
         "leaves_orderly": 0.5, "keeps_disk": 0.5)";

} // namespace

TEST_CASE("one seed gives one history, however often the owner asks") {
  auto x = homes(12, busy_faults, busy_churn);
  for (std::uint64_t seed : {1u, 2u, 77u}) {
    CAPTURE(seed);
    owner at_once{x, seed}, often{x, seed}, rarely{x, seed};
    at_once.until(400s);
    often.walk(400s, 10ms);
    rarely.walk(400s, 25s);
    CHECK(at_once.all.size() > 100);
    CHECK(text_of(at_once.all) == text_of(often.all));
    CHECK(text_of(at_once.all) == text_of(rarely.all));
    CHECK(at_once.plan.history() == often.plan.history());
    CHECK(at_once.plan.counts() == often.plan.counts());
  }
  owner one{x, 1}, other{x, 2};
  one.until(400s);
  other.until(400s);
  CHECK(text_of(one.all) != text_of(other.all));
}

TEST_CASE("when rules strike does not depend on who is there") {
  auto x = homes(12, busy_faults);
  fault_plan full{x, 5}, empty{x, 5};
  std::vector<duration> a, b;
  std::set<std::size_t> everybody;
  for (std::size_t i = 0; i < 100; ++i)
    everybody.insert(i);
  while (full.next() && *full.next() < 60s) {
    a.push_back(*full.next());
    full.due(*full.next(), everybody);
  }
  while (empty.next() && *empty.next() < 60s) {
    b.push_back(*empty.next());
    empty.due(*empty.next(), {});
  }
  // Without anybody nothing begins, so nothing ends or returns.
  CHECK(std::includes(a.begin(), a.end(), b.begin(), b.end()));
  CHECK(a.size() > b.size());
}

TEST_CASE("all events come in order and are numbered from one") {
  owner o{homes(12, busy_faults, busy_churn), 3};
  o.walk(200s, 100ms);
  for (std::size_t i = 0; i < o.all.size(); ++i) {
    CHECK(o.all[i].number == i + 1);
    if (i > 0)
      CHECK(o.all[i - 1].at <= o.all[i].at);
  }
}

TEST_CASE("bootstraps come first, everybody when the group says") {
  auto x = parsed(R"({"groups": [
    {"name": "homes", "count": 3},
    {"name": "late", "count": 2, "joins_at": "7s"},
    {"name": "seed", "count": 1, "role": "bootstrap"}]})");
  owner o{x, 1};
  CHECK(o.plan.next() == duration{0});
  auto first = o.until(0s);
  REQUIRE(first.size() == 4);
  CHECK(first[0].peers == std::vector<std::size_t>{5});
  CHECK(first[0].action == what::join);
  CHECK(first[1].peers == std::vector<std::size_t>{0});
  CHECK(o.plan.next() == duration{7s});
  CHECK_FALSE(o.plan.over(0s));
  CHECK(o.until(7s).size() == 2);
  CHECK_FALSE(o.plan.next());
  CHECK_FALSE(o.plan.over(6s));
  CHECK(o.plan.over(7s));
  CHECK(o.plan.counts().empty());
  CHECK(o.plan.history().empty());
}

TEST_CASE("a rule without a target strikes one peer that is no bootstrap") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    owner o{homes(3, R"({"fault": "stop", "at": "1s", "for": "2s"})"), seed};
    o.until(0s);
    auto events = o.until(1s);
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == fault_kind::stop);
    REQUIRE(events[0].peers.size() == 1);
    CHECK(events[0].peers[0] != 0);
    CHECK_FALSE(o.plan.over(1s));
    auto ends = o.until(3s);
    REQUIRE(ends.size() == 1);
    CHECK(ends[0].action == what::end);
    CHECK(ends[0].of == events[0].number);
    CHECK(ends[0].peers == events[0].peers);
    CHECK(ends[0].at == duration{3s});
    CHECK(o.plan.over(3s));
  }
}

TEST_CASE("targets are chosen as the rule says, among those who are there") {
  auto struck = [](const std::string& who, const std::set<std::size_t>& there) {
    auto x = homes(8, R"({"fault": "cut", "at": "1s", "who": )" + who + "}");
    fault_plan plan{x, 9};
    plan.due(0s, {});
    auto events = plan.due(1s, there);
    return events.empty() ? std::vector<std::size_t>{} : events[0].peers;
  };
  using list = std::vector<std::size_t>;
  const std::set<std::size_t> there{0, 1, 2, 5, 7};
  CHECK(struck(R"({"peers": [7, 3, 1, 0]})", there) == list{0, 1, 7});
  CHECK(struck(R"({"peers": [3]})", there).empty());
  CHECK(struck(R"({"group": "homes"})", there) == list{1, 2, 5, 7});
  CHECK(struck(R"({"group": "seed"})", there) == list{0});
  CHECK(struck(R"({"share": 1})", there) == list{1, 2, 5, 7});
  CHECK(struck(R"({"share": 0.5})", there).size() == 2);
  CHECK(struck(R"({"share": 0.51})", there).size() == 3);
  CHECK(struck(R"({"share": 0.01})", there).size() == 1);
  CHECK(struck(R"({"random": 3})", there).size() == 3);
  CHECK(struck(R"({"random": 30})", there) == list{1, 2, 5, 7});
  CHECK(struck(R"({"random": 1, "group": "seed"})", there) == list{0});
  CHECK(struck(R"({"random": 1})", {0}).empty());
}

TEST_CASE("chance picks every peer about equally often") {
  std::vector<int> struck(9);
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    owner o{homes(8, R"({"fault": "cut", "who": {"random": 2}})"), seed};
    for (const auto& x : o.until(0s))
      if (x.kind == fault_kind::cut)
        for (auto peer : x.peers)
          ++struck[peer];
  }
  CHECK(struck[0] == 0);
  for (std::size_t i = 1; i < struck.size(); ++i)
    CHECK((struck[i] > 400 && struck[i] < 600)); // 500 expected
}

TEST_CASE("who is killed returns after back_after, else never") {
  owner o{homes(4, R"({"fault": "kill", "who": {"peers": [1]}, "at": "1s",
                       "back_after": "5s"},
                      {"fault": "leave", "who": {"peers": [2]}, "at": "2s"})"),
          1};
  o.until(3s);
  CHECK(o.there == std::set<std::size_t>{0, 3, 4});
  CHECK(o.plan.next() == duration{6s});
  auto back = o.until(6s);
  REQUIRE(back.size() == 1);
  CHECK(back[0].action == what::back);
  CHECK(back[0].peers == std::vector<std::size_t>{1});
  CHECK(back[0].keeps_disk);
  CHECK(o.plan.over(6s));
  CHECK(o.plan.counts().at(fault_kind::kill) == 1);
  CHECK(o.plan.history()
        == std::vector<std::string>{"1 s: kill 1", "2 s: leave 2"});
}

TEST_CASE("a rule repeats until it must not, and counts what it did") {
  owner o{homes(4, R"({"fault": "slow", "amount": 8, "at": "1.5s",
                       "every": "2s", "until": "5.5s", "for": "250ms"})"),
          1};
  o.walk(10s, 100ms);
  CHECK(o.plan.counts().at(fault_kind::slow) == 3);
  REQUIRE(o.plan.history().size() == 3);
  CHECK(o.plan.history()[2].substr(0, 12) == "5.5 s: slow ");
  CHECK(o.plan.history()[2].find(" (8) for 0.25 s") != std::string::npos);
  CHECK(o.plan.over(10s));
}

TEST_CASE("rules without an end and churn are never over") {
  owner rule{homes(4, R"({"fault": "cut", "every": "2s"})"), 1};
  owner churn{homes(4, "", R"(, "stays": "1min", "away": "1s")"), 1};
  owner forever{homes(4, R"({"fault": "stop", "at": "3s"})"), 1};
  for (auto o : {&rule, &churn, &forever})
    o->until(1h);
  CHECK_FALSE(rule.plan.over(1h));
  CHECK_FALSE(churn.plan.over(1h));
  CHECK(forever.plan.over(1h)); // It has begun, and has to be lived with.
}

TEST_CASE("those who join later get new numbers and the group's ways") {
  owner o{homes(2, R"({"fault": "join", "group": "homes", "count": 3,
                       "at": "10s", "every": "10s", "until": "20s"})",
                R"(, "samples_per_second": {"uniform": [10, 20]})"),
          4};
  o.until(0s);
  CHECK(o.plan.peers().size() == 3);
  auto first = o.until(10s);
  REQUIRE(first.size() == 1);
  CHECK(first[0].action == what::join);
  CHECK(first[0].peers == std::vector<std::size_t>{3, 4, 5});
  o.until(20s);
  CHECK(o.plan.peers().size() == 9);
  CHECK(o.plan.counts().at(fault_kind::join) == 2);
  CHECK(o.plan.history()[0] == "10 s: join 3, 4, 5 (homes)");
  std::set<std::uint64_t> seeds;
  for (const auto& x : o.plan.peers()) {
    CHECK(seeds.insert(x.seed).second);
    if (x.group == 1)
      CHECK((x.samples_per_second >= 10 && x.samples_per_second < 20));
  }
}

TEST_CASE("joins stop at the limit of peers") {
  owner o{homes(2, R"({"fault": "join", "group": "homes", "count": 16000,
                       "at": "1s", "every": "1s", "until": "5s"})"),
          4};
  o.until(10s);
  CHECK(o.plan.peers().size() == limits::scenario_peers);
}

TEST_CASE("people stay and are away as long as their distributions say") {
  auto x = homes(10, "", R"(, "stays": {"exponential": "10min"},
                             "away": {"exponential": "5min"},
                             "leaves_orderly": 0.7, "keeps_disk": 0.2)");
  for (std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    CAPTURE(seed);
    owner o{x, seed};
    o.until(1000h);
    double orderly = 0, departures = 0, kept = 0, returns = 0, hours = 0;
    std::map<std::size_t, duration> since;
    for (const auto& e : o.all) {
      auto peer = e.peers[0];
      if (peer == 0)
        continue;
      if (e.action == what::begin) {
        departures += 1;
        orderly += e.kind == fault_kind::leave;
        hours += to_seconds(e.at - since[peer]) / 3600;
      } else {
        since[peer] = e.at;
        returns += e.action == what::back;
        kept += e.action == what::back && e.keeps_disk;
      }
    }
    // Ten peers, four departures an hour each: 40,000 expected, sigma ~150.
    CHECK(std::fabs(departures - 40'000) < 1000);
    CHECK(std::fabs(orderly / departures - 0.7) < 0.02);
    CHECK(std::fabs(kept / returns - 0.2) < 0.02);
    CHECK(std::fabs(hours / departures * 60 - 10) < 0.3); // minutes
    CHECK(departures - returns <= 10);
  }
}

TEST_CASE("a rule's victim in a group with churn returns after its away") {
  owner o{homes(1, R"({"fault": "kill", "who": {"peers": [1]}, "at": "30s"})",
                R"(, "stays": "1min", "away": "20s")"),
          1};
  o.until(30s);
  CHECK(o.there == std::set<std::size_t>{0});
  CHECK(o.plan.next() == duration{50s});
  o.until(50s);
  CHECK(o.there == std::set<std::size_t>{0, 1});
  // Its new stay counts from its return.
  CHECK(o.plan.next() == duration{110s});
}

TEST_CASE("a peer that ended by itself neither departs nor returns") {
  auto x = homes(1, "", R"(, "stays": "1min", "away": "20s")");
  fault_plan plan{x, 1};
  plan.due(0s, {});
  CHECK(plan.due(1min, {0}).empty());
  CHECK_FALSE(plan.next());
}

TEST_CASE("a history of many lines is cut and counted") {
  owner o{homes(2, R"({"fault": "cut", "every": "10ms"})"), 1};
  o.until(limits::fault_history * 10ms + 40ms);
  auto lines = o.plan.history();
  REQUIRE(lines.size() == limits::fault_history + 1);
  CHECK(lines.back() == "... and 5 more");
  CHECK(o.plan.counts().at(fault_kind::cut) == limits::fault_history + 5);
}

TEST_CASE("a plan that is wound down ends what has begun, and that is all") {
  owner o{homes(4, R"({"fault": "deafen", "who": {"peers": [1]}, "at": "10s",
                       "every": "30s", "for": "20s"},
                      {"fault": "kill", "who": {"peers": [2]}, "at": "15s",
                       "back_after": "10s"})",
                R"(, "stays": "1min", "away": "20s")"),
          1};
  o.until(15s);
  o.plan.wind_down();
  CHECK(o.plan.next() == duration{30s});
  auto rest = o.plan.due(1h, o.there);
  REQUIRE(rest.size() == 1);
  CHECK(rest[0].action == fault_event::what::end);
  CHECK(rest[0].kind == fault_kind::deafen);
  CHECK(rest[0].at == duration{30s});
  CHECK_FALSE(o.plan.next());
  CHECK(o.plan.counts().at(fault_kind::deafen) == 1);
}

TEST_CASE("strangers are machines behind all peers, and no fault's by chance") {
  const auto x = with_strangers(parsed(R"({
    "groups": [{"name": "homes", "count": 3}],
    "faults": [{"fault": "stop", "who": {"share": 1}, "at": 20}],
    "strangers": [{"manner": "idle", "identities": 4, "addresses": 2,
                   "from": 10}]})"));
  owner o{x, 1};
  REQUIRE(o.plan.peers().size() == 5);
  CHECK(is_stranger(x.groups[o.plan.peers()[4].group]));
  CHECK_FALSE(is_stranger(x.groups[o.plan.peers()[2].group]));
  o.until(9s);
  CHECK(o.there.size() == 3);
  o.until(10s);
  CHECK(o.there.size() == 5);
  const auto events = o.until(20s);
  REQUIRE(events.size() == 1);
  CHECK(events[0].peers == std::vector<std::size_t>{0, 1, 2});
}
