/// Where a host keeps what its experts have learnt: in a directory, or in
/// memory, for as long as the shelf lives.
///
/// A file holds one expert's bytes as the expert wrote them, behind a header
/// that names it: magic "PLX1", the uid's length (4 bytes, little-endian), the
/// uid, the digest of the bytes (16). It is replaced as a whole or not at all.
/// Blocking; any thread, one expert at a time from one thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

class expert_shelf {
public:
  /// @param directory Made when it is missing, at the first `put`; empty:
  /// in memory.
  explicit expert_shelf(std::string directory = "")
      : directory_(std::move(directory)) {
  }

  /// Fails with a sentence that names the file and the reason; what was there
  /// stays.
  expected<bool> put(const std::string& uid,
                     const std::vector<std::uint8_t>& bytes);

  /// Nothing is there: an empty list. Fails when there is something that
  /// cannot be read, or is not what was written.
  expected<std::vector<std::uint8_t>> get(const std::string& uid);

  bool on_disk() const {
    return !directory_.empty();
  }

private:
  std::string path_of(const std::string& uid) const;

  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::uint8_t>> held_;
};

} // namespace potluck
