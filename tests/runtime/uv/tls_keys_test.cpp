/// Against the example of RFC 8448, section 3, and against itself.
#include "runtime/uv/tls_keys.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace potluck;
using bytes = std::vector<std::uint8_t>;
using use = traffic_key::use;

namespace {

bytes from_hex(const std::string& digits) {
  bytes x;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    x.push_back(
        static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return x;
}

traffic_secret secret_from(const std::string& digits) {
  return traffic_secret{from_hex(digits).data()};
}

bytes expanded(const traffic_secret& x, const char* label, std::size_t size) {
  bytes result(size);
  x.expand(label, result.data(), size);
  return result;
}

bytes sealed(traffic_key& key, std::uint8_t type, const bytes& content) {
  bytes result(content.size() + 22);
  key.seal(type, content.data(), content.size(), result.data());
  return result;
}

const auto client
    = "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5";
const auto server
    = "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643";

} // namespace

TEST_CASE("a secret expands to the keys of RFC 8448") {
  const auto x = secret_from(client), y = secret_from(server);
  CHECK(expanded(x, "key", 16) == from_hex("17422dda596ed5d9acd890e3c63f5051"));
  CHECK(expanded(x, "iv", 12) == from_hex("5b78923dee08579033e523d9"));
  CHECK(expanded(y, "key", 16) == from_hex("9f02283b6c9c07efc26bb9f2ac92e356"));
  CHECK(expanded(y, "iv", 12) == from_hex("cf782b88dd83549aadf1e984"));
  CHECK_THROWS_AS(expanded(x, "key", 33), std::logic_error);
  // Computed with another implementation of HMAC.
  CHECK(expanded(x.next(), "key", 16)
        == from_hex("3879d82f5f14056e623f2ce5bfc66fce"));
}

TEST_CASE("records are those of RFC 8448") {
  traffic_key key{tls_cipher::aes_128_gcm, secret_from(client), use::seal};
  bytes content;
  for (std::uint8_t i = 0; i < 50; ++i)
    content.push_back(i);
  CHECK(sealed(key, 23, content)
        == from_hex("1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66"
                    "bcab3f2b9819a8a5b46b395bd54a9a20441e2b62974e1f5a6292a29770"
                    "14bd1e3deae63aeebb21694915e4"));
  CHECK(sealed(key, 21, {1, 0})
        == from_hex("1703030013c9872760655666b74d7ff1153efd6db6d0b0e3"));
  CHECK(key.records() == 2);
}

TEST_CASE("what is sealed is opened, in order, with the same keys") {
  for (auto which : {tls_cipher::aes_128_gcm, tls_cipher::chacha20_poly1305}) {
    traffic_key out{which, secret_from(client), use::seal};
    traffic_key in{which, secret_from(client), use::open};
    for (std::size_t size : {0, 1, 15, 16, 17, 300, 16384}) {
      const bytes content(size, static_cast<std::uint8_t>(size + 1));
      const auto record = sealed(out, 99, content);
      bytes got(size);
      std::uint8_t type = 0;
      REQUIRE(in.open(record.data(), got.data(), type));
      CHECK(got == content);
      CHECK(type == 99);
      if (size == 16) {
        out.replace();
        in.replace();
        CHECK(in.records() == 0);
      }
    }
    const auto skipped = sealed(out, 23, {1, 2, 3});
    const auto record = sealed(out, 23, {1, 2, 3});
    CHECK(skipped != record); // Another nonce.
    bytes got(3);
    std::uint8_t type = 0;
    CHECK_FALSE(in.open(record.data(), got.data(), type));
  }
}

TEST_CASE("no number is used twice") {
  constexpr auto last = std::numeric_limits<std::uint64_t>::max() - 1;
  const auto secret = secret_from(client);
  traffic_key out{tls_cipher::aes_128_gcm, secret, use::seal, last};
  traffic_key in{tls_cipher::aes_128_gcm, secret, use::open, last};
  const auto record = sealed(out, 23, {1});
  CHECK_THROWS_AS(sealed(out, 23, {1}), std::logic_error);
  bytes got(1);
  std::uint8_t type = 0;
  CHECK(in.open(record.data(), got.data(), type));
  CHECK_FALSE(in.open(record.data(), got.data(), type));
  out.replace();
  CHECK_NOTHROW(sealed(out, 23, {1}));
}
