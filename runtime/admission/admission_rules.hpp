/// Whom a run admits, as its charter lays it down. Pure.
#pragma once

#include <string>

#include "messages/contact.hpp"
#include "messages/expected.hpp"

namespace potluck {

struct admission_rules {
  enum class mode {
    open,  ///< Whoever has the invitation takes part.
    token, ///< Whoever has an invitation with a code, or is on the list.
    list,  ///< Only whom the authority has on its list.
  };
  mode how = mode::open;
  /// Whose tokens count; with the address at which it answers, if that is
  /// known. Not empty in a closed run.
  contact authority;
  /// Members may vouch for each other while the authority is away.
  bool vouchers = true;

  /// Whether an admission is needed.
  bool closed() const {
    return how != mode::open;
  }
};

/// The text for a charter's setting: ID or ID@HOST:PORT.
std::string authority_text(const contact& x);

/// Reads what a charter says in three settings. Fails with a sentence.
/// @param how open, token or list.
/// @param authority "none" in an open run.
/// @param vouchers yes or no.
expected<admission_rules> read_admission_rules(const std::string& how,
                                               const std::string& authority,
                                               const std::string& vouchers);

} // namespace potluck
