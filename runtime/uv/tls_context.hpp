/// What all encrypted connections of one peer share: its certificate, and which
/// of TLS's many ways are taken.
///
/// TLS 1.3 alone, X25519, AES-128-GCM or ChaCha20-Poly1305, Ed25519; both sides
/// show a certificate; no tickets, no resumption, no early data: a connection
/// lives long, and a handshake costs half a millisecond.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/identity/key_pair.hpp"

struct ssl_ctx_st; // OpenSSL's SSL_CTX.

namespace potluck {

class tls_context {
public:
  /// Throws `std::runtime_error` when this OpenSSL lacks any of these.
  explicit tls_context(const key_pair& mine);

  /// From here on a dialler that asks for `who` (`tls_channel::ask_for`) is
  /// shown the certificate of `other`; any other dialler that of this.
  void add_face(const peer_id& who, const tls_context& other);
  void remove_face(const peer_id& who);

  /// For `tls_channel`; lives as long as this does.
  ssl_ctx_st* native() const {
    return context_.get();
  }

private:
  using named_contexts = std::map<std::string, std::shared_ptr<ssl_ctx_st>>;

  std::shared_ptr<named_contexts> faces_ = std::make_shared<named_contexts>();
  std::shared_ptr<ssl_ctx_st> context_;
};

/// How a dialler names the peer that it wants (server name indication, RFC
/// 6066, 3): its id in hexadecimal digits, in labels that DNS allows. Everybody
/// on the way can read it.
std::string server_name_of(const peer_id& who);

} // namespace potluck
