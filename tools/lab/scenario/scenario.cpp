#include "tools/lab/scenario/scenario.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tools/lab/network/router_kind.hpp"
#include "tools/lab/scenario/limits.hpp"
#include "tools/lab/scenario/portable_math.hpp"

namespace potluck {

namespace {

constexpr double longest_seconds = 100.0 * 366 * 24 * 3600;
/// No role of a peer, so that no file has it.
constexpr auto strangers_role = "stranger";

std::vector<fault_trait> make_traits() {
  using k = fault_kind;
  // kind, name, meaning, lasts, has_amount, in_simulation, in_chaos
  return {
      {k::kill, "kill", "its process ends at once; connections are reset",
       false, false, true, true},
      {k::power_cut, "power_cut", "the same, but nobody is told: silence",
       false, false, true, true},
      {k::leave, "leave", "it leaves in order, as on Ctrl-C", false, false,
       true, true},
      {k::stop, "stop", "it stands still (SIGSTOP), its connections open", true,
       false, true, true},
      {k::deafen, "deafen", "it reads nothing from its lines, but goes on",
       true, false, true, true},
      {k::isolate, "isolate",
       "a partition: nothing passes between `who` and the rest", true, false,
       true, true},
      {k::estrange, "estrange", "no two of `who` are or can be connected", true,
       false, true, false},
      {k::cut, "cut", "its connections break; they can be dialled again", false,
       false, true, true},
      {k::delay, "delay", "its line takes `amount` longer, one way", true, true,
       true, true},
      {k::throttle, "throttle", "its line carries `amount`, each way", true,
       true, true, true},
      {k::lose, "lose", "its line loses this share of packets", true, true,
       true, true},
      {k::duplicate, "duplicate", "its line doubles this share of frames", true,
       true, true, true},
      {k::reorder, "reorder", "its line swaps this share of frames", true, true,
       true, true},
      {k::corrupt, "corrupt", "a bit flips in this share of its frames", true,
       true, true, true},
      {k::slow, "slow", "it computes so many times slower", true, true, true,
       true},
      {k::drift, "drift", "its clock runs this share faster (or slower)", true,
       true, true, false},
      {k::fill_disk, "fill_disk", "every write to its disk fails", true, false,
       true, true},
      {k::tear_writes, "tear_writes",
       "its writes stop in the middle when it is killed", true, false, true,
       false},
      {k::rot, "rot", "a bit flips in each file on its disk", false, false,
       true, false},
      {k::crash_actor, "crash_actor", "one of its actors crashes", false, false,
       true, false},
      {k::misbehave, "misbehave", "it turns hostile", true, false, true, false},
      {k::router_reboots, "router_reboots",
       "its router forgets its connections, and nobody is told", false, false,
       true, true},
      {k::address_changes, "address_changes",
       "the same, and its home has another public address", false, false, true,
       true},
      {k::join, "join", "`count` more peers of `group` come", false, false,
       true, true},
  };
}

} // namespace

// ---- quantities -------------------------------------------------------------

double quantity::draw(random_stream& chance) const {
  switch (kind) {
    case law::constant:
      return a;
    case law::uniform:
      return a + (b - a) * chance.uniform01();
    case law::exponential:
      return -a * portable_log(1 - chance.uniform01());
    case law::lognormal:
      return a * portable_exp(b * portable_normal(chance));
  }
  throw std::logic_error("a quantity follows no law.");
}

duration to_duration(double seconds) {
  if (!(seconds > 0))
    return duration{0};
  return duration{static_cast<duration::rep>(
      std::floor(std::min(seconds, longest_seconds) * 1e9 + 0.5))};
}

double to_seconds(duration x) {
  return static_cast<double>(x.count()) / 1e9;
}

// ---- names ------------------------------------------------------------------

const std::vector<fault_trait>& fault_traits() {
  static const std::vector<fault_trait> traits = make_traits();
  return traits;
}

const fault_trait& trait_of(fault_kind x) {
  for (const auto& trait : fault_traits())
    if (trait.kind == x)
      return trait;
  throw std::logic_error("a kind of fault has no trait.");
}

std::string to_string(fault_kind x) {
  return trait_of(x).name;
}

const std::vector<std::string>& misbehaviours() {
  static const std::vector<std::string> names{
      "wrong_sums",  "nan",      "huge",        "stale",
      "equivocate",  "flood",    "silent",      "forged_records",
      "wrong_state", "impostor", "wrong_means", "boast",
      "lag",         "greedy"};
  return names;
}

const std::vector<stranger_manner>& stranger_manners() {
  static const std::vector<stranger_manner> manners{
      {"finishers", "records and reports of invented ids that have finished"},
      {"long_history",
       "claims 10^9 samples more, which its keys have signed, and serves a "
       "state of chance, or none"},
      {"impersonator",
       "passes on what members have not signed, and what they said long ago"},
      {"phantoms", "invented ids at an address that says nothing"},
      {"names_others", "invented ids at other peers' addresses"},
      {"sybils", "nodes of the DHT, half of them around the run's key, that "
                 "lose records and name each other"},
      {"unread", "asks for records and reads no answer"},
      {"short_bodies", "parts, means and pieces that are a byte short"},
      {"idle", "lines on which nothing is ever said"},
      {"identities", "lines of many keys that do nothing but stay"},
      {"far_step", "asks donors for step 10^9"},
      {"auxiliaries", "auxiliaries with great lines that are silent in rounds"},
      {"big_claim", "a trainer that has 2^40 samples, and is silent in rounds"},
      {"never_leads", "a trainer whose turn to lead it is, and that does not"},
      {"empty_handed",
       "trainers that bring a sample or none, and are silent in rounds"},
      {"fresh_keys", "the same, under another key every 10 s"},
      {"false_leaders", "trainers that invite all and write no contract"},
      {"turncoats", "trainers that accept, and step back from the round"},
      {"last_moment", "the same, and they accept as late as they can"},
      {"mutator", "what others say, with bits flipped"},
      {"uninvited", "shows admissions that are none, guesses codes, and asks "
                    "for parameters"},
      {"calls_off", "a member that takes each round's lead and calls it off"},
      {"made_up_means", "a member that claims means which nobody made"},
      {"talks",
       "a member that brings nothing, and says all the time that it is "
       "ready"},
      {"commits", "a member that says that the round counts, as it begins"},
      {"gives_up", "a member that gives each round up as it begins"},
      {"freezes", "a member that takes each round's lead and never rules"},
  };
  return manners;
}

const std::vector<std::string>& crashable_actors() {
  static const std::vector<std::string> names{"gateway",
                                              "roster",
                                              "router",
                                              "registrar",
                                              "state_keeper",
                                              "compute",
                                              "matchmaking",
                                              "averager",
                                              "conductor",
                                              "expert_host",
                                              "expert_replicator",
                                              "expert_caller"};
  return names;
}

// ---- the whole --------------------------------------------------------------

bool scenario::needs_port_443() const {
  return std::any_of(groups.begin(), groups.end(), [](const auto& x) {
    return router_named(x.router) == router_kind::only_443;
  });
}

bool scenario::has_routers() const {
  return std::any_of(groups.begin(), groups.end(), [](const auto& x) {
    return router_named(x.router) != router_kind::none;
  });
}

std::size_t scenario::peers() const {
  std::size_t sum = 0;
  for (const auto& group : groups)
    sum += group.count;
  return sum;
}

expected<scenario> scenario::scaled_to(std::size_t n) const {
  std::size_t fixed = 0, scaled = 0, fewest = 0;
  for (const auto& group : groups)
    if (group.role == "bootstrap") {
      fixed += group.count;
    } else {
      scaled += group.count;
      fewest += group.count > 0;
    }
  if (n < fixed + fewest || scaled == 0)
    return failure{"the scenario `" + name + "` needs "
                   + std::to_string(fixed + fewest) + " peers at least."};
  if (n > limits::scenario_peers)
    return failure{"a scenario can have "
                   + std::to_string(limits::scenario_peers)
                   + " peers at most."};
  const double factor
      = static_cast<double>(n - fixed) / static_cast<double>(scaled);
  scenario result = *this;
  // Whole parts first, then one more to whoever is furthest below its due.
  std::vector<std::pair<double, peer_group*>> due;
  std::size_t given = fixed;
  for (auto& group : result.groups)
    if (group.role != "bootstrap" && group.count > 0) {
      const double exact = static_cast<double>(group.count) * factor;
      group.count = std::max<std::size_t>(1, static_cast<std::size_t>(exact));
      given += group.count;
      due.push_back({exact, &group});
    }
  auto give = [&](bool more) {
    auto gap = [&](const auto& x) {
      double left = x.first - static_cast<double>(x.second->count);
      return !more && x.second->count == 1 ? 1e300 : left;
    };
    auto by_gap = [&](const auto& x, const auto& y) { return gap(x) < gap(y); };
    auto chosen = more ? std::max_element(due.begin(), due.end(), by_gap)
                       : std::min_element(due.begin(), due.end(), by_gap);
    chosen->second->count += more ? 1 : std::size_t(-1);
  };
  for (; given < n; ++given)
    give(true);
  for (; given > n; --given)
    give(false);
  for (auto& rule : result.faults) {
    if (rule.kind == fault_kind::join)
      rule.who.count = std::max<std::size_t>(
          1, static_cast<std::size_t>(
                 static_cast<double>(rule.who.count) * factor + 0.5));
    for (auto number : rule.who.peers)
      if (number >= n && number < peers())
        return failure{"a fault names peer " + std::to_string(number)
                       + ", which " + std::to_string(n)
                       + " peers do not have; name them by `random`, `share` "
                         "or `group` instead."};
  }
  return result;
}

bool is_stranger(const peer_group& x) {
  return x.role == strangers_role;
}

scenario with_strangers(scenario what) {
  for (std::size_t i = 0; i < what.strangers.size(); ++i) {
    const auto& x = what.strangers[i];
    peer_group group;
    group.name = "strangers " + std::to_string(i + 1) + ", " + x.manner;
    group.role = strangers_role;
    group.count = x.addresses;
    group.joins_at = {quantity::law::constant, to_seconds(x.from), 0};
    group.line = x.line;
    what.groups.push_back(std::move(group));
  }
  return what;
}

expected<scenario> load_scenario(const std::string& path) {
  errno = 0;
  std::ifstream in{path, std::ios::binary};
  std::string text(limits::scenario_bytes + 1, '\0');
  if (in)
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in && !in.eof())
    return failure{path + ": this file cannot be read"
                   + (errno ? std::string{": "} + std::strerror(errno) : "")
                   + "."};
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > limits::scenario_bytes)
    return failure{path + ": a scenario is no longer than "
                   + std::to_string(limits::scenario_bytes >> 20) + " MiB."};
  auto result = parse_scenario(text);
  if (!result)
    return failure{path + ": " + result.error()};
  if (result->name.empty()) {
    auto begin = path.find_last_of('/') + 1;
    auto end = path.find_last_of('.');
    result->name = path.substr(
        begin, end == std::string::npos || end < begin ? end : end - begin);
  }
  return result;
}

} // namespace potluck
