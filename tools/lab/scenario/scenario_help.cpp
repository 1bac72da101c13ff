// What `--help` and README.md say about the format, from the tables.

#include "tools/lab/display/table.hpp"
#include "tools/lab/scenario/scenario_write.hpp"

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
std::string form_of(const scenario_field<T>& field) {
  auto number = [&]() -> std::string {
    switch (field.kind) {
      case measure::seconds:
        return "time";
      case measure::rate:
        return "rate";
      case measure::share:
        return "share";
      case measure::plain:
        break;
    }
    return "number";
  };
  struct namer {
    std::string number;
    std::string operator()(std::string T::*) const {
      return "text";
    }
    std::string operator()(bool T::*) const {
      return "true or false";
    }
    std::string operator()(std::vector<std::size_t> T::*) const {
      return "numbers";
    }
    std::string operator()(line_profile T::*) const {
      return "line, below";
    }
    std::string operator()(expectation T::*) const {
      return "expects, below";
    }
    std::string operator()(std::vector<peer_group> T::*) const {
      return "groups, below";
    }
    std::string operator()(std::vector<fault_rule> T::*) const {
      return "faults, below";
    }
    std::string operator()(quantity T::*) const {
      return number + " or law";
    }
    std::string operator()(std::optional<quantity> T::*) const {
      return number + " or law";
    }
    std::string operator()(double T::*) const {
      return number;
    }
    std::string operator()(std::size_t T::*) const {
      return "number";
    }
    std::string operator()(duration T::*) const {
      return number;
    }
    std::string operator()(std::optional<duration> T::*) const {
      return number;
    }
    std::string operator()(std::optional<double> T::*) const {
      return number;
    }
    std::string operator()(special_field x) const {
      switch (x) {
        case special_field::target:
          return "who, below";
        case special_field::run:
          return "settings";
        case special_field::amount:
          return "see kinds";
        case special_field::joiners:
          return "number";
        default:
          return "text";
      }
    }
  };
  return std::visit(namer{number()}, field.where);
}

template <class T>
std::string section(const std::string& title) {
  std::vector<std::vector<std::string>> rows{
      {title, "value", "default", "meaning"}};
  for (const auto& field : scenario_fields<T>()) {
    auto value = write_field(T{}, field);
    auto special = std::get_if<special_field>(&field.where);
    // A nested object's defaults stand in its own table, and those of a fault
    // depend on its kind.
    auto bare
        = special || value.kind == scenario_value::what::nothing
          || value.kind == scenario_value::what::object
          || (value.kind == scenario_value::what::text && value.text.empty());
    rows.push_back({field.name, form_of(field),
                    special && *special == special_field::joiners ? "1"
                    : bare                                        ? ""
                    : value.kind == scenario_value::what::text
                        ? value.text
                        : write_tree(value, -1),
                    field.meaning});
  }
  return table(rows) + "\n";
}

std::string kinds() {
  std::vector<std::vector<std::string>> rows{
      {"fault", "for", "amount", "where", "meaning"}};
  for (const auto& x : fault_traits()) {
    std::string amount;
    if (x.has_amount)
      switch (amount_rule_of(x.kind).kind) {
        case measure::seconds:
          amount = "time";
          break;
        case measure::rate:
          amount = "rate";
          break;
        case measure::share:
          amount = "share";
          break;
        case measure::plain:
          amount = "factor";
          break;
      }
    rows.push_back({x.name, x.lasts ? "yes" : "", amount,
                    x.in_chaos        ? x.in_simulation ? "both" : "chaos"
                    : x.in_simulation ? "sim"
                                      : "",
                    x.meaning});
  }
  return table(rows);
}

std::string names(const std::string& of, const std::vector<std::string>& all) {
  std::string result = of + ":";
  for (const auto& name : all)
    result += " " + name;
  return result + "\n";
}

} // namespace

std::string scenario_help() {
  return introduction + ("\n" + section<scenario>("the file"))
         + section<peer_group>("groups") + section<line_profile>("line")
         + section<fault_rule>("faults") + section<fault_target>("who")
         + section<expectation>("expects") + kinds() + "\n"
         + names("manners of misbehave", misbehaviours())
         + names("actors of crash_actor", crashable_actors()) + "\n" + example;
}

} // namespace potluck
