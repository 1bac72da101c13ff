#include "tools/lab/judge/logged_event.hpp"

#include <type_traits>

#include <nlohmann/json.hpp>

namespace potluck::tools {

namespace {

const event::value* find(const event& x, const std::string& field) {
  for (const auto& [name, value] : x.fields)
    if (name == field)
      return &value;
  return nullptr;
}

event::value value_of(const nlohmann::json& x) {
  if (x.is_boolean())
    return x.get<bool>();
  if (x.is_number_unsigned())
    return x.get<std::uint64_t>();
  if (x.is_number_integer())
    return x.get<std::int64_t>();
  if (x.is_number())
    return x.get<double>();
  return x.get<std::string>();
}

} // namespace

bool has(const event& x, const std::string& field) {
  return find(x, field) != nullptr;
}

double number_of(const event& x, const std::string& field) {
  auto found = find(x, field);
  if (!found)
    return 0;
  return std::visit(
      [](const auto& value) -> double {
        if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
          return static_cast<double>(value);
        else
          return 0;
      },
      *found);
}

std::uint64_t count_of(const event& x, const std::string& field) {
  auto number = number_of(x, field);
  return number >= 0 && number < 9e15 ? static_cast<std::uint64_t>(number) : 0;
}

std::string text_of(const event& x, const std::string& field) {
  auto found = find(x, field);
  auto text = found ? std::get_if<std::string>(found) : nullptr;
  return text ? *text : "";
}

std::optional<logged_event> parse_event(const std::string& line) {
  auto object = nlohmann::json::parse(line, nullptr, false);
  if (!object.is_object() || !object.contains("event")
      || !object["event"].is_string())
    return std::nullopt;
  logged_event result;
  for (auto& [field, value] : object.items())
    if (field == "event")
      result.name = value.get<std::string>();
    else if (field == "time" && value.is_number())
      result.time = value.get<double>();
    else if (value.is_primitive() && !value.is_null())
      result.fields.emplace_back(field, value_of(value));
  return result;
}

std::vector<logged_event> log_tail::news() {
  std::vector<logged_event> result;
  if (!file_.is_open())
    file_.open(path_);
  if (!file_.is_open())
    return result;
  file_.clear(); // The end that was reached last time has moved.
  char buffer[4096];
  while (file_.read(buffer, sizeof(buffer)), file_.gcount() > 0)
    for (auto i = buffer; i != buffer + file_.gcount(); ++i) {
      if (*i != '\n') {
        line_ += *i;
        continue;
      }
      if (auto x = parse_event(line_))
        result.push_back(std::move(*x));
      line_.clear();
    }
  return result;
}

} // namespace potluck::tools
