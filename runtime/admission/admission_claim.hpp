/// Why a peer should be admitted, in its own words: an invitation's code, the
/// person that it computes for, what an authority's program wants to know, the
/// token that it had. Pure; README.md has the layout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/expected.hpp"
#include "messages/ids.hpp"
#include "messages/seal.hpp"
#include "runtime/manifest/invite_code.hpp"
#include "runtime/ports/signatures.hpp"

namespace potluck {

/// A person says that a machine is theirs: whoever admits the one admits the
/// other.
struct delegation {
  public_key person;
  peer_id machine;
  std::uint64_t until_ms = 0; ///< Since 1970.
  signature proof = {};
};

delegation delegate_to(const peer_id& machine, std::uint64_t until_ms,
                       const signatures& person);
/// Why it says nothing of that machine, as the rest of a sentence that begins
/// with "it"; empty: it does.
std::string problem_with(const delegation& x, const peer_id& machine,
                         std::uint64_t now_ms, const signatures& how);
/// As text that people copy, and back; fails with a sentence.
std::string to_text(const delegation& x);
expected<delegation> read_delegation(std::string_view text);

/// Bytes of the words for an authority's program.
constexpr std::size_t max_claim_words = 2048;

struct admission_claim {
  invite_code code = {};
  std::optional<delegation> of = {};
  std::string words = {}; ///< Raw.
  /// The last token of the authority, for a voucher; raw.
  std::string last = {};
};

std::string to_bytes(const admission_claim& x);
/// Fails with the end of a sentence that begins with "the claim".
expected<admission_claim> read_claim(std::string_view bytes);

} // namespace potluck
