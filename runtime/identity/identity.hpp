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
  static expected<identity> open(const std::string& directory);

  /// A key of this user in the same directory, which no lock guards: its file
  /// is called `name`, and made when it is missing. Of several processes that
  /// find none, all get the same. Fails likewise.
  static expected<key_pair> key_in(const std::string& directory,
                                   const std::string& name);

  const key_pair& key() const {
    return key_;
  }
  const peer_id& id() const {
    return key_.id();
  }

private:
  identity(key_pair key, file_descriptor lock)
      : key_(std::move(key)), lock_(std::move(lock)) {
  }

  key_pair key_;
  file_descriptor lock_; ///< The kernel frees it when the process ends.
};

} // namespace potluck
