/// What each trainer brought to this peer's last step, and so what it is
/// believed to have of the next one: a claim of more counts once a contract has
/// shown it. The figures are at the top of the .cpp file.
///
/// Pure. Nobody's reports are needed for it, only the contracts of this peer's
/// own rounds. Before the first of them it knows nothing, and bounds nothing.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "messages/matchmaking.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class past_steps {
public:
  /// A group has formed, so long after its step began.
  /// @param there Trainers that it could have had.
  void formed(duration computing, std::set<peer_id> there);
  /// Its round has made the step. @param left_out As in `round_over`: what
  /// these brought was not seen.
  void made(const group_contract& x, const std::vector<std::uint8_t>& left_out);
  /// What was seen says nothing of the state that is held now.
  void forget() {
    brought_.clear();
  }

  bool empty() const {
    return brought_.empty();
  }
  /// Samples that a trainer can have. @param elapsed Since this step began.
  double most_samples(const peer_id& who, duration elapsed) const;
  /// Samples a second. Likewise.
  double most_speed(const peer_id& who, duration elapsed) const;

private:
  /// For how long who is not in `brought_` is believed to have computed.
  double unseen_seconds(const peer_id& who, duration elapsed) const;

  double formed_after_ = 0; ///< Seconds.
  std::set<peer_id> there_; ///< When it did.
  double seconds_ = 0;      ///< Of the last step's computing; never 0 there.
  double typical_ = 0;      ///< The lower median of what follows.
  std::map<peer_id, double> brought_; ///< Samples of it.
};

} // namespace potluck
