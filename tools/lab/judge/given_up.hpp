/// Which steps peers gave up for a longer history, as their own events tell it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

/// A step and the digest after it.
using held_step = std::pair<std::uint64_t, std::string>;

/// Of one life, what matters for that, in order.
struct life_history {
  enum class what { step, island, download, finish };
  struct entry {
    what kind = what::step;
    held_step held;     ///< Not of an island.
    bool alone = false; ///< (step) One peer took it.
    std::string donor;  ///< (island) Short name.
  };
  std::string name;          ///< For sentences.
  std::set<std::string> ids; ///< Short names by which others know it.
  std::vector<entry> entries;
  bool has_gaps = false;
  bool survived = true; ///< Nobody ended it.

  void note(const event& x);
};

/// Whatever anybody gave up: what it reported before an island, back to the
/// last step that it shares with the donor, but for those that the donor gave
/// up itself; and steps taken alone that a download replaced, which nobody else
/// ever counted on.
std::set<held_step> given_up(const std::vector<life_history>& lives);

} // namespace potluck
