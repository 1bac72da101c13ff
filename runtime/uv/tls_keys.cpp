#include "runtime/uv/tls_keys.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace potluck {

namespace {

constexpr std::uint8_t outer_type = 23; // Application data, whatever is in it.

/// Looked up once: that takes longer than to encrypt a record. Never freed.
const EVP_CIPHER* cipher_of(tls_cipher which) {
  static const auto* aes = EVP_CIPHER_fetch(nullptr, "AES-128-GCM", nullptr);
  static const auto* chacha
      = EVP_CIPHER_fetch(nullptr, "ChaCha20-Poly1305", nullptr);
  return which == tls_cipher::aes_128_gcm ? aes : chacha;
}

std::size_t key_bytes(tls_cipher which) {
  return which == tls_cipher::aes_128_gcm ? 16 : 32;
}

} // namespace

traffic_secret::traffic_secret(const std::uint8_t* bytes) {
  std::copy_n(bytes, size, bytes_.begin());
}

traffic_secret::~traffic_secret() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

void traffic_secret::expand(const char* label, std::uint8_t* into,
                            std::size_t length) const {
  if (length > size)
    throw std::logic_error("tls_keys: one block of SHA-256 has 32 bytes");
  const std::string name = std::string{"tls13 "} + label;
  std::string info{'\0', static_cast<char>(length),
                   static_cast<char>(name.size())};
  info += name;
  info += '\0'; // No context.
  info += '\1'; // The first block, which is all of it (RFC 5869, 2.3).
  std::array<std::uint8_t, size> block{};
  unsigned got = 0;
  auto* done = HMAC(EVP_sha256(), bytes_.data(), size,
                    reinterpret_cast<const std::uint8_t*>(info.data()),
                    info.size(), block.data(), &got);
  if (done == nullptr || got != size)
    throw std::runtime_error("this OpenSSL has no HMAC with SHA-256");
  std::copy_n(block.begin(), length, into);
  OPENSSL_cleanse(block.data(), block.size());
}

traffic_secret traffic_secret::next() const {
  traffic_secret result;
  expand("traffic upd", result.bytes_.data(), size);
  return result;
}

traffic_key::traffic_key(tls_cipher which, const traffic_secret& secret,
                         use what, std::uint64_t records)
    : which_(which), use_(what), secret_(secret), records_(records),
      context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
  if (!context_)
    throw std::bad_alloc{};
  derive();
}

traffic_key::~traffic_key() {
  OPENSSL_cleanse(iv_.data(), iv_.size());
}

void traffic_key::derive() {
  std::array<std::uint8_t, 32> key{};
  secret_.expand("key", key.data(), key_bytes(which_));
  secret_.expand("iv", iv_.data(), iv_.size());
  const int seals = use_ == use::seal ? 1 : 0;
  const auto done = EVP_CipherInit_ex2(context_.get(), cipher_of(which_),
                                       key.data(), iv_.data(), seals, nullptr);
  OPENSSL_cleanse(key.data(), key.size());
  ERR_clear_error();
  if (done != 1)
    throw std::runtime_error(
        "this OpenSSL lacks a cipher that it has negotiated");
}

void traffic_key::replace() {
  secret_ = secret_.next();
  records_ = 0;
  derive();
}

/// The next record's nonce, and its header, which the tag covers. False when
/// there is no number left: a nonce must never be used twice.
bool traffic_key::begin(const std::uint8_t* header) {
  if (records_ == std::numeric_limits<std::uint64_t>::max())
    return false;
  auto nonce = iv_;
  for (std::size_t i = 0; i < 8; ++i)
    nonce[nonce.size() - 1 - i]
        ^= static_cast<std::uint8_t>(records_ >> (8 * i));
  ++records_;
  int size = 0;
  return EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, nonce.data(), -1,
                            nullptr)
             == 1
         && EVP_CipherUpdate(context_.get(), nullptr, &size, header,
                             record_header_bytes)
                == 1;
}

void traffic_key::seal(std::uint8_t type, const std::uint8_t* content,
                       std::size_t size, std::uint8_t* record) {
  const auto carried = size + 1 + record_tag_bytes;
  const std::uint8_t header[]
      = {outer_type, 3, 3, static_cast<std::uint8_t>(carried >> 8),
         static_cast<std::uint8_t>(carried)};
  std::memcpy(record, header, sizeof(header));
  auto* into = record + record_header_bytes;
  auto* x = context_.get();
  int some = 0;
  const bool done = begin(record)
                    && (size == 0
                        || EVP_EncryptUpdate(x, into, &some, content,
                                             static_cast<int>(size))
                               == 1)
                    && EVP_EncryptUpdate(x, into + size, &some, &type, 1) == 1
                    && EVP_EncryptFinal_ex(x, into + size + 1, &some) == 1
                    && EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_GET_TAG,
                                           record_tag_bytes, into + size + 1)
                           == 1;
  if (!done) {
    ERR_clear_error();
    throw std::logic_error("tls_keys: nothing was encrypted");
  }
}

bool traffic_key::open(const std::uint8_t* record, std::uint8_t* into,
                       std::uint8_t& last) {
  const auto size = carried_bytes(record) - record_tag_bytes - 1;
  const auto* from = record + record_header_bytes;
  // OpenSSL only reads it.
  auto* tag = const_cast<std::uint8_t*>(from + size + 1);
  std::uint8_t nothing = 0;
  auto* x = context_.get();
  int some = 0;
  const bool done
      = begin(record)
        && EVP_CIPHER_CTX_ctrl(x, EVP_CTRL_AEAD_SET_TAG, record_tag_bytes, tag)
               == 1
        && (size == 0
            || EVP_DecryptUpdate(x, into, &some, from, static_cast<int>(size))
                   == 1)
        && EVP_DecryptUpdate(x, &last, &some, from + size, 1) == 1
        && EVP_DecryptFinal_ex(x, &nothing, &some) == 1;
  if (!done)
    ERR_clear_error();
  return done;
}

} // namespace potluck
