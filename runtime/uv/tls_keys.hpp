/// What protects one direction of a TLS 1.3 connection: a traffic secret, and
/// the key and nonces that are derived from it (RFC 8446, sections 5.2, 5.3,
/// 7.2 and 7.3). Knows neither what records are for nor where they come from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

struct evp_cipher_ctx_st; // OpenSSL's EVP_CIPHER_CTX.

namespace potluck {

/// Both with SHA-256, and tags of 16 bytes.
enum class tls_cipher { aes_128_gcm, chacha20_poly1305 };

/// Before what a record carries: type, version, size.
constexpr std::size_t record_header_bytes = 5;
constexpr std::size_t record_tag_bytes = 16;

/// Whoever knows it reads the direction. Wiped at its end.
class traffic_secret {
public:
  static constexpr std::size_t size = 32;

  traffic_secret() = default;
  /// @param bytes `size` of them.
  explicit traffic_secret(const std::uint8_t* bytes);
  ~traffic_secret();
  traffic_secret(const traffic_secret&) = default;
  traffic_secret& operator=(const traffic_secret&) = default;

  /// HKDF-Expand-Label with an empty context (section 7.1).
  /// @param label Without its "tls13 ".
  /// @param length At most 32 bytes.
  void expand(const char* label, std::uint8_t* into, std::size_t length) const;
  /// The one that follows a key update (section 7.2).
  traffic_secret next() const;

  const std::uint8_t* data() const {
    return bytes_.data();
  }

private:
  std::array<std::uint8_t, size> bytes_{};
};

/// Encrypts, or decrypts, one record after the other.
class traffic_key {
public:
  enum class use { seal, open };

  /// @param records The first one's number.
  traffic_key(tls_cipher which, const traffic_secret& secret, use what,
              std::uint64_t records = 0);
  ~traffic_key();
  traffic_key(const traffic_key&) = delete;
  traffic_key& operator=(const traffic_key&) = delete;

  /// Writes a record: header, then encrypted `size` bytes of content and their
  /// type, then the tag; 22 bytes more than `size`. Throws `std::logic_error`
  /// when there is no number left for it.
  /// @param content May be anywhere but where the record is written.
  void seal(std::uint8_t type, const std::uint8_t* content, std::size_t size,
            std::uint8_t* record);

  /// Decrypts what lies between a record's header and its tag, the last byte
  /// apart from the others, since these may have just the room they need. False
  /// when the tag does not fit: then `into` holds what nobody may use.
  /// Precondition: it has at least one byte.
  /// @param record Header first; as long as that says.
  bool open(const std::uint8_t* record, std::uint8_t* into, std::uint8_t& last);

  /// Goes on with the next secret's key.
  void replace();

  /// Sealed or opened with this key so far.
  std::uint64_t records() const {
    return records_;
  }

private:
  bool begin(const std::uint8_t* header);
  void derive();

  const tls_cipher which_;
  const use use_;
  traffic_secret secret_;
  std::array<std::uint8_t, 12> iv_{};
  std::uint64_t records_;
  std::unique_ptr<evp_cipher_ctx_st, void (*)(evp_cipher_ctx_st*)> context_;
};

/// What a record's header says that it carries, tag included.
constexpr std::size_t carried_bytes(const std::uint8_t* header) {
  return static_cast<std::size_t>(header[3]) << 8 | header[4];
}

} // namespace potluck
