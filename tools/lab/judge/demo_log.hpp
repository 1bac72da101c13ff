/// Reading what other processes write to their event logs, while they do.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace potluck::tools {

/// One line of a log (runtime/README.md has the table of events).
struct logged_event {
  std::string name;
  double time = 0;                       ///< Seconds, of the writer's clock.
  std::map<std::string, double> numbers; ///< Truth values among them.
  std::map<std::string, std::string> texts;

  /// 0 when there is no such field.
  double number(const std::string& field) const;
  std::uint64_t count(const std::string& field) const;
  /// "" when there is no such field.
  std::string text(const std::string& field) const;
};

/// Nothing if the line is no event.
std::optional<logged_event> parse_event(const std::string& line);

/// Follows a file that grows, and that may not exist yet.
class log_tail {
public:
  explicit log_tail(std::string path) : path_(std::move(path)) {
  }

  /// The events whose lines were completed since the last call.
  std::vector<logged_event> news();

private:
  std::string path_;
  std::ifstream file_;
  std::string line_; ///< Begun, its end is missing.
};

} // namespace potluck::tools
