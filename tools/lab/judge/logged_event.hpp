/// Events as peers log them (runtime/README.md has the table): their fields,
/// and following a log while it is written.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "runtime/event_log.hpp"

namespace potluck::tools {

bool has(const event& x, const std::string& field);
/// 0 when there is no such field; 1 for true.
double number_of(const event& x, const std::string& field);
std::uint64_t count_of(const event& x, const std::string& field);
/// "" when there is no such field.
std::string text_of(const event& x, const std::string& field);

/// One line of a log.
struct logged_event : event {
  double time = 0; ///< Seconds, of the writer's clock.

  double number(const std::string& field) const {
    return number_of(*this, field);
  }
  std::uint64_t count(const std::string& field) const {
    return count_of(*this, field);
  }
  std::string text(const std::string& field) const {
    return text_of(*this, field);
  }
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
