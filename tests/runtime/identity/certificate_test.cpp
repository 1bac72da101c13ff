#include "runtime/identity/certificate.hpp"

#include <doctest/doctest.h>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

using namespace potluck;
using verdict = certificate_check::verdict;

namespace {

using certificate = std::shared_ptr<X509>;

std::string der_of(X509* x) {
  unsigned char* bytes = nullptr;
  auto size = i2d_X509(x, &bytes);
  REQUIRE(size > 0);
  std::string result{bytes, bytes + size};
  OPENSSL_free(bytes);
  return result;
}

certificate read(const std::string& der) {
  auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
  return {d2i_X509(nullptr, &bytes, static_cast<long>(der.size())), X509_free};
}

/// With the key `shown`, signed by `signer`.
certificate signed_by(EVP_PKEY* shown, EVP_PKEY* signer, const EVP_MD* hash) {
  certificate x{X509_new(), X509_free};
  X509_gmtime_adj(X509_getm_notBefore(x.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(x.get()), 3600);
  REQUIRE(X509_set_pubkey(x.get(), shown) == 1);
  REQUIRE(X509_sign(x.get(), signer, hash) > 0);
  return x;
}

} // namespace

TEST_CASE("a certificate proves the peer whose key it carries") {
  auto mine = key_pair::generate();
  auto shown = read(der_of(make_certificate(mine).get()));
  auto result = check_certificate(shown.get());
  CHECK(result.what == verdict::sound);
  CHECK(result.id == mine.id());
}

TEST_CASE("one key makes one certificate, good at any time") {
  auto mine = key_pair::generate();
  auto one = make_certificate(mine);
  CHECK(der_of(one.get()) == der_of(make_certificate(mine).get()));
  time_t early = 86400, late = 250'000'000'000; // 1970-01-02, the year 9892.
  CHECK(X509_cmp_time(X509_get0_notBefore(one.get()), &early) < 0);
  CHECK(X509_cmp_time(X509_get0_notAfter(one.get()), &late) > 0);
}

TEST_CASE("an outdated certificate is as good as another") {
  auto mine = key_pair::generate();
  auto x = make_certificate(mine);
  auto old = std::shared_ptr<X509>{X509_dup(x.get()), X509_free};
  ASN1_TIME_set(X509_getm_notAfter(old.get()), 1000);
  X509_sign(old.get(), mine.native(), nullptr);
  CHECK(check_certificate(old.get()).id == mine.id());
}

TEST_CASE("what is not signed by its own Ed25519 key proves nothing") {
  auto mine = key_pair::generate();
  auto other = key_pair::generate();
  std::shared_ptr<EVP_PKEY> rsa{
      EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048}), EVP_PKEY_free};
  CHECK(check_certificate(nullptr).what == verdict::missing);
  CHECK(check_certificate(signed_by(rsa.get(), rsa.get(), EVP_sha256()).get())
            .what
        == verdict::other_key);
  CHECK(
      check_certificate(signed_by(mine.native(), other.native(), nullptr).get())
          .what
      == verdict::unsigned_by);
  // An authority's word counts nothing, either.
  CHECK(
      check_certificate(signed_by(mine.native(), rsa.get(), EVP_sha256()).get())
          .what
      == verdict::unsigned_by);
  CHECK(check_certificate(certificate{X509_new(), X509_free}.get()).what
        == verdict::other_key);
  CHECK(ERR_peek_error() == 0);
}

TEST_CASE("no changed bit of a certificate goes through as another peer") {
  auto mine = key_pair::generate();
  const auto sound = der_of(make_certificate(mine).get());
  std::size_t parsed = 0;
  for (std::size_t i = 0; i < 8 * sound.size(); ++i) {
    auto changed = sound;
    changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
    auto x = read(changed);
    ERR_clear_error();
    if (!x)
      continue;
    ++parsed;
    auto result = check_certificate(x.get());
    // Some bits mean nothing, such as the unused ones of a bit string.
    if (result.what == verdict::sound)
      CHECK(result.id == mine.id());
  }
  CHECK(parsed > 100);
}
