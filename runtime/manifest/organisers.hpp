/// Who may sign for a run: its organiser, and the others that its setting
/// `successor` names. Pure.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "messages/expected.hpp"
#include "messages/seal.hpp"

namespace potluck {

struct organisers {
  /// Beside the manifest's own.
  static constexpr std::size_t most_others = 8;

  organisers() = default;
  organisers(std::vector<public_key> all, std::size_t count = 1)
      : keys(std::move(all)), needed(count) {
  }
  organisers(std::initializer_list<public_key> all) : keys(all) {
  }

  std::vector<public_key> keys;
  std::size_t needed = 1; ///< Of them have to sign.

  bool has(const public_key& x) const;
};

/// Reads the setting: "none"; KEY, whose holder may sign as well; or
/// K/KEY,KEY,..., of whose holders and the organiser K have to sign. Fails with
/// the rest of a sentence that begins with "successor".
expected<organisers> read_organisers(const public_key& organiser,
                                     const std::string& successor);

} // namespace potluck
