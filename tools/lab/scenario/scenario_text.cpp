// A scenario's text: read, written and explained from the tables of its fields.

#include "tools/lab/display/table.hpp"
#include "tools/lab/network/router_kind.hpp"
#include "tools/lab/scenario/field.hpp"

namespace potluck {

namespace {

constexpr auto introduction
    = R"(A scenario is one JSON object; // and /* */ begin comments.

Times are "20ms", "5min", "3d" (us ms s min h d) or seconds; rates "10mbit" or
"2MB" a second (kbit mbit gbit, B kB MB GB) or bytes a second; shares 0.05 or
"5%". Where "or law" stands, chance can decide each time:

  {"uniform": [from, to]}  {"exponential": mean}
  {"lognormal": [median, deviation of the logarithm]}
)";

constexpr auto example = R"(Example:

{
  "about": "Eight homes; every minute one of them is killed.",
  "lasts": "20min",
  "run": {"target-batch": 256, "steps": 100},
  "groups": [
    {"name": "first contact", "count": 1, "role": "bootstrap"},
    {"name": "homes", "count": 8,
     "samples_per_second": {"lognormal": [40, 0.5]},
     "line": {"delay": "20ms", "upload": "10mbit", "download": "50mbit"}}
  ],
  "faults": [
    {"fault": "kill", "who": {"random": 1}, "at": "1min", "every": "1min",
     "until": "10min", "back_after": {"exponential": "30s"}},
    {"fault": "isolate", "who": {"share": 0.5}, "at": "3min", "for": "20s"}
  ],
  "expects": {"recovers_within": "1min"}  // after the last fault
}
)";

template <class T>
std::string section(const std::string& title) {
  std::vector<std::vector<std::string>> rows{
      {title, "value", "default", "meaning"}};
  for (const auto& x : format_of<T>().fields)
    if (!x.form.empty())
      rows.push_back({x.name, x.form, x.standard, x.meaning});
  return table(rows) + "\n";
}

std::string kinds() {
  std::vector<std::vector<std::string>> rows{
      {"fault", "for", "amount", "where", "meaning"}};
  for (const auto& x : fault_traits()) {
    auto kind = amount_rule_of(x.kind).kind;
    rows.push_back({x.name, x.lasts ? "yes" : "",
                    !x.has_amount            ? ""
                    : kind == measure::plain ? "factor"
                                             : noun_of(kind),
                    x.in_chaos        ? x.in_simulation ? "both" : "chaos"
                    : x.in_simulation ? "sim"
                                      : "",
                    x.meaning});
  }
  return table(rows);
}

std::string routers() {
  std::vector<std::vector<std::string>> rows{{"router", "meaning (RFC 4787)"}};
  for (const auto& x : router_traits())
    rows.push_back({x.name, x.meaning});
  return table(rows);
}

std::string manners() {
  std::vector<std::vector<std::string>> rows{
      {"manner of strangers", "meaning"}};
  for (const auto& x : stranger_manners())
    rows.push_back({x.name, x.meaning});
  return table(rows);
}

std::string names(const std::string& of, const std::vector<std::string>& all) {
  std::string result = of + ":";
  for (const auto& name : all)
    result += " " + name;
  return result + "\n";
}

} // namespace

expected<scenario> parse_scenario(const std::string& text) {
  auto tree = read_tree(text);
  if (!tree)
    return failure{tree.error()};
  try {
    scenario result;
    read_object(*tree, result);
    return result;
  } catch (const mistake& x) {
    return failure_of(x, "the scenario");
  }
}

std::string to_text(const scenario& x) {
  return write_tree(write_object(x)) + "\n";
}

std::string scenario_help() {
  return introduction + ("\n" + section<scenario>("the file"))
         + section<peer_group>("groups") + section<line_profile>("line")
         + section<fault_rule>("faults") + section<fault_target>("who")
         + section<stranger_group>("strangers")
         + section<expectation>("expects") + kinds() + "\n" + routers() + "\n"
         + manners() + "\n" + names("manners of misbehave", misbehaviours())
         + names("actors of crash_actor", crashable_actors()) + "\n" + example;
}

} // namespace potluck
