#include "runtime/identity/sha256.hpp"

#include <stdexcept>

#include <openssl/evp.h>

namespace potluck {

sha256_digest sha256(std::string_view bytes) {
  sha256_digest result;
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), result.bytes.data(), &size,
                 EVP_sha256(), nullptr)
          != 1
      || size != result.size)
    throw std::runtime_error("OpenSSL computes no SHA-256");
  return result;
}

struct sha256_stream::context {
  EVP_MD_CTX* it = EVP_MD_CTX_new();
  ~context() {
    EVP_MD_CTX_free(it);
  }
};

sha256_stream::sha256_stream() : context_(std::make_unique<context>()) {
  if (!context_->it
      || EVP_DigestInit_ex(context_->it, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL computes no SHA-256");
}

sha256_stream::~sha256_stream() = default;

void sha256_stream::add(const void* data, std::size_t size) {
  if (EVP_DigestUpdate(context_->it, data, size) != 1)
    throw std::runtime_error("OpenSSL computes no SHA-256");
}

sha256_digest sha256_stream::sum() {
  sha256_digest result;
  unsigned size = 0;
  if (EVP_DigestFinal_ex(context_->it, result.bytes.data(), &size) != 1
      || size != result.size)
    throw std::runtime_error("OpenSSL computes no SHA-256");
  return result;
}

} // namespace potluck
