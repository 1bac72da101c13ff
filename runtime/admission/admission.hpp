/// What a peer shows to be let into a run: a token of the run's authority or of
/// an organiser, or a member's voucher that tides over while the authority is
/// away.
///
/// Canonical bytes, signed with Ed25519; README.md has the layout. Times are
/// milliseconds since 1970. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "messages/seal.hpp"
#include "runtime/admission/admission_rules.hpp"
#include "runtime/manifest/run_key.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

namespace limits {

using namespace std::chrono_literals;

/// Of a token: what a lost laptop may still do when nobody is banned.
constexpr std::chrono::milliseconds token_life = 1h;
constexpr std::chrono::milliseconds longest_token_life = 24h;
/// Of a voucher, which ends of itself soon after the authority is back.
constexpr std::chrono::milliseconds voucher_life = 30min;
constexpr std::chrono::milliseconds longest_voucher_life = 1h;
/// For so long after the end of an authority's token its holder may be vouched
/// for, and vouch: a night and a day without an authority.
constexpr std::chrono::milliseconds vouching_grace = 24h;
/// What clocks may differ by; less for short lives, so that they end.
constexpr std::chrono::milliseconds most_clock_tolerance = 3min;

} // namespace limits

struct admission {
  run_id run;
  peer_id holder; ///< For whom alone it counts.
  std::uint64_t not_before_ms = 0;
  std::uint64_t expiry_ms = 0;
  public_key issuer;
  /// Of a voucher: the bytes of its issuer's own token. Empty: the authority or
  /// an organiser is the issuer.
  std::string backing = {};
  /// Of a voucher: likewise its holder's own last token. What is made for a key
  /// that the authority never knew counts for nobody.
  std::string last = {};
  signature proof = {};

  bool is_voucher() const {
    return !backing.empty();
  }
  std::uint64_t life_ms() const {
    return expiry_ms - not_before_ms;
  }
};

/// What it may be off at either end.
std::uint64_t clock_tolerance_ms(const admission& x);

/// Signs it.
/// @param draft All but issuer and proof.
admission issue(admission draft, const signatures& own);

std::string to_bytes(const admission& x);
/// Reads what `to_bytes` wrote; of one admission no other bytes are read. Fails
/// with the end of a sentence that begins with "it". Believes nothing yet.
expected<admission> read_admission(std::string_view bytes);

/// What an admission is held against.
struct admission_scene {
  run_id run;
  admission_rules rules;
  std::uint64_t now_ms = 0;
  /// Whose tokens count beside the authority's.
  std::vector<public_key> organisers = {};
};

/// Why an admission does not let `holder` in, as the rest of a sentence that
/// begins with "it"; empty: it does.
std::string problem_with(const admission& x, const peer_id& holder,
                         const admission_scene& at, const signatures& how);

/// Likewise, why it is no token that was good at most
/// `limits::vouching_grace` ago.
std::string problem_with_backing(const admission& x, const peer_id& holder,
                                 const admission_scene& at,
                                 const signatures& how);

} // namespace potluck
