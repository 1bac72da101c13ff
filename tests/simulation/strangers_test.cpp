/// Strangers that attack a run, each scenario in one manner: the promises hold,
/// and the run keeps most of the pace that it has without them.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "runtime/numbers.hpp"
#include "tests/simulation/trial.hpp"

using namespace potluck;
using simulation::trial;

namespace {

/// Of the steps a second without an attack.
constexpr double least_pace = 0.8;
/// Newcomers enter within twice the time that they need without one, or in what
/// a join may take in any case.
constexpr duration usual_entry = std::chrono::seconds{5};

const std::string folder = "tools/scenarios/strangers";

const std::vector<std::string> withstood{
    "finishers",     "impersonator", "phantoms",     "names-others",
    "sybils",        "unread",       "short-bodies", "idle",
    "mutator",       "far-step",     "long-history", "liars-first",
    "uninvited",     "identities",   "auxiliaries",  "big-claim",
    "no-company",    "liars-soon",   "never-leads",  "empty-handed",
    "false-leaders", "turncoats",    "last-moment",  "made-up-means",
    "gives-up",      "calls-off",    "talks",        "commits",
    "fresh-keys",    "freezes",      "trickles"};

/// From when the first of them come.
double beginning_of(const scenario& x) {
  auto first = duration::max();
  for (const auto& group : x.strangers)
    first = std::min(first, group.from);
  return to_seconds(first);
}

/// What is wrong with a seed's run; empty: nothing.
std::string complaint_of(const std::string& name, std::uint64_t seed) {
  const trial attacked{folder + "/" + name + ".json", 0, 0, {}, true};
  const trial alone{attacked.file, 0, 0, {}, false};
  const auto began = beginning_of(*load_scenario(attacked.file));
  const auto with = attacked.run(seed);
  auto text = "\n" + attacked.command(seed);
  for (const auto& x : with.violations)
    text += "\n  " + x;
  if (!with.passed)
    return text;
  const auto without = alone.run(seed);
  if (!without.passed)
    return "\n" + alone.command(seed) + " fails too";
  const auto pace = (to_seconds(without.last_step) - began)
                    / (to_seconds(with.last_step) - began);
  if (pace < least_pace)
    return text + "\n  has " + readable(pace, 3) + " of the pace of\n"
           + alone.command(seed);
  if (with.slowest_entry > std::max(2 * without.slowest_entry, usual_entry))
    return text + "\n  lets a newcomer in after "
           + readable(to_seconds(with.slowest_entry), 3) + " s, and not "
           + readable(to_seconds(without.slowest_entry), 3) + " s, as\n"
           + alone.command(seed);
  return {};
}

} // namespace

TEST_CASE("a run withstands strangers") {
  for (const auto& name : withstood) {
    CAPTURE(name);
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      CHECK(complaint_of(name, seed) == "");
  }
}

TEST_CASE(
    "nobody without a token ever holds parameters, and it would be seen") {
  const trial closed{folder + "/uninvited.json", 0, 0, {}, true};
  const auto fine = closed.run(4);
  CHECK(fine.violations.empty());
  const trial open{
      "tests/simulation/scenarios/uninvited-open.json", 0, 0, {}, true};
  const auto told = open.run(4).violations;
  CHECK(std::any_of(told.begin(), told.end(), [](auto& x) {
    return x.find("got parameters of the run") != std::string::npos;
  }));
}

TEST_CASE("liars lead newcomers, and members of a run that begins, whose "
          "invitation names nobody, and it would be seen") {
  for (const auto* name : {"liars-first-unpinned", "liars-soon-unpinned"}) {
    CAPTURE(name);
    const trial unpinned{"tests/simulation/scenarios/" + std::string{name}
                             + ".json",
                         0,
                         0,
                         {},
                         true};
    const auto told = unpinned.run(1).violations;
    CHECK(std::any_of(told.begin(), told.end(), [](auto& x) {
      return x.find("holds other parameters") != std::string::npos;
    }));
  }
}

TEST_CASE("there is a scenario for every manner of strangers, and each is "
          "played") {
  std::set<std::string> manners;
  for (const auto& file : std::filesystem::directory_iterator{folder}) {
    const auto x = load_scenario(file.path().string());
    REQUIRE(x);
    CAPTURE(x->name);
    CHECK(x->about.size() > 20);
    CHECK(std::count(withstood.begin(), withstood.end(),
                     file.path().stem().string())
          == 1);
    for (const auto& group : x->strangers)
      manners.insert(group.manner);
  }
  for (const auto& x : stranger_manners())
    CHECK_MESSAGE(manners.count(x.name) == 1, x.name);
}

TEST_CASE("one seed of an attacked run is one history") {
  const trial run{folder + "/mutator.json", 0, 20, {}, true};
  const auto first = run.run(3);
  CHECK(first.log == run.run(3).log);
  CHECK(first.network.bytes_sent == run.run(3).network.bytes_sent);
  CHECK_FALSE(first.log == run.run(4).log);
}
