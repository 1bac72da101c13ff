/// Sealed words: what a peer signs, so that nobody else can have said it, and
/// nobody can use it for something else (after libp2p's RFC 2).
///
/// The signature covers, with the length in front of each as four bytes,
/// little-endian: the domain, the subject and the words; then one byte of type,
/// and the seal's number (eight bytes) and life (four). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/seal.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

struct sealed_words {
  /// What they are for: "potluck record". Each use has its own.
  std::string_view domain;
  std::uint8_t type = 0; ///< What they are, within the domain.
  /// What they are about: those of one signer on one subject replace each
  /// other. Raw bytes.
  std::string_view subject;
  std::string_view text; ///< Raw bytes.
};

/// What is signed.
std::string bytes_under(const seal& x, const sealed_words& what);

/// @param number See `seal::number`.
seal seal_of(const sealed_words& what, std::uint64_t number,
             std::uint32_t life_ms, const signatures& own);

/// Whether its signer has said exactly that. Times are not looked at.
bool holds(const seal& x, const sealed_words& what, const signatures& how);

/// Whether a seal counts at a time, give or take what clocks may differ by.
enum class freshness {
  fresh,
  expired, ///< Its life has been over for longer than that.
  early,   ///< It was signed later than that from now.
};
/// @param now_ms Milliseconds since 1970.
freshness freshness_of(const seal& x, std::uint64_t now_ms,
                       std::uint64_t tolerance_ms);

} // namespace potluck
