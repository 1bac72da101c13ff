/// A signature beside the words that it covers, so that what a peer said can be
/// passed on by others and is still its own (libp2p's RFC 2 calls words and
/// seal an envelope). What it covers besides is
/// `runtime/identity/sealing.hpp`'s.
#pragma once

#include <cstdint>

#include "messages/ids.hpp"

namespace potluck {

/// An Ed25519 public key, as RFC 8032 writes it. A peer's id is its SHA-256.
using public_key = identifier<struct public_key_tag, 32>;
/// An Ed25519 signature, likewise.
using signature = identifier<struct signature_tag, 64>;

struct seal {
  public_key signer;
  /// When the words were signed, in milliseconds since 1970 by the signer's
  /// clock. Of the same signer's words on the same subject those with the
  /// highest number count (libp2p's RFC 3).
  std::uint64_t number = 0;
  /// From then on, in milliseconds. Not zero.
  std::uint32_t life_ms = 0;
  signature proof;
};

} // namespace potluck
