/// Who a peer is, kept in a directory, and held by one process at a time.
///
/// The directory (mode 0700) has two files: `identity`, the peer's key pair in
/// PEM (mode 0600), and `lock`, empty. Whoever holds the lock is that peer: two
/// processes with one key would answer each other's messages. The peer id
/// follows from the key.
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "runtime/identity/key_pair.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

class identity {
public:
  /// Takes the lock and reads the key; makes directory, key and files when they
  /// are missing. Fails with a sentence when another process holds the lock,
  /// when a file cannot be read or written, when others may read the key, or
  /// when it is no Ed25519 key.
  ///
  /// A file of an early version, which held a bare number instead of a key, is
  /// replaced: nobody could prove to be that number. See `replaced`.
  static expected<identity> open(const std::string& directory);

  const key_pair& key() const {
    return key_;
  }
  const peer_id& id() const {
    return key_.id();
  }

  /// The peer was known by an id without a key, and has a new one now.
  bool replaced() const {
    return replaced_;
  }

private:
  identity(key_pair key, file_descriptor lock, bool replaced)
      : key_(std::move(key)), lock_(std::move(lock)), replaced_(replaced) {
  }

  key_pair key_;
  file_descriptor lock_; ///< The kernel frees it when the process ends.
  bool replaced_;
};

} // namespace potluck
