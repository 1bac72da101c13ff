/// What `artifact_fetch` and `artifact_donor` want done: each of their calls
/// answers with such actions, to be carried out in their order.
#pragma once

#include <variant>
#include <vector>

#include "runtime/state/artifact_list.hpp"
#include "runtime/state/state_action.hpp"

namespace potluck {

/// Look which pieces of it an earlier try has left; `found` answers it.
struct look_for_pieces {
  artifact of;
  piece_sums sums;
};
/// Write this piece, which is sound.
struct keep_piece {
  artifact of;
  std::uint32_t piece = 0;
  shared_bytes bytes;
};
/// All pieces of it were to be kept: it is whole.
struct finish_artifact {
  artifact of;
};

using artifact_action = std::variant<state_letter, look_again, look_for_pieces,
                                     keep_piece, finish_artifact, fetch_fault>;
using artifact_actions = std::vector<artifact_action>;

} // namespace potluck
