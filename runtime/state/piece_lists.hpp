/// Which list of pieces is believed of each state and mean that donors name.
///
/// The one that most donors name; while it is a draw, the first one stays, for
/// what has come by it is not thrown away for the word of one. Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "messages/state.hpp"
#include "runtime/clock.hpp"
#include "runtime/state/blob_key.hpp"

namespace potluck {

class piece_lists {
public:
  struct named {
    digest most; ///< The list that most donors name now.
    /// It is to be fetched from here on, from nothing: it has been chosen.
    bool chosen_now = false;
  };
  /// `from` names this list.
  /// @param fresh Nothing has come of the blob so far.
  named name(const peer_id& from, const state_manifest& x, bool fresh,
             time_point now);

  /// Donors that named other lists than `most`, if that is the chosen one and
  /// more than half of `donors`, not only of those that were quick, name it.
  std::set<peer_id> outvoted(const blob_key& key, const digest& most,
                             std::size_t donors) const;

  struct list {
    state_manifest manifest;
    std::set<peer_id> donors; ///< Those that named it and have not gone since.
    std::size_t most = 0;     ///< They have been so many at a time.
  };
  struct choice {
    const list* what;
    digest listing; ///< Of it.
    time_point since;
  };
  /// What is believed of each blob.
  std::map<blob_key, choice> chosen() const;
  /// Null when nothing is.
  const list* chosen(const blob_key& key) const;
  /// The blob whose believed list says that it is, or leads to, this state.
  std::optional<blob_key> leading_to(const digest& state, bool mean) const;

  bool knows(const blob_key& key) const {
    return blobs_.count(key) != 0;
  }
  std::vector<blob_key> keys() const;
  /// Means that nobody names any more.
  std::vector<blob_key> unheld() const;
  /// Whether a list is believed of a mean behind this step, and so many donors
  /// name it, or did so together.
  bool any_behind(std::uint64_t step, std::size_t votes) const;
  /// A donor that names more than so many means that fewer than so many donors
  /// do.
  std::optional<peer_id> alone_with(std::size_t means, std::size_t votes) const;

  /// The donor has this blob no more.
  void withdraw(const blob_key& key, const peer_id& who);
  /// It is gone, and with it what it named.
  void forget(const peer_id& who);
  /// Likewise, because it lied: what only it named is believed no more.
  void doubt(const peer_id& who);
  /// All are gone; the lists stay.
  void forget_donors();
  void drop(const blob_key& key) {
    blobs_.erase(key);
  }

private:
  struct blob {
    std::map<digest, list> lists; ///< By listing.
    digest chosen;
    time_point chosen_at{};
    bool doubted = false; ///< All that named the chosen list are distrusted.
  };
  std::map<blob_key, blob> blobs_;
};

} // namespace potluck
