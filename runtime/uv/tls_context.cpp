#include "runtime/uv/tls_context.hpp"

#include <stdexcept>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "runtime/identity/certificate.hpp"

namespace potluck {

namespace {

/// A self-signed Ed25519 certificate has 300 bytes.
constexpr long certificate_bytes = 4096;

/// Instead of a look at authorities, dates and names. Leaves what it found with
/// the channel, as the SSL object's application data.
int believe(X509_STORE_CTX* shown, void*) {
  auto* ssl = static_cast<SSL*>(
      X509_STORE_CTX_get_ex_data(shown, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& result = *static_cast<certificate_check*>(SSL_get_app_data(ssl));
  result = check_certificate(X509_STORE_CTX_get0_cert(shown));
  if (result.what == certificate_check::verdict::sound)
    return 1;
  X509_STORE_CTX_set_error(shown, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

bool set_up(SSL_CTX* x, const key_pair& mine) {
  SSL_CTX_set_options(x, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION
                             | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(x, SSL_SESS_CACHE_OFF);
  // Sixteen KiB in each direction would lie idle at every quiet connection.
  SSL_CTX_set_mode(x, SSL_MODE_RELEASE_BUFFERS);
  // Before each record OpenSSL would move all that it has read ahead.
  SSL_CTX_set_read_ahead(x, 0);
  SSL_CTX_set_max_cert_list(x, certificate_bytes);
  SSL_CTX_set_verify(x, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                     nullptr);
  SSL_CTX_set_cert_verify_callback(x, believe, nullptr);
  auto certificate = make_certificate(mine);
  return SSL_CTX_set_min_proto_version(x, TLS1_3_VERSION) == 1
         && SSL_CTX_set_max_proto_version(x, TLS1_3_VERSION) == 1
         && SSL_CTX_set_ciphersuites(
                x, "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256")
                == 1
         && SSL_CTX_set1_groups_list(x, "X25519") == 1
         && SSL_CTX_set1_sigalgs_list(x, "ed25519") == 1
         && SSL_CTX_set_num_tickets(x, 0) == 1
         && SSL_CTX_use_certificate(x, certificate.get()) == 1
         && SSL_CTX_use_PrivateKey(x, mine.native()) == 1;
}

} // namespace

std::string server_name_of(const peer_id& who) {
  const auto digits = to_string(who);
  const auto half = digits.size() / 2; // A label has at most 63 characters.
  return digits.substr(0, half) + "." + digits.substr(half) + ".peer";
}

tls_context::tls_context(const key_pair& mine)
    : context_(SSL_CTX_new(TLS_method()), SSL_CTX_free) {
  auto done = context_ && set_up(context_.get(), mine);
  ERR_clear_error();
  if (!done)
    throw std::runtime_error("this OpenSSL has no TLS 1.3 with X25519, AES-128 "
                             "and Ed25519; install OpenSSL 3");
  SSL_CTX_set_tlsext_servername_arg(context_.get(), faces_.get());
  SSL_CTX_set_tlsext_servername_callback(
      context_.get(), +[](SSL* ssl, int*, void* faces) {
        const auto* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
        const auto& all = *static_cast<const named_contexts*>(faces);
        const auto found = name ? all.find(name) : all.end();
        if (found != all.end())
          SSL_set_SSL_CTX(ssl, found->second.get());
        return SSL_TLSEXT_ERR_OK;
      });
}

void tls_context::add_face(const peer_id& who, const tls_context& other) {
  (*faces_)[server_name_of(who)] = other.context_;
}

void tls_context::remove_face(const peer_id& who) {
  faces_->erase(server_name_of(who));
}

} // namespace potluck
