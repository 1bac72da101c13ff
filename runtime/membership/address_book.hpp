/// At which addresses peers are said to be, and which peer has answered where.
///
/// A peer that lost its identity leaves records behind under its old one: where
/// somebody else answers, nobody else is looked for. Pure bookkeeping for
/// `peer_ledger`.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"

namespace potluck {

class address_book {
public:
  /// Addresses remembered of one peer: home, public, and two mistakes.
  static constexpr std::size_t most_of_one = 4;
  /// Addresses remembered as this peer's own, and for how long: a home's
  /// address changes hands now and then.
  static constexpr std::size_t max_own = 16;
  static constexpr duration own_life = std::chrono::minutes{10};

  /// `who` is said to be there. Proven: it was, so that it is dialled there
  /// first. Undialable addresses are left out.
  void note(const peer_id& who, const address& where, bool proven);
  /// Where `who` may be, the one to dial first in front.
  const std::vector<address>& of(const peer_id& who) const;
  bool names(const peer_id& who, const address& where) const;
  /// A dial to the first address failed: the next one's turn.
  void turn(const peer_id& who);
  void forget(const peer_id& who);

  /// This peer itself answers there.
  void is_own(const address& where, time_point now);
  /// A linked peer listens there. False when one does already.
  bool hold(const address& where, const peer_id& who);
  /// It is linked no more.
  void release(const peer_id& who);
  /// Whether somebody else than `who` answers at `where`: this peer, or one
  /// that is linked now.
  bool taken(const address& where, const peer_id& who, time_point now) const;
  /// Nobody but `holder` and those that `stays` is looked for at `where`.
  /// @returns Those that are left without any address.
  template <class Stays>
  std::vector<peer_id> vacate(const address& where, const peer_id& holder,
                              Stays stays);

private:
  std::map<peer_id, std::vector<address>> addresses_;
  /// The same by address: thousands may come one after the other.
  std::set<std::pair<address, peer_id>> named_;
  std::map<address, time_point> own_;              ///< Until when.
  std::map<address, peer_id> held_;                ///< By linked peers.
  std::set<std::pair<peer_id, address>> holdings_; ///< The same, by peer.
};

template <class Stays>
std::vector<peer_id> address_book::vacate(const address& where,
                                          const peer_id& holder, Stays stays) {
  std::vector<peer_id> homeless;
  auto next = named_.lower_bound({where, peer_id{}});
  while (next != named_.end() && next->first == where) {
    const auto id = next->second;
    if (id == holder || stays(id)) {
      ++next;
      continue;
    }
    next = named_.erase(next);
    auto& all = addresses_.at(id);
    for (auto at = all.begin(); at != all.end(); ++at)
      if (*at == where) {
        all.erase(at);
        break;
      }
    if (all.empty())
      homeless.push_back(id);
  }
  return homeless;
}

} // namespace potluck
