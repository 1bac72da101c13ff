/// What all encrypted connections of one peer share: its certificate, and which
/// of TLS's many ways are taken.
///
/// TLS 1.3 alone, X25519, AES-128-GCM or ChaCha20-Poly1305, Ed25519; both sides
/// show a certificate; no tickets, no resumption, no early data: a connection
/// lives long, and a handshake costs half a millisecond.
#pragma once

#include <memory>

#include "runtime/identity/key_pair.hpp"

struct ssl_ctx_st; // OpenSSL's SSL_CTX.

namespace potluck {

class tls_context {
public:
  /// Throws `std::runtime_error` when this OpenSSL lacks any of these.
  explicit tls_context(const key_pair& mine);

  /// For `tls_channel`; lives as long as this does.
  ssl_ctx_st* native() const {
    return context_.get();
  }

private:
  std::shared_ptr<ssl_ctx_st> context_;
};

} // namespace potluck
