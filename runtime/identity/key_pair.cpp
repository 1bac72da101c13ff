#include "runtime/identity/key_pair.hpp"

#include <stdexcept>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "runtime/identity/sha256.hpp"

namespace potluck {

namespace {

struct bio_closer {
  void operator()(BIO* x) const {
    BIO_free(x);
  }
};
using memory = std::unique_ptr<BIO, bio_closer>;

/// What OpenSSL reports stays in a queue of the thread, where the next call of
/// anybody would find it.
struct no_errors_left {
  ~no_errors_left() {
    ERR_clear_error();
  }
};

/// OpenSSL would ask the terminal for a password.
int no_password(char*, int, int, void*) {
  return 0;
}

std::shared_ptr<EVP_PKEY> owned(EVP_PKEY* key) {
  return {key, EVP_PKEY_free};
}

} // namespace

peer_id id_of(const public_key& key) {
  peer_id id;
  id.bytes = sha256({reinterpret_cast<const char*>(key.bytes.data()), key.size})
                 .bytes;
  return id;
}

expected<public_key> public_key_of(const evp_pkey_st* key) {
  no_errors_left on_return;
  public_key raw;
  std::size_t size = raw.size;
  if (key == nullptr || EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519
      || EVP_PKEY_get_raw_public_key(key, raw.bytes.data(), &size) != 1
      || size != raw.size)
    return failure{"the key is not an Ed25519 key"};
  return raw;
}

key_pair::key_pair(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {
  auto raw = public_key_of(key_.get());
  if (!raw)
    throw std::logic_error("key_pair: " + raw.error());
  public_half_ = *raw;
  id_ = id_of(*raw);
}

namespace {

struct context_closer {
  void operator()(EVP_MD_CTX* x) const {
    EVP_MD_CTX_free(x);
  }
};
using context = std::unique_ptr<EVP_MD_CTX, context_closer>;

const std::uint8_t* raw(std::string_view x) {
  return reinterpret_cast<const std::uint8_t*>(x.data());
}

} // namespace

bool has_signed(const public_key& key, std::string_view bytes,
                const signature& x) {
  no_errors_left on_return;
  auto whose = owned(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
                                                 key.bytes.data(), key.size));
  context it{EVP_MD_CTX_new()};
  return whose && it
         && EVP_DigestVerifyInit(it.get(), nullptr, nullptr, nullptr,
                                 whose.get())
                == 1
         && EVP_DigestVerify(it.get(), x.bytes.data(), x.size, raw(bytes),
                             bytes.size())
                == 1;
}

signature key_pair::sign(std::string_view bytes) const {
  no_errors_left on_return;
  signature x;
  std::size_t size = x.size;
  context it{EVP_MD_CTX_new()};
  if (!it
      || EVP_DigestSignInit(it.get(), nullptr, nullptr, nullptr, key_.get())
             != 1
      || EVP_DigestSign(it.get(), x.bytes.data(), &size, raw(bytes),
                        bytes.size())
             != 1
      || size != x.size)
    throw std::runtime_error("OpenSSL does not sign");
  return x;
}

namespace {

class ed25519 : public signatures {
public:
  explicit ed25519(key_pair mine) : mine_(std::move(mine)) {
  }
  public_key key() const override {
    return mine_.public_half();
  }
  signature sign(std::string_view bytes) const override {
    return mine_.sign(bytes);
  }
  peer_id owner_of(const public_key& key) const override {
    return id_of(key);
  }
  bool fits(const signature& x, const public_key& key,
            std::string_view bytes) const override {
    return has_signed(key, bytes, x);
  }

private:
  key_pair mine_;
};

} // namespace

shared_signatures signatures_of(const key_pair& mine) {
  return std::make_shared<ed25519>(mine);
}

key_pair key_pair::generate() {
  no_errors_left on_return;
  auto key = owned(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  if (!key)
    throw std::runtime_error("OpenSSL makes no Ed25519 key");
  return key_pair(std::move(key));
}

expected<key_pair> key_pair::parse(const std::string& pem) {
  no_errors_left on_return;
  memory bytes(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  auto key = owned(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_password, nullptr));
  if (!key)
    return failure{pem.find("ENCRYPTED") != std::string::npos
                       ? "is encrypted with a password"
                       : "holds no private key, or a part of one"};
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519)
    return failure{"holds another kind of key than Ed25519"};
  return key_pair(std::move(key));
}

key_pair key_pair::derive(const std::string& purpose) const {
  no_errors_left on_return;
  std::array<std::uint8_t, 32> secret{}, derived{};
  std::size_t size = secret.size();
  unsigned derived_size = 0;
  std::shared_ptr<EVP_PKEY> key;
  if (EVP_PKEY_get_raw_private_key(key_.get(), secret.data(), &size) == 1
      && HMAC(EVP_sha256(), secret.data(), static_cast<int>(size),
              reinterpret_cast<const std::uint8_t*>(purpose.data()),
              purpose.size(), derived.data(), &derived_size)
             != nullptr)
    key = owned(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr,
                                             derived.data(), derived_size));
  OPENSSL_cleanse(secret.data(), secret.size());
  OPENSSL_cleanse(derived.data(), derived.size());
  if (!key)
    throw std::runtime_error("OpenSSL derives no Ed25519 key");
  return key_pair(std::move(key));
}

std::string key_pair::pem() const {
  no_errors_left on_return;
  memory bytes(BIO_new(BIO_s_mem()));
  if (!bytes
      || PEM_write_bio_PKCS8PrivateKey(bytes.get(), key_.get(), nullptr,
                                       nullptr, 0, nullptr, nullptr)
             != 1)
    throw std::runtime_error("OpenSSL does not write the key");
  char* data = nullptr;
  auto size = BIO_get_mem_data(bytes.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

} // namespace potluck
