/// Reads what another process appends to a file of JSON objects, one a line.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace potluck::support {

class json_log {
public:
  using predicate = std::function<bool(const nlohmann::json&)>;

  /// The file need not be there yet.
  explicit json_log(std::string path);

  /// Every whole line up to now, in order. A line that is no JSON object
  /// throws nlohmann::json::parse_error.
  const std::vector<nlohmann::json>& lines();

  /// The lines whose field `event` is `name`.
  std::vector<nlohmann::json> named(const std::string& name);

  /// The first line, of those from `first` on, that `wanted` likes; waits for
  /// it. A null value when none came within `patience`.
  nlohmann::json await(const predicate& wanted,
                       std::chrono::milliseconds patience,
                       std::size_t first = 0);

  /// Likewise, by the field `event`.
  nlohmann::json await(const std::string& name,
                       std::chrono::milliseconds patience,
                       std::size_t first = 0);

private:
  std::string path_;
  std::size_t read_ = 0; ///< Bytes of whole lines read.
  std::vector<nlohmann::json> lines_;
};

} // namespace potluck::support
