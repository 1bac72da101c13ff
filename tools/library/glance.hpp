/// What is known of a run at a glance, and the words for it.
///
/// Has no lock, and asks nobody: whoever makes one has looked before.
#pragma once

#include <optional>
#include <string>

#include "runtime/state/charter.hpp"
#include "tools/library/meeting.hpp"
#include "tools/library/news.hpp"
#include "tools/library/potluck.h"

namespace potluck::library {

/// How far a handle has come.
enum class stage { closed, open, leaving, left };

struct glance {
  stage at = stage::closed;
  bool only_calls = false;    ///< The handle has no tensors.
  news::standing heard;       ///< Of the peer.
  meeting::figures figures;   ///< Of the loop.
  std::optional<charter> run; ///< Nothing: it is not known yet.

  /// One of the words that `potluck_status::phase` has.
  std::string phase() const;
  /// Sets all fields but `size`. Of a text that has no room the end is left
  /// out.
  void fill(struct potluck_status& x) const;
};

} // namespace potluck::library
