/// Keys and signatures as types: what a peer, or a run's organiser, is known
/// by, and what it vouches with.
#pragma once

#include "messages/ids.hpp"

namespace potluck {

/// An Ed25519 public key, as RFC 8032 writes it. A peer's id is its SHA-256.
using public_key = identifier<struct public_key_tag, 32>;
/// An Ed25519 signature, likewise.
using signature = identifier<struct signature_tag, 64>;

} // namespace potluck
