/// An invitation: all that a volunteer types to join a run.
///
/// One line that goes through URLs, mails and QR codes unharmed: "potluck:" and
/// a `checked_text` of the run's id and name, its organiser's key and one to
/// three first contacts, each with the id that has to answer there; of a run
/// that does not admit everybody, the authority and a code, too. README.md has
/// the layout. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "messages/seal.hpp"
#include "runtime/manifest/invite_code.hpp"
#include "runtime/manifest/run_key.hpp"

namespace potluck {

struct invitation {
  static constexpr std::size_t most_contacts = 3;

  std::string name; ///< Of the run.
  run_id id;        ///< Likewise.
  public_key organiser;
  std::vector<contact> contacts;
  contact authority = {}; ///< Whom to ask for an admission; empty: nobody.
  invite_code code = {};  ///< What to show there; empty: nothing.

  /// The word for the run: `run_key`.
  std::string run() const {
    return run_key(name, id);
  }
};

/// Fails with a sentence when there is no contact, when there are too many, or
/// when one has no id or an address that nobody can dial.
expected<std::string> to_text(const invitation& x);

/// Fails with a sentence that says what is wrong, where, and in which part.
expected<invitation> read_invitation(std::string_view text);

/// Whether a word is meant as an invitation, sound or not.
bool is_invitation(std::string_view text);

} // namespace potluck
