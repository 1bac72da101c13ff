#include "runtime/identity/key_pair.hpp"

#include <doctest/doctest.h>

#include <memory>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

using namespace potluck;

namespace {

using key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;

key owned(EVP_PKEY* x) {
  REQUIRE(x != nullptr);
  return {x, EVP_PKEY_free};
}

/// @param password Empty: none.
std::string pem_of(EVP_PKEY* x, std::string password = "") {
  std::unique_ptr<BIO, int (*)(BIO*)> bytes{BIO_new(BIO_s_mem()), BIO_free};
  REQUIRE(PEM_write_bio_PKCS8PrivateKey(
              bytes.get(), x, password.empty() ? nullptr : EVP_aes_128_cbc(),
              password.empty() ? nullptr : password.data(),
              static_cast<int>(password.size()), nullptr, nullptr)
          == 1);
  char* data = nullptr;
  auto size = BIO_get_mem_data(bytes.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

} // namespace

TEST_CASE("a peer id is the SHA-256 of its public key") {
  // The public key of RFC 8032, section 7.1, test 1, and sha256sum's answer.
  const char* hex
      = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
  public_key raw;
  REQUIRE(from_hex(hex, raw.bytes.data(), raw.size));
  CHECK(to_string(id_of(raw))
        == "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9");
}

TEST_CASE("a key that was written is read as the same one") {
  auto one = key_pair::generate();
  auto other = key_pair::generate();
  CHECK(one.id() != other.id());
  auto again = key_pair::parse(one.pem());
  REQUIRE(again);
  CHECK(again->id() == one.id());
  CHECK(again->pem() == one.pem());
  CHECK(one.pem().find("-----BEGIN PRIVATE KEY-----") == 0);
}

TEST_CASE("what is no Ed25519 key is said to be none, and leaves no error") {
  auto good = key_pair::generate().pem();
  auto rsa = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", size_t{2048}));
  auto x25519 = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "X25519"));
  auto plain = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  struct {
    std::string pem, says;
  } all[]{
      {"", "holds no private key, or a part of one"},
      {"soup", "holds no private key, or a part of one"},
      {good.substr(0, good.size() - 40),
       "holds no private key, or a part of one"},
      {pem_of(rsa.get()), "holds another kind of key than Ed25519"},
      {pem_of(x25519.get()), "holds another kind of key than Ed25519"},
      {pem_of(plain.get(), "secret"), "is encrypted with a password"},
  };
  for (auto& x : all) {
    CAPTURE(x.pem);
    auto read = key_pair::parse(x.pem);
    REQUIRE_FALSE(read);
    CHECK(read.error() == x.says);
    CHECK(ERR_peek_error() == 0);
  }
  CHECK_FALSE(public_key_of(rsa.get()));
  CHECK_FALSE(public_key_of(nullptr));
  CHECK(ERR_peek_error() == 0);
}

TEST_CASE("a derived key is another one, and the same for the same purpose") {
  auto mine = key_pair::generate();
  auto one = mine.derive("one");
  CHECK(one.id() == mine.derive("one").id());
  CHECK(one.id() != mine.id());
  CHECK(one.id() != mine.derive("two").id());
  CHECK(one.id() != key_pair::generate().derive("one").id());
}
