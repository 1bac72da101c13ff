/// The certificate that carries a peer's key through TLS, and what is believed
/// of somebody else's.
///
/// A certificate says only "this is my key", signed with that key; that its
/// sender holds the secret half is what TLS's handshake proves. There is no
/// authority, and dates, names and extensions mean nothing: a peer with a wrong
/// clock is a peer. (libp2p signs a second key for TLS instead; we have one.)
#pragma once

#include <memory>

#include "messages/ids.hpp"
#include "runtime/identity/key_pair.hpp"

struct x509_st; // OpenSSL's X509.

namespace potluck {

/// Self-signed, valid from 1970 to the year 9999. The same bytes for the same
/// key. Throws `std::runtime_error` when OpenSSL makes none.
std::shared_ptr<x509_st> make_certificate(const key_pair& mine);

struct certificate_check {
  enum class verdict {
    sound,       ///< `id` is the peer that it stands for.
    missing,     ///< None was shown.
    other_key,   ///< Its key is no Ed25519 key.
    unsigned_by, ///< The signature is not one by its own key.
  };
  verdict what = verdict::missing;
  peer_id id;
};

/// @param shown May be null.
certificate_check check_certificate(x509_st* shown);

/// What is wrong, as the rest of a sentence about the other side. Precondition:
/// not `sound`.
const char* in_words(certificate_check::verdict x);

} // namespace potluck
