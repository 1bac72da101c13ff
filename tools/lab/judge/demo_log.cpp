#include "tools/lab/judge/demo_log.hpp"

#include <nlohmann/json.hpp>

namespace potluck::tools {

double logged_event::number(const std::string& field) const {
  auto i = numbers.find(field);
  return i == numbers.end() ? 0 : i->second;
}

std::uint64_t logged_event::count(const std::string& field) const {
  auto x = number(field);
  return x >= 0 && x < 9e15 ? static_cast<std::uint64_t>(x) : 0;
}

std::string logged_event::text(const std::string& field) const {
  auto i = texts.find(field);
  return i == texts.end() ? "" : i->second;
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
    else if (value.is_number())
      result.numbers[field] = value.get<double>();
    else if (value.is_boolean())
      result.numbers[field] = value.get<bool>() ? 1 : 0;
    else if (value.is_string())
      result.texts[field] = value.get<std::string>();
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
