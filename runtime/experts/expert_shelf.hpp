/// Where a host keeps what its experts have learnt: in a directory, or in
/// memory, for as long as the shelf lives.
///
/// A file holds one expert's bytes as the expert wrote them, behind a header
/// that names it: magic "PLX2", the uid's length (4 bytes), the uid, the term
/// (4), the updates (8), the digest of the bytes (16); numbers little-endian.
/// It is replaced as a whole or not at all. Blocking; any thread, one expert at
/// a time from one thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "messages/expected.hpp"

namespace potluck {

/// What a shelf holds of one expert.
struct shelved_expert {
  std::uint32_t term = 1;    ///< See runtime/experts/tenure.hpp.
  std::uint64_t version = 0; ///< Updates, at least, in the bytes.
  std::vector<std::uint8_t> bytes;
};

class expert_shelf {
public:
  /// @param directory Made when it is missing, at the first `put`; empty:
  /// in memory.
  explicit expert_shelf(std::string directory = "")
      : directory_(std::move(directory)) {
  }

  /// Fails with a sentence that names the file and the reason; what was there
  /// stays.
  expected<bool> put(const std::string& uid, shelved_expert x);

  /// Nothing is there: no bytes. Fails when there is something that cannot be
  /// read, or is not what was written.
  expected<shelved_expert> get(const std::string& uid);

  /// Nothing is there any more.
  void remove(const std::string& uid);

  /// What is there, ascending.
  std::vector<std::string> uids();

  bool on_disk() const {
    return !directory_.empty();
  }

private:
  std::string path_of(const std::string& uid) const;

  const std::string directory_;
  std::mutex mutex_;
  std::map<std::string, shelved_expert> held_;
};

} // namespace potluck
