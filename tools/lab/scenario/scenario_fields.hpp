/// The tables behind a scenario's file: one line a field, from which reading,
/// writing, complaints and help follow. Private to this folder.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/lab/scenario/scenario.hpp"
#include "tools/lab/scenario/scenario_values.hpp"

namespace potluck {

/// What does not stand in a member of its own, or is read by rules of its own.
enum class special_field {
  kind,    ///< Of a fault: its name.
  target,  ///< `fault_rule::who`.
  run,     ///< `scenario::run`.
  amount,  ///< `fault_rule::amount`, measured as its kind has it.
  actor,   ///< `fault_rule::detail` of crash_actor.
  manner,  ///< The same of misbehave.
  group,   ///< The same of join.
  joiners, ///< `fault_rule::who.count` of join.
};

template <class T>
struct scenario_field {
  using place = std::variant<
      special_field, std::string T::*, bool T::*, double T::*, std::size_t T::*,
      duration T::*, quantity T::*, std::optional<quantity> T::*,
      std::optional<duration> T::*, std::optional<double> T::*,
      std::vector<std::size_t> T::*, line_profile T::*, expectation T::*,
      std::vector<peer_group> T::*, std::vector<fault_rule> T::*>;

  std::string name;
  place where;
  std::string meaning; ///< For help: without its default.
  measure kind = measure::plain;
  double low = 0;
  double high = 0;
  std::vector<std::string> choices = {}; ///< Of a text; none: any.
};

/// All fields of T: scenario, peer_group, line_profile, fault_rule,
/// fault_target or expectation.
template <class T>
const std::vector<scenario_field<T>>& scenario_fields();

/// What `amount` of a fault means, and its limits.
struct amount_rule {
  measure kind = measure::plain;
  double low = 0;
  double high = 0;
};
amount_rule amount_rule_of(fault_kind x);

/// The kind that alone has this field, if one does.
std::optional<fault_kind> owner_of(special_field x);

} // namespace potluck
