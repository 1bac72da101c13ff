#include "tools/lab/scenario/scenario_write.hpp"

#include "tools/lab/scenario/scenario_numbers.hpp"

namespace potluck {

namespace {

using what = scenario_value::what;

template <class T>
scenario_value write_object(const T& x);

template <class T>
class member_writer {
public:
  member_writer(const T& x, const scenario_field<T>& field)
      : x_(x), field_(field) {
  }

  scenario_value operator()(std::string T::*m) const {
    return scenario_value::of(x_.*m);
  }
  scenario_value operator()(bool T::*m) const {
    return scenario_value::of(x_.*m);
  }
  scenario_value operator()(double T::*m) const {
    return write_number(field_.kind, x_.*m);
  }
  scenario_value operator()(std::size_t T::*m) const {
    return scenario_value::of(static_cast<double>(x_.*m));
  }
  scenario_value operator()(duration T::*m) const {
    return write_number(field_.kind, to_seconds(x_.*m));
  }
  scenario_value operator()(quantity T::*m) const {
    return write_quantity(field_.kind, x_.*m);
  }
  scenario_value operator()(std::optional<quantity> T::*m) const {
    return x_.*m ? write_quantity(field_.kind, *(x_.*m)) : scenario_value{};
  }
  scenario_value operator()(std::optional<duration> T::*m) const {
    return x_.*m ? write_number(field_.kind, to_seconds(*(x_.*m)))
                 : scenario_value{};
  }
  scenario_value operator()(std::optional<double> T::*m) const {
    return x_.*m ? write_number(field_.kind, *(x_.*m)) : scenario_value{};
  }
  scenario_value operator()(std::vector<std::size_t> T::*m) const {
    auto result = scenario_value::empty(what::list);
    for (auto number : x_.*m)
      result.add("", scenario_value::of(static_cast<double>(number)));
    return some(std::move(result));
  }
  scenario_value operator()(line_profile T::*m) const {
    return some(write_object(x_.*m));
  }
  scenario_value operator()(expectation T::*m) const {
    return some(write_object(x_.*m));
  }
  scenario_value operator()(std::vector<peer_group> T::*m) const {
    return list(x_.*m);
  }
  scenario_value operator()(std::vector<fault_rule> T::*m) const {
    return list(x_.*m);
  }
  scenario_value operator()(special_field m) const {
    if constexpr (std::is_same_v<T, scenario>) {
      auto result = scenario_value::empty(what::object);
      for (const auto& line : x_.run)
        result.add(line.name, scenario_value::of(line.value));
      return some(std::move(result));
    } else if constexpr (std::is_same_v<T, fault_rule>) {
      return special(m);
    }
    return {};
  }

private:
  static scenario_value some(scenario_value x) {
    return x.members.empty() ? scenario_value{} : x;
  }

  template <class Item>
  static scenario_value list(const std::vector<Item>& items) {
    auto result = scenario_value::empty(what::list);
    for (const auto& item : items)
      result.add("", write_object(item));
    return some(std::move(result));
  }

  scenario_value special(special_field m) const {
    if (auto owner = owner_of(m); owner && *owner != x_.kind)
      return {};
    switch (m) {
      case special_field::kind:
        return scenario_value::of(to_string(x_.kind));
      case special_field::target:
        return x_.kind == fault_kind::join ? scenario_value{} : target(x_.who);
      case special_field::amount:
        return trait_of(x_.kind).has_amount
                   ? write_number(amount_rule_of(x_.kind).kind, x_.amount)
                   : scenario_value{};
      case special_field::joiners:
        return scenario_value::of(static_cast<double>(x_.who.count));
      case special_field::actor:
      case special_field::manner:
      case special_field::group:
        return x_.detail.empty() ? scenario_value{}
                                 : scenario_value::of(x_.detail);
      case special_field::run:
        break;
    }
    return {};
  }

  static scenario_value target(const fault_target& x) {
    auto result = scenario_value::empty(what::object);
    if (!x.peers.empty()) {
      fault_target named;
      named.peers = x.peers;
      return write_object(named);
    }
    if (x.share > 0)
      result.add("share", scenario_value::of(x.share));
    else
      result.add("random", scenario_value::of(static_cast<double>(x.count)));
    if (!x.group.empty())
      result.add("group", scenario_value::of(x.group));
    return result;
  }

  const T& x_;
  const scenario_field<T>& field_;
};

/// All members that differ from their defaults.
template <class T>
scenario_value write_object(const T& x) {
  auto result = scenario_value::empty(what::object);
  const T plain;
  for (const auto& field : scenario_fields<T>()) {
    auto value = write_field(x, field);
    auto required = field.name == "fault" || field.name == "amount";
    if (value.kind != what::nothing
        && (required
            || write_tree(value) != write_tree(write_field(plain, field))))
      result.add(field.name, std::move(value));
  }
  // `away` belongs to `stays`, even when it is none.
  if constexpr (std::is_same_v<T, peer_group>)
    if (x.stays && !result.find("away"))
      result.add("away", scenario_value::of(0.0));
  return result;
}

} // namespace

template <class T>
scenario_value write_field(const T& x, const scenario_field<T>& field) {
  return std::visit(member_writer<T>{x, field}, field.where);
}

template scenario_value write_field(const scenario&,
                                    const scenario_field<scenario>&);
template scenario_value write_field(const peer_group&,
                                    const scenario_field<peer_group>&);
template scenario_value write_field(const line_profile&,
                                    const scenario_field<line_profile>&);
template scenario_value write_field(const fault_rule&,
                                    const scenario_field<fault_rule>&);
template scenario_value write_field(const fault_target&,
                                    const scenario_field<fault_target>&);
template scenario_value write_field(const expectation&,
                                    const scenario_field<expectation>&);

std::string to_text(const scenario& x) {
  return write_tree(write_object(x)) + "\n";
}

} // namespace potluck
