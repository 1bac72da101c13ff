/// The addresses that the user named (seeds): dialled before anybody's id is
/// known, and never forgotten.
///
/// Pure bookkeeping for `peer_ledger`, whose rows take over once it is known
/// who is there.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

/// When to dial next, after so many failures in a row.
struct dial_backoff {
  /// Wait after the first failure; doubles with each further one in a row,
  /// which only a connection of at least `longest` ends.
  static constexpr duration first = std::chrono::milliseconds{500};
  /// Longest wait: a peer that returns is found within half a minute.
  static constexpr duration longest = std::chrono::seconds{30};

  /// While a dial is under way: when to give it up.
  time_point due;
  unsigned failures = 0;

  /// The dial has failed. Half of the wait is certain, half is chance: those
  /// that lost the same peer at the same moment must not return at the same
  /// moment.
  void failed(time_point now, random_stream& random) {
    // 500 ms, 1 s, ... 16 s, then the longest.
    const duration wait = failures < 6 ? first * (1 << failures) : longest;
    ++failures;
    const auto half = wait / 2;
    due = now + half
          + duration{static_cast<duration::rep>(
              random.below(static_cast<std::uint64_t>(half.count()) + 1))};
  }
};

class seed_book {
public:
  /// Seeds remembered.
  static constexpr std::size_t most = 64;

  bool knows(const address& where) const {
    return seeds_.count(where) != 0;
  }
  bool full() const {
    return seeds_.size() >= most;
  }
  /// To be dialled at once. @param hint Only while nobody is linked.
  void add(const address& where, time_point now, bool hint = false) {
    auto& x = seeds_[where];
    x.backoff.due = now;
    x.hint = hint;
  }

  struct candidate {
    address where;
    dial_backoff backoff;
    std::optional<peer_id> holder; ///< It turned out to be there.
  };
  /// Those that may be dialled by `now`, with nobody's dial under way.
  /// @param alone Nobody is linked.
  std::vector<candidate> due(time_point now, bool alone) const;
  /// When one is due next. @param linked Whether its holder is linked: then it
  /// is not.
  template <class Linked, class Offer>
  void offer_dials(bool alone, Linked linked, Offer offer) const {
    for (const auto& [where, x] : seeds_)
      if (!x.is_self && (alone || !x.hint) && !(x.holder && linked(*x.holder)))
        offer(x.backoff.due);
  }

  /// It is dialled; the dial has failed by `until` if nobody says its end.
  void dialling(const address& where, time_point until);
  /// Dials that nobody reported the end of have failed.
  void give_up(time_point now, random_stream& random);
  void failed(const address& where, time_point now, random_stream& random);
  /// `who` answered there. Its own row says when to dial it again; the seed
  /// only helps out, should that fail, from `due` on.
  void reached(const address& where, const peer_id& who, bool is_self,
               time_point due);
  /// The connection with `who` ended: its seeds wait until then.
  void wait_for(const peer_id& who, time_point until);

  /// Whether `who` answers where the user has named; hints left out.
  bool is_of_user(const peer_id& who) const;
  /// Of the one that has failed most often in a row, hints left out.
  unsigned most_failures() const;

private:
  struct seed {
    dial_backoff backoff;
    bool dialling = false;
    bool is_self = false;
    bool hint = false;
    std::optional<peer_id> holder;
  };
  std::map<address, seed> seeds_;
};

} // namespace potluck
