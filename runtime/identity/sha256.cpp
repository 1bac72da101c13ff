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

} // namespace potluck
