/// The means that this peer itself fetches, and passes on piece by piece before
/// it has applied them.
///
/// Whoever asks for a piece too early waits for it here. Pure bookkeeping: what
/// it hands back is for its owner to answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "messages/ids.hpp"
#include "messages/message.hpp"
#include "runtime/state/state_action.hpp"

namespace potluck {

class coming_means {
public:
  /// A piece that somebody asked for before it was here.
  struct early_request {
    peer_id from;
    piece_request what;
  };
  using early_requests = std::vector<early_request>;

  /// This mean is fetched from here on, from nothing: it may have been fetched
  /// by another list before. One that follows neither the last one that comes
  /// nor what is held has no known history.
  /// @param held, state What this peer holds.
  /// @returns What is not answered any more.
  early_requests expects(coming_mean mean, std::uint64_t held,
                         const digest& state);

  struct arrival {
    std::size_t bytes = 0;
    early_requests wanted; ///< Of those that have not left meanwhile.
  };
  /// This piece is here. None: nobody has asked for it so far.
  std::optional<arrival> placed(const coming_piece& x);

  /// Forgets the means of the steps before this one.
  /// @returns What is not answered any more, as of the others.
  early_requests forget_before(std::uint64_t step);
  /// Forgets the means behind this step, which do not come any more.
  early_requests forget_behind(std::uint64_t step);

  /// Whether the mean that follows this state, the one after `step`, comes.
  bool follows(std::uint64_t step, const digest& state) const;
  /// The list of the mean that completes `step`; null when none comes.
  const state_manifest* manifest(std::uint64_t step) const;
  /// A piece, which is here, of a mean that leads to this state; nothing
  /// (size 0) else. Keeps the mean alive.
  shared_bytes piece(const digest& state, std::uint32_t index) const;

  /// `from` waits for the piece. @returns False when no such piece comes.
  bool wait(const peer_id& from, const piece_request& what);
  /// It waits for nothing any more.
  void leave(const peer_id& who);

private:
  struct entry {
    coming_mean mean;
    digest before; ///< The state that it is for; empty: not known.
    std::vector<bool> here;
    std::map<std::uint32_t, std::map<peer_id, piece_request>> wanted;
  };
  using entries = std::map<std::uint64_t, entry>;

  early_requests forget(entries::iterator first, entries::iterator last);

  entries means_; ///< By the steps that they complete.
};

} // namespace potluck
