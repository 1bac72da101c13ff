/// Files of strangers, read piece by piece, and the JSON in them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "messages/expected.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

/// Reads a JSON object without recursion or surprise: null where it is none, or
/// has lists in lists in lists.
nlohmann::json parse_flat(const std::string& text);

/// A file that is open for reading, of the length that it had then.
class readable_file {
public:
  /// Fails with a sentence, also for a folder.
  static expected<readable_file> open(const std::string& path);

  std::uint64_t bytes() const {
    return bytes_;
  }
  /// False: so much is not there.
  bool read(std::uint64_t from, void* out, std::uint64_t size) const;

private:
  explicit readable_file(const std::string& path);

  file_descriptor fd_;
  std::uint64_t bytes_ = 0;
};

} // namespace potluck
