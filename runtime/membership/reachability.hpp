/// Whether others can connect to this peer: asked of a few of them, who try,
/// since a home's router lets its machines out and nobody in.
///
/// Pure bookkeeping: it neither asks nor dials. After AutoNAT (libp2p).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class reachability {
public:
  /// Votes behind a verdict: one liar, or one who has a way of its own to us,
  /// does not decide it.
  static constexpr std::size_t most_votes = 3;
  /// Who has not answered by then will not: a dial that nobody answers takes up
  /// to 30 s (`deadline_estimator` of strangers).
  static constexpr std::chrono::seconds patience{40};
  /// Votes are taken anew after this time: addresses and routers change.
  static constexpr std::chrono::minutes validity{5};

  /// Everybody is asked again from now on; the verdict stands until then.
  void moved();

  /// Whether somebody is to be asked, one at a time: who says that it reached
  /// us is enough while nobody says otherwise.
  bool asks(time_point now);

  /// Whom to ask next, where `asks`; nobody when all have been.
  /// @param connected Whom there is to ask, in this order.
  std::optional<peer_id> ask(const std::vector<peer_id>& connected,
                             time_point now);

  /// An answer to what `ask` named; others' count for nothing.
  void answered(const peer_id& from, bool reached, time_point now);

  /// It has connected to us by itself: a vote without a question.
  void came(const peer_id& who, time_point now);

  /// By most votes of those that were taken last: of three, or of all that
  /// there were to ask. A tie, or none, counts as reachable.
  bool reachable() const {
    return reachable_;
  }

private:
  struct question {
    time_point asked;
    std::optional<bool> reached; ///< None yet.
  };
  void vote(const peer_id& who, bool reached, time_point now);
  std::size_t votes(bool reached) const;
  /// One "no" counts only when nobody else is left to ask.
  void count(bool all_were_asked);

  std::map<peer_id, question> asked_; ///< Of this vote.
  std::optional<time_point> began_;   ///< This vote.
  bool reachable_ = true;
};

} // namespace potluck
