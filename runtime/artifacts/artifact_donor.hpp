/// Gives artifacts that are here as a whole to others of the run, under the
/// limits of downloads of the state (`serving_budget`).
///
/// Pure: facts and the time come in, actions go out.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "runtime/artifacts/artifact_action.hpp"
#include "runtime/state/serving_budget.hpp"

namespace potluck {

class artifact_donor {
public:
  /// A piece of the artifact, which has that sum; nothing (size 0): it is not
  /// here, or sound, any more.
  using reader = std::function<shared_bytes(
      const artifact& of, std::uint32_t piece, const sha256_digest& sum)>;

  artifact_donor(serving_budget::bounds most, reader read);

  /// This one is here, and sound.
  void offers(const artifact& x, const piece_sums& sums);

  artifact_actions read(const peer_id& from, const artifact_request& x,
                        time_point now);
  /// How letters get to the peer (`serving_budget`).
  void reach(const peer_id& peer, bool relayed, const std::string& host) {
    budget_.reach(peer, relayed, host);
  }
  /// It is not connected any more.
  artifact_actions lost(const peer_id& who, time_point now);
  /// Gives up silent ones, and sends what the line has room for.
  artifact_actions look(time_point now);

private:
  struct offer {
    artifact it;
    piece_sums sums;
    shared_bytes list;
  };

  /// The budget's name for a piece, and back.
  static piece_request named(const offer& x, const artifact_request& wish);
  offer* find(const sha256_digest& content);
  bool admit(const peer_id& from, time_point now);
  void say(const peer_id& to, const artifact_request& x, bool busy);
  void send(const serving_budget::turn& x);
  artifact_actions done(time_point now);

  serving_budget budget_;
  reader read_;
  std::map<digest, offer> offers_;
  std::map<peer_id, std::uint64_t> arrived_; ///< As each said last.
  artifact_actions actions_;
};

} // namespace potluck
