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
#include "runtime/membership/dial_backoff.hpp"

namespace potluck {

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
  /// To be dialled at once.
  void add(const address& where, time_point now) {
    seeds_[where].backoff.due = now;
  }

  struct candidate {
    address where;
    dial_backoff backoff;
    std::optional<peer_id> holder; ///< It turned out to be there.
  };
  /// Those that may be dialled by `now`, with nobody's dial under way.
  std::vector<candidate> due(time_point now) const;
  /// When one is due next. @param linked Whether its holder is linked: then it
  /// is not.
  template <class Linked, class Offer>
  void offer_dials(Linked linked, Offer offer) const {
    for (const auto& [where, x] : seeds_)
      if (!x.is_self && !(x.holder && linked(*x.holder)))
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
  /// The connection with `who` ended: its seeds wait until then at least.
  void wait_for(const peer_id& who, time_point until);

  /// Of the one that has failed most often in a row.
  unsigned most_failures() const;

private:
  struct seed {
    dial_backoff backoff;
    bool dialling = false;
    bool is_self = false;
    std::optional<peer_id> holder;
  };
  std::map<address, seed> seeds_;
};

} // namespace potluck
