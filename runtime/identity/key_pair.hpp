/// What a peer proves itself with: an Ed25519 key pair (RFC 8032).
///
/// Knows neither files nor connections. OpenSSL's types are named, its headers
/// stay in the sources.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "messages/seal.hpp"

struct evp_pkey_st; // OpenSSL's EVP_PKEY.

namespace potluck {

/// Who holds the other half of `key`: its SHA-256. Whoever wants to be a given
/// peer would have to find another key with the same hash.
peer_id id_of(const public_key& key);

/// The key behind OpenSSL's; nothing when it is of another kind.
expected<public_key> public_key_of(const evp_pkey_st* key);

/// Whether whoever holds the other half of `key` has signed these bytes (RFC
/// 8032, section 5.1.7). False also where `key` is no point of the curve.
bool has_signed(const public_key& key, std::string_view bytes,
                const signature& x);

/// Copies share one key.
class key_pair {
public:
  /// A fresh one from the system's source of randomness. Throws
  /// `std::runtime_error` when that fails.
  static key_pair generate();

  /// Reads what `pem` wrote. Fails with the end of a sentence that begins with
  /// the file's name: truncated, encrypted, another kind of key.
  static expected<key_pair> parse(const std::string& pem);

  const peer_id& id() const {
    return id_;
  }
  const public_key& public_half() const {
    return public_half_;
  }

  /// Throws `std::runtime_error` when OpenSSL fails.
  signature sign(std::string_view bytes) const;

  /// Another key pair, always the same for one `purpose`, which says nothing of
  /// this one: its secret is the purpose's HMAC-SHA256 under this one's (RFC
  /// 2104). Throws `std::runtime_error` when OpenSSL fails.
  key_pair derive(const std::string& purpose) const;

  /// The secret half, unencrypted: PKCS #8 in PEM, as `openssl genpkey
  /// -algorithm ed25519` writes it.
  std::string pem() const;

  /// For OpenSSL's calls; lives as long as this does.
  evp_pkey_st* native() const {
    return key_.get();
  }

private:
  explicit key_pair(std::shared_ptr<evp_pkey_st> key);

  std::shared_ptr<evp_pkey_st> key_;
  public_key public_half_;
  peer_id id_;
};

} // namespace potluck
