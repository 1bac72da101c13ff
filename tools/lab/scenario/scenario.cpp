#include "tools/lab/scenario/scenario.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "tools/lab/network/router_kind.hpp"
#include "tools/lab/scenario/limits.hpp"

namespace potluck {

namespace {

/// No role of a peer, so that no file has it.
constexpr auto strangers_role = "stranger";

} // namespace

// ---- names ------------------------------------------------------------------

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
      {"trickles", "a member that sends its parts one at a time"},
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
