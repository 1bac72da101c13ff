/// Who a peer is, kept in a directory, and held by one process at a time.
///
/// The directory (mode 0700) has two files: `identity`, the peer id as 64 hex
/// digits (mode 0600), and `lock`, empty. Whoever holds the lock is that peer:
/// two processes with one id would answer each other's messages.
#pragma once

#include <functional>
#include <string>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

class identity {
public:
  /// Takes the lock and reads the peer id; makes directory and files when they
  /// are missing. Fails with a sentence when another process holds the lock, or
  /// when a file cannot be read or written, or is malformed.
  /// @param draw Gives a fresh id; called only when there is none yet. Must
  ///             draw from the system's source of randomness.
  static expected<identity> open(const std::string& directory,
                                 const std::function<peer_id()>& draw);

  const peer_id& id() const {
    return id_;
  }

private:
  identity(const peer_id& id, file_descriptor lock)
      : id_(id), lock_(std::move(lock)) {
  }

  peer_id id_;
  file_descriptor lock_; ///< The kernel frees it when the process ends.
};

} // namespace potluck
