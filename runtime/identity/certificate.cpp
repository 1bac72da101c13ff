#include "runtime/identity/certificate.hpp"

#include <stdexcept>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

namespace potluck {

namespace {

constexpr long version_3 = 2;
/// "No well-defined expiration date" (RFC 5280, section 4.1.2.5).
constexpr const char* for_ever = "99991231235959Z";

/// Without names, which nobody reads: OpenSSL keeps the certificate as long as
/// its connection, and each name of it takes 200 bytes.
bool fill_in(X509* x, EVP_PKEY* key) {
  return X509_set_version(x, version_3) == 1
         && ASN1_INTEGER_set(X509_get_serialNumber(x), 1) == 1
         && ASN1_TIME_set(X509_getm_notBefore(x), 0) != nullptr
         && ASN1_TIME_set_string(X509_getm_notAfter(x), for_ever) == 1
         && X509_set_pubkey(x, key) == 1
         && X509_sign(x, key, nullptr) > 0; // Ed25519 has its own hash.
}

} // namespace

std::shared_ptr<x509_st> make_certificate(const key_pair& mine) {
  std::shared_ptr<X509> x{X509_new(), X509_free};
  auto made = x && fill_in(x.get(), mine.native());
  ERR_clear_error();
  if (!made)
    throw std::runtime_error("OpenSSL makes no certificate");
  return x;
}

certificate_check check_certificate(x509_st* shown) {
  using verdict = certificate_check::verdict;
  if (shown == nullptr)
    return {verdict::missing, {}};
  auto* key = X509_get0_pubkey(shown);
  auto raw = public_key_of(key);
  if (!raw) {
    ERR_clear_error(); // Of a key that OpenSSL does not know at all.
    return {verdict::other_key, {}};
  }
  auto sound = X509_verify(shown, key) == 1;
  ERR_clear_error();
  if (!sound)
    return {verdict::unsigned_by, {}};
  return {verdict::sound, id_of(*raw)};
}

const char* in_words(certificate_check::verdict x) {
  switch (x) {
    case certificate_check::verdict::missing:
      return "showed no certificate with an Ed25519 key";
    case certificate_check::verdict::other_key:
      return "showed a certificate with another kind of key than Ed25519";
    default:
      return "showed a certificate that its own key has not signed";
  }
}

} // namespace potluck
