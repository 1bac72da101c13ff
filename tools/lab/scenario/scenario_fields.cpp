// The table of each object that stands in a scenario's file, and what must hold
// between its members.

#include <algorithm>
#include <map>
#include <set>

#include "runtime/state/charter_fields.hpp"
#include "runtime/state/setting_kinds.hpp"
#include "tools/lab/network/router_kind.hpp"
#include "tools/lab/scenario/field.hpp"
#include "tools/lab/scenario/limits.hpp"

namespace potluck {

namespace {

/// Entries of the lists of a scenario: a person writes a few dozen.
constexpr std::size_t scenario_groups = 256;
constexpr std::size_t scenario_rules = 1024;
constexpr std::size_t scenario_strangers = 64;

const double longest = to_seconds(limits::scenario_longest);
const double shortest = to_seconds(limits::scenario_shortest);
/// Beyond it a line carries next to nothing: name a partition instead.
constexpr double heaviest_loss = 0.95;
constexpr double fastest_line = 1e12;
constexpr double fastest_peer = 1e9;
constexpr double most_peers = limits::scenario_peers;
constexpr double slowest_factor = 1e6;
/// Of one group of strangers: what one machine's memory holds of connections.
constexpr double most_identities = 4096;
constexpr double most_tries = 1e5;
constexpr double fastest_clock = 10;

using m = measure;

demand one_of(const std::vector<std::string>& choices) {
  return {m::plain, 0, 0, choices};
}

demand entries(std::size_t most) {
  return {m::plain, 0, 0, {}, most};
}

// ---- the run's settings -----------------------------------------------------

void read_run(const json_tree& j, scenario& out) {
  if (!j.is_object())
    wrong("it is an object, as in {\"target-batch\": 256}.");
  std::map<std::string, const declared_setting*> declared;
  for (const auto* family : built_in_families())
    for (const auto& kind : family->kinds)
      for (const auto& x : kind.settings)
        declared[x.name] = &x;
  for (const auto& x : charter_fields())
    declared[x.name] = &x;
  std::vector<std::string> known;
  for (const auto& [name, x] : declared)
    known.push_back(name);
  for (const auto& [name, value] : j.items()) {
    const auto x = declared.find(name);
    if (x == declared.end())
      unknown("setting", name, known);
    if (!value.is_string() && !value.is_number())
      wrong("`" + name + "` is a number or a text.");
    auto text = x->second->read(value.is_string() ? value.get<std::string>()
                                                  : value.dump());
    if (!text)
      wrong(text.error() + ".");
    out.run.push_back({name, std::move(*text)});
  }
}

json_tree write_run(const scenario& x) {
  json_tree result;
  for (const auto& line : x.run)
    result[line.name] = line.value;
  return result;
}

// ---- faults -----------------------------------------------------------------

void read_kind(const json_tree& j, fault_rule& out) {
  const auto name = text_of(j);
  std::vector<std::string> known;
  for (const auto& trait : fault_traits()) {
    if (trait.name == name) {
      out.kind = trait.kind;
      return;
    }
    known.push_back(trait.name);
  }
  unknown("fault", name, known);
}

void read_who(const json_tree& j, fault_rule& out) {
  if (out.kind == fault_kind::join)
    wrong("join takes `group` and `count` instead.");
  read_object(j, out.who);
}

json_tree write_who(const fault_rule& x) {
  if (x.kind == fault_kind::join)
    return {};
  if (!x.who.peers.empty())
    return {{"peers", x.who.peers}};
  json_tree result;
  if (x.who.share > 0)
    result["share"] = measured(m::share, x.who.share);
  else
    result["random"] = x.who.count;
  if (!x.who.group.empty())
    result["group"] = x.who.group;
  return result;
}

void read_amount(const json_tree& j, fault_rule& out) {
  if (!trait_of(out.kind).has_amount)
    wrong(to_string(out.kind) + " has none.");
  auto rule = amount_rule_of(out.kind);
  out.amount = number_of(j, rule.kind, rule.low, rule.high);
}

json_tree write_amount(const fault_rule& x) {
  return trait_of(x.kind).has_amount
             ? measured(amount_rule_of(x.kind).kind, x.amount)
             : json_tree{};
}

/// A field that only this kind of fault has. The kind is the first in the
/// table, so it is known.
field<fault_rule> only_of(fault_kind owner, field<fault_rule> x) {
  x.read = [owner, read = x.read](const json_tree& j, fault_rule& out) {
    if (out.kind != owner)
      wrong("only " + to_string(owner) + " has it, not " + to_string(out.kind)
            + ".");
    read(j, out);
  };
  x.write = [owner, write = x.write](const fault_rule& rule) {
    return rule.kind == owner ? write(rule) : json_tree{};
  };
  return x;
}

field<fault_rule> joiners() {
  return {"count",
          "number",
          "(join) how many",
          [](const json_tree& j, fault_rule& x) {
            x.who.count = whole_of(j, 1, most_peers);
          },
          [](const fault_rule& x) { return json_tree(x.who.count); },
          "1"};
}

/// A field that is no more, and what to write in its place; not in help.
template <class T>
field<T> former(const std::string& name, const std::string& instead) {
  return {name, "", "",
          [instead](const json_tree&, T&) {
            wrong("there is no such field any more; write " + instead + ".");
          },
          [](const T&) { return json_tree{}; }};
}

// ---- what must hold between fields ------------------------------------------

void check_group(const json_tree& j, peer_group& x) {
  if (x.name.empty())
    wrong("it needs a `name`.");
  if (x.stays && !j.contains("away"))
    wrong("`stays` needs `away`: how long it is gone then.");
  if (!x.stays && j.contains("away"))
    wrong("`away` needs `stays`: how long it is there before.");
  const auto behind = router_named(x.router) != router_kind::none;
  if (behind && x.role == "bootstrap")
    wrong("a bootstrap behind a router could not be dialled by anybody.");
  if (!behind && x.homes > 0)
    wrong("`homes` needs a `router` that they share.");
}

void check_strangers(const json_tree&, stranger_group& x) {
  if (x.manner.empty())
    wrong("it needs a `manner`.");
  if (x.identities < x.addresses)
    wrong("each of the " + std::to_string(x.addresses)
          + " addresses needs an identity; name as many `identities`.");
  if (x.until && *x.until <= x.from)
    wrong("`until` comes after `from`.");
}

std::vector<std::string> manners_of_strangers() {
  std::vector<std::string> result;
  for (const auto& x : stranger_manners())
    result.push_back(x.name);
  return result;
}

/// Also resolves a group that stands alone into all of it.
void check_target(const json_tree& j, fault_target& x) {
  if (j.contains("random") && j.contains("share"))
    wrong("it has either `random` or `share`.");
  if (j.contains("peers") && j.size() > 1)
    wrong("`peers` names them all; nothing else stands beside it.");
  if (j.empty())
    wrong("it needs `peers`, `random`, `share` or `group`.");
  if (j.contains("group") && j.size() == 1)
    x.share = 1;
}

void check_fault(const json_tree& j, fault_rule& x) {
  using k = fault_kind;
  const auto& trait = trait_of(x.kind);
  if (!j.contains("fault"))
    wrong("it needs a `fault`.");
  if (trait.has_amount && !j.contains("amount"))
    wrong(trait.name + " needs an `amount`: "
          + example_of(amount_rule_of(x.kind).kind) + ".");
  if (!trait.lasts && x.lasts)
    wrong(trait.name + " takes no `for`: it happens in a moment.");
  if (x.back_after && x.kind != k::kill && x.kind != k::power_cut
      && x.kind != k::leave)
    wrong(trait.name
          + " takes no `back_after`: only kill, power_cut and leave do.");
  if (x.until && !x.every)
    wrong("`until` needs `every`.");
  if (x.kind == k::misbehave && x.detail.empty())
    wrong("misbehave needs a `manner`.");
  if (x.kind == k::join && x.detail.empty())
    wrong("join needs a `group`.");
}

/// Groups and peers that a fault names are there.
void check_names(const scenario& all, const fault_rule& x) {
  std::vector<std::string> known;
  for (const auto& group : all.groups)
    known.push_back(group.name);
  for (const auto& name :
       {x.who.group, x.kind == fault_kind::join ? x.detail : ""})
    if (!name.empty()
        && std::find(known.begin(), known.end(), name) == known.end())
      unknown("group", name, known);
  auto more = std::any_of(
      all.faults.begin(), all.faults.end(),
      [](const auto& other) { return other.kind == fault_kind::join; });
  for (auto number : x.who.peers)
    if (number >= all.peers() && !more)
      wrong("there is no peer " + std::to_string(number) + "; there are "
            + std::to_string(all.peers()) + ", counted from 0.");
}

void check_groups(const scenario& x) {
  std::size_t trainers = 0;
  std::set<std::string> names;
  for (std::size_t i = 0; i < x.groups.size(); ++i) {
    const auto& group = x.groups[i];
    if (!names.insert(group.name).second)
      inside("[" + std::to_string(i) + "]", [&] {
        wrong("another group is called `" + group.name + "` too.");
      });
    // Experts live without trainers.
    if (group.role == "trainer" || group.role == "expert")
      trainers += group.count;
  }
  if (trainers == 0)
    wrong("there is no trainer; add a group as in {\"name\": \"homes\", "
          "\"count\": 4}.");
  if (x.peers() > limits::scenario_peers)
    wrong("they are more than " + std::to_string(limits::scenario_peers)
          + " peers.");
}

void check_scenario(const json_tree&, scenario& x) {
  inside("groups", [&] { check_groups(x); });
  for (std::size_t i = 0; i < x.faults.size(); ++i)
    inside("faults[" + std::to_string(i) + "]",
           [&] { check_names(x, x.faults[i]); });
}

} // namespace

amount_rule amount_rule_of(fault_kind x) {
  switch (x) {
    case fault_kind::delay:
      return {m::seconds, 1e-6, 600};
    case fault_kind::throttle:
      return {m::rate, 1, fastest_line};
    case fault_kind::lose:
      return {m::share, 1e-9, heaviest_loss};
    case fault_kind::duplicate:
    case fault_kind::reorder:
    case fault_kind::corrupt:
      return {m::share, 1e-9, 1};
    case fault_kind::slow:
      return {m::plain, 1, slowest_factor};
    case fault_kind::drift:
      return {m::share, limits::slowest_clock, fastest_clock};
    default:
      return {};
  }
}

// ---- the tables -------------------------------------------------------------

template <>
const object_format<scenario>& format_of() {
  using s = scenario;
  static const object_format<s> format{
      {member("name", &s::name, "for reports; without it, the file's name"),
       member("about", &s::about, "what it shows, for people"),
       member("lasts", &s::lasts, "virtual time at most",
              {m::seconds, 1, longest}),
       {"run", "settings",
        "settings of the run, as in {\"target-batch\": 256, \"steps\": 200}; "
        "the names are join's options",
        read_run, write_run},
       member("model_values", &s::model_values,
              "parameters of the simulated model", {m::plain, 1, 1 << 24}),
       member("groups", &s::groups, "groups of alike peers; required",
              entries(scenario_groups)),
       member("faults", &s::faults, "what befalls them",
              entries(scenario_rules)),
       member("strangers", &s::strangers,
              "machines of others that attack them (simulation)",
              entries(scenario_strangers)),
       member("expects", &s::expects, "what must hold besides the promises")},
      check_scenario};
  return format;
}

template <>
const object_format<peer_group>& format_of() {
  using g = peer_group;
  // `away` belongs to `stays`, even when it is none.
  auto away = member("away", &g::away,
                     "how long it is away then; required with `stays`",
                     {m::seconds, 0, longest});
  away.write = [write = away.write](const g& x) {
    return x.stays ? write(x) : json_tree{};
  };
  static const object_format<g> format{
      {member("name", &g::name,
              "for `who` of faults and for reports; required"),
       member("count", &g::count,
              "how many from the beginning; --peers scales them, but not "
              "bootstraps",
              {m::plain, 0, most_peers}),
       member(
           "role", &g::role,
           "trainer, auxiliary or bootstrap; or of experts: expert, caller "
           "(simulation)",
           one_of({"trainer", "auxiliary", "bootstrap", "expert", "caller"})),
       member("router", &g::router, "before each home, see below",
              one_of(router_names())),
       former<g>("behind_nat", "\"router\": \"port-restricted\""),
       member("homes", &g::homes,
              "how many homes they share; one each without (simulation)",
              {m::plain, 0, most_peers}),
       member("samples_per_second", &g::samples_per_second,
              "what one computes; chance draws it once a peer",
              {m::plain, 1e-3, fastest_peer}),
       member("joins_at", &g::joins_at, "when it starts",
              {m::seconds, 0, longest}),
       member("clock_drift", &g::clock_drift, "0.01: its clock runs 1 % fast",
              {m::share, limits::slowest_clock, fastest_clock}),
       member("line", &g::line, "its access line"),
       member("writes_checkpoints", &g::writes_checkpoints,
              "saves the training state on its disk"),
       member("keeps_addresses", &g::keeps_addresses,
              "saves there whom it met, for its next start (simulation)"),
       member("invited", &g::invited,
              "they know the ids of those that they dial first, as from an "
              "invitation (simulation)"),
       member("stays", &g::stays,
              "how long it stays before it goes away; always without",
              {m::seconds, shortest, longest}),
       away,
       member("leaves_orderly", &g::leaves_orderly,
              "share of those departures with a goodbye; others are kills",
              {m::share, 0, 1}),
       member("keeps_disk", &g::keeps_disk,
              "share of returns with the peer's files and identity",
              {m::share, 0, 1})},
      check_group};
  return format;
}

template <>
const object_format<stranger_group>& format_of() {
  using s = stranger_group;
  static const object_format<s> format{
      {member("manner", &s::manner, "what they do, see below; required",
              one_of(manners_of_strangers())),
       member("rate", &s::rate, "tries a second, of all together",
              {m::plain, 1e-3, most_tries}),
       member("identities", &s::identities, "keys, of all together",
              {m::plain, 1, most_identities}),
       member("addresses", &s::addresses, "machines, with an address each",
              {m::plain, 1, 256}),
       member("from", &s::from, "when they come", {m::seconds, 0, longest}),
       member("until", &s::until, "when they go; never without",
              {m::seconds, 0, longest}),
       member("line", &s::line, "the access line of each machine")},
      check_strangers};
  return format;
}

template <>
const object_format<line_profile>& format_of() {
  using l = line_profile;
  static const object_format<l> format{
      {member("delay", &l::delay, "one way, to the middle of the network",
              {m::seconds, 0, 60}),
       member("jitter", &l::jitter, "more of it, at most, for every frame",
              {m::seconds, 0, 60}),
       member("upload", &l::upload, "0: no limit", {m::rate, 0, fastest_line}),
       member("download", &l::download, "0: no limit",
              {m::rate, 0, fastest_line}),
       member("loss", &l::loss, "share of packets; each costs a retransmission",
              {m::share, 0, heaviest_loss}),
       member("duplicate", &l::duplicate,
              "share of frames, by a broken box on the way", {m::share, 0, 1}),
       member("reorder", &l::reorder, "share of frames", {m::share, 0, 1}),
       member("corrupt", &l::corrupt, "share of frames: one bit flips",
              {m::share, 0, 1})}};
  return format;
}

template <>
const object_format<fault_rule>& format_of() {
  using f = fault_rule;
  using k = fault_kind;
  static const object_format<f> format{
      {{"fault", "text", "its kind, see below; required", read_kind,
        [](const f& x) { return json_tree(to_string(x.kind)); }, "", true},
       {"who", "who, below", "whom it befalls; not with join", read_who,
        write_who},
       member("at", &f::at, "when first", {m::seconds, 0, longest}),
       member("every", &f::every, "again after so long, each time anew",
              {m::seconds, shortest, longest}),
       member("until", &f::until, "but not later than this",
              {m::seconds, 0, longest}),
       member("for", &f::lasts, "how long one that lasts does; else for ever",
              {m::seconds, shortest, longest}),
       member("back_after", &f::back_after,
              "(kill, power_cut, leave) when it starts again; else never, or "
              "after its group's `away`",
              {m::seconds, 0, longest}),
       {"amount", "see kinds",
        "how much: a time, rate, share or factor, as the kind has it",
        read_amount, write_amount, "", true},
       only_of(k::crash_actor,
               member("actor", &f::detail, "(crash_actor) which one; else any",
                      one_of(crashable_actors()))),
       only_of(k::misbehave, member("manner", &f::detail,
                                    "(misbehave) in which way; required",
                                    one_of(misbehaviours()))),
       only_of(k::join,
               member("group", &f::detail, "(join) of which group; required")),
       only_of(k::join, joiners())},
      check_fault};
  return format;
}

template <>
const object_format<fault_target>& format_of() {
  using t = fault_target;
  static const object_format<t> format{
      {member("peers", &t::peers,
              "these, by number from 0 in the groups' order",
              {m::plain, 0, most_peers - 1}),
       member("random", &t::count, "so many, by chance",
              {m::plain, 1, most_peers}),
       member("share", &t::share,
              "this share of those who are there, rounded up",
              {m::share, 1e-6, 1}),
       member("group", &t::group,
              "only of this group; alone, all of it. Without it: of any but "
              "the bootstraps")},
      check_target};
  return format;
}

template <>
const object_format<expectation>& format_of() {
  using e = expectation;
  static const object_format<e> format{
      {member("finishes", &e::finishes,
              "all who are there finish, with one state"),
       member("first_try", &e::first_try,
              "share of steps that the first round tried commits, at least",
              {m::share, 0, 1}),
       member("recovers_within", &e::recovers_within,
              "from the end of the last fault to the next step, at most",
              {m::seconds, 1, longest}),
       member("final_loss", &e::final_loss, "the last step's, at most",
              {m::plain, 0, 1e9}),
       member("may_ban", &e::may_ban,
              "hostile peers are there, and must be banned"),
       member("may_split", &e::may_split,
              "peers cut off from the others may go on apart, and heal "
              "later")}};
  return format;
}

} // namespace potluck
