/// Which remote peers there are, which of them to dial, and what they last
/// said.
///
/// Pure bookkeeping: it neither dials nor listens. Contacts and reports are
/// hearsay; the ledger bounds them, and nothing in it ever is this peer itself.
///
/// A peer's state:
///     known --due_for_dial--> dialling --connected--> linked
///     dialling --dial_failed--> known (backing off)
///     linked --disconnected--> known (backing off), banned, or forgotten
///     known --connected--> linked, when the peer dialled us
///
/// Beside it, `seed_book` keeps the addresses that the user named,
/// `address_book` which peer answers where, and `last_reports` what each said.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/address_book.hpp"
#include "runtime/membership/hearsay_dials.hpp"
#include "runtime/membership/last_reports.hpp"
#include "runtime/membership/seed_book.hpp"
#include "runtime/random.hpp"

namespace potluck {

class peer_ledger {
public:
  /// Peers remembered: far above a collaboration, and about 2 MiB.
  static constexpr std::size_t max_peers = 4096;
  /// A dial that nobody reported the end of counts as failed after this.
  static constexpr duration dial_patience = std::chrono::seconds{60};
  /// For how long a peer that refused us or misbehaved is left alone.
  static constexpr duration ban = std::chrono::minutes{10};
  /// A peer that nobody vouched for or heard of in this time is forgotten.
  static constexpr duration forget_after = std::chrono::minutes{10};

  enum class verdict {
    added,      ///< The peer is new here.
    known,      ///< It was known; a new address was added where there was room.
    itself,     ///< It is this peer; nothing changed.
    undialable, ///< It has no usable address; nothing changed.
    banned,     ///< It is banned; nothing changed.
    full,       ///< No room, and nobody worth less; nothing changed.
    replaced,   ///< Another peer answers at its only address; nothing changed.
    older,      ///< (Of a report.) It or a later one is known; nothing changed.
    nonsense,   ///< (Of a report.) A number in it cannot be; nothing changed.
  };

  /// Of a report: whether it says anything new.
  static bool is_news(verdict x) {
    return x == verdict::added || x == verdict::known;
  }

  /// Why a connection ended.
  enum class parting {
    left,       ///< It said goodbye: forgotten, until somebody vouches again.
    unneeded,   ///< We said so: it may be dialled as soon as it is needed.
    lost,       ///< Silence or a broken line: dialled again after a backoff.
    refused,    ///< One side refused the other: banned for a while.
    misbehaved, ///< It broke the protocol: banned for a while.
  };

  /// @param seed Of the jitter that keeps peers from dialling in step.
  peer_ledger(const peer_id& self, std::uint64_t seed)
      : self_(self), random_(seed) {
  }

  /// Adds a seed, to be dialled at once.
  verdict add_seed(const address& where, time_point now) {
    return add(where, now, false);
  }
  /// Likewise, but it is dialled only while nobody is linked.
  verdict add_hint(const address& where, time_point now) {
    return add(where, now, true);
  }

  /// Where others see this peer: see `may_knock`.
  void is_seen_at(const std::string& own_host) {
    own_host_ = own_host;
  }

  /// At most `limit` contacts to dial now, least failures first; those that
  /// were never connected from there are rationed (`hearsay_dials`). Each
  /// counts as being dialled until its end is reported. The id of a seed is
  /// empty, and so is the address of a peer to which only hubs lead.
  /// @param wanted Only these; all when empty. Asked about seeds by an empty
  /// id.
  std::vector<contact>
  due_for_dial(time_point now, std::size_t limit,
               const std::function<bool(const peer_id&)>& wanted = {});

  /// What a peer said last; null when nothing.
  const progress_report* last_report(const peer_id& who) const {
    return said_.of(who);
  }

  /// When `due_for_dial` may have something new to say; nothing when never.
  /// @param after What was due by then is left out.
  std::optional<time_point> next_dial(time_point after
                                      = time_point::min()) const;

  /// A connection with `who` is open, whoever dialled. `who.where` is where it
  /// listens; port 0 if it does not. False when it is this peer itself, banned,
  /// or one too many: close the connection. Linking twice is harmless.
  /// @param shares Others may answer at its address, too: it is a bootstrap
  ///     peer, whose tenants do.
  bool connected(const contact& who, time_point now, bool shares = false);

  /// Says whom a dialled address turned out to be; call it before `connected`.
  /// A seed is not due while that peer is linked. Where this peer itself
  /// answered, nobody else is looked for from then on: others know its address
  /// under an identity that it had once.
  void reached(const address& where, const peer_id& who, time_point now);

  /// The last connection with `who` ended, or never got past the handshake.
  void disconnected(const peer_id& who, parting why, time_point now);

  /// A dial to a contact from `due_for_dial` failed, or reached somebody else.
  void dial_failed(const contact& who, time_point now);

  /// Whether it answers where the user has named.
  bool is_seed(const peer_id& who) const {
    return seeds_.is_of_user(who);
  }
  /// Of the seed that has failed most often in a row.
  unsigned most_failed_seed_dials() const {
    return seeds_.most_failures();
  }

  /// Takes what a peer said of itself `age` ago: zero for a direct message, the
  /// used part of its life for a DHT record. Its address is learnt, too. A
  /// record that was taken before is `older`.
  verdict report(const progress_report& said, time_point now,
                 duration age = duration::zero());

  /// The last report of every peer, of those made at most `max_age` ago, in the
  /// order of ids. Banned peers' are left out.
  std::vector<progress_report> reports(time_point now, duration max_age) const;

  /// Drops peers and ended bans that are of no use any more.
  void forget_stale(time_point now);

  bool is_linked(const peer_id& who) const;
  bool is_banned(const peer_id& who, time_point now) const;

  /// Peers remembered, seeds of unknown id not included.
  std::size_t size() const {
    return rows_.size();
  }

private:
  enum class state { known, dialling, linked };

  struct row {
    peer_ledger::state state = state::known;
    dial_backoff dial;
    bool proven = false; ///< It was linked once,
    std::string host;    ///< from there.
    time_point linked_since;
    time_point vouched;
    std::optional<time_point> banned_until;
  };

  using rows = std::map<peer_id, row>;

  verdict add(const address& where, time_point now, bool hint);
  bool alone() const;
  rows::iterator forget(rows::iterator at);
  /// Nobody but `holder` is looked for at `where`.
  void vacate(const address& where, const peer_id& holder);

  row* make_room(const peer_id& who, bool proven, time_point now);
  bool may_dial(const peer_id& id, const row& x) const;
  /// Whether it was itself at this host, so that nobody else is made to knock.
  static bool came_from(const row& x, const address& where) {
    return x.proven && x.host == where.host;
  }

  peer_id self_;
  random_stream random_;
  rows rows_;
  seed_book seeds_;
  address_book addresses_;
  last_reports said_; ///< By peers of `rows_`.
  hearsay_dials hearsay_;
  std::string own_host_;
};

} // namespace potluck
