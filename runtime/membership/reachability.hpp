/// Whether others can connect to this peer: asked of a few of them, who try,
/// since a home's router lets its machines out and nobody in.
///
/// Pure bookkeeping: it neither asks nor dials. After AutoNAT v2 (libp2p): that
/// it was reached a peer believes nobody, but sees it itself, by a connection
/// that carries the number of its question.
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// So often the same peer is asked while it came to hints alone: whom it
  /// sends is left to chance.
  static constexpr unsigned most_tries = 3;
  /// Who has not answered by then will not: a dial that nobody answers takes up
  /// to 30 s (`deadline_estimator` of strangers).
  static constexpr std::chrono::seconds patience{40};
  /// Votes are taken anew after this time: addresses and routers change.
  static constexpr std::chrono::minutes validity{5};

  /// What it says that a connection came.
  enum class proof {
    hint,     ///< Our router may let in nobody but those that we have dialled.
    counts,   ///< A vote: within one network nobody knows more.
    decisive, ///< Nothing else could have let it in.
  };

  /// Everybody is asked again from now on; the verdict stands until then.
  void moved();

  /// Whether somebody is to be asked, one at a time: a proof is enough while
  /// nobody says otherwise.
  bool asks(time_point now);

  /// Whom to ask next, where `asks`; nobody when all have been.
  /// @param connected Whom there is to ask, in this order.
  /// @param nonce Of the question; nobody can guess it.
  std::optional<peer_id> ask(const std::vector<peer_id>& connected,
                             std::uint64_t nonce, time_point now);

  /// An answer to what `ask` named; others' count for nothing. So does the word
  /// that we were reached: it only ends the question.
  /// @returns whether it answers a question of this vote.
  bool answered(const peer_id& from, std::uint64_t nonce, bool reached,
                time_point now);

  /// A connection came that carries a number. Later than an answer, too: it
  /// says more.
  /// @returns whether it is one of this vote's.
  bool proven(std::uint64_t nonce, proof how, time_point now);

  /// It has connected to us by itself: a vote without a question.
  void came(const peer_id& who, proof how, time_point now);

  /// By a decisive proof; else by most votes of those that were taken last: of
  /// three, or of all that there were to ask. A tie, or none, counts as
  /// reachable.
  bool reachable() const {
    return verdict_ != verdict::no;
  }
  /// Likewise, where that is more than a hint.
  bool is_certain() const {
    return verdict_ == verdict::yes;
  }

private:
  enum class verdict { none, likely, yes, no };
  struct question {
    time_point asked;
    std::uint64_t nonce = 0;
    bool over = false; ///< It is answered, perhaps without a vote.
    bool no = false;
    std::optional<proof> yes = {};
    unsigned tries = 1;

    bool votes(bool reached) const {
      return reached ? yes.has_value() : no && !yes;
    }
  };
  void vote(question& x, proof how, time_point now);
  std::size_t votes(bool reached) const;
  /// Whether there is a proof that says at least this.
  bool has(proof least) const;
  /// One "no" counts only when nobody else is left to ask.
  void count(bool all_were_asked);

  std::map<peer_id, question> asked_; ///< Of this vote.
  std::optional<time_point> began_;   ///< This vote.
  verdict verdict_ = verdict::none;
};

} // namespace potluck
