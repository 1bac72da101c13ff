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
/// Seeds are addresses from the command line: dialled before anybody's id is
/// known, and never forgotten.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/random.hpp"

namespace potluck {

class peer_ledger {
public:
  /// Peers remembered: far above a collaboration, and about 2 MiB.
  static constexpr std::size_t max_peers = 4096;
  /// Seeds remembered.
  static constexpr std::size_t max_seeds = 64;
  /// Addresses remembered of one peer: home, public, and two mistakes.
  static constexpr std::size_t max_addresses = 4;
  /// Wait after the first failure; doubles with each further one in a row,
  /// which only a connection of at least `longest_backoff` ends. Of every wait,
  /// half is certain and half is chance.
  static constexpr duration first_backoff = std::chrono::milliseconds{500};
  /// Longest wait: a peer that returns is found within half a minute.
  static constexpr duration longest_backoff = std::chrono::seconds{30};
  /// A dial that nobody reported the end of counts as failed after this.
  static constexpr duration dial_patience = std::chrono::seconds{60};
  /// Addresses remembered as this peer's own, and for how long: a home's
  /// address changes hands now and then.
  static constexpr std::size_t max_own_addresses = 16;
  static constexpr duration own_address_life = std::chrono::minutes{10};
  /// For how long a peer that refused us or misbehaved is left alone.
  static constexpr duration ban = std::chrono::minutes{10};
  /// A peer that nobody vouched for or heard of in this time is forgotten.
  static constexpr duration forget_after = std::chrono::minutes{10};
  /// Records whose ages say that they were written within this time of each
  /// other are one: the age leaves out the way here. Half of the time between
  /// two publications at most.
  static constexpr duration same_record = std::chrono::seconds{1};

  /// Claims beyond these are nonsense, whoever makes them: a thousand times
  /// what any machine, line or run of today could say.
  static constexpr double most_samples_per_second = 1e9;
  static constexpr double most_bytes_per_second = 1e14;
  static constexpr std::uint64_t most_history_samples = std::uint64_t{1} << 56;

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

  /// Why a connection ended.
  enum class parting {
    left,       ///< It said goodbye: forgotten, until somebody vouches again.
    lost,       ///< Silence or a broken line: dialled again after a backoff.
    refused,    ///< One side refused the other: banned for a while.
    misbehaved, ///< It broke the protocol: banned for a while.
  };

  /// A row of the ledger, for those who show or decide.
  struct peer {
    contact who; ///< With the address that is dialled next or was reached.
    std::optional<potluck::role> role; ///< Known once connected or reported.
    bool linked = false;
    unsigned failures = 0; ///< In a row.
    std::optional<time_point> banned_until;
  };

  /// @param self Our own id.
  /// @param seed Of the jitter that keeps peers from dialling in step.
  peer_ledger(const peer_id& self, std::uint64_t seed);

  /// Adds a seed, to be dialled at once.
  verdict add_seed(const address& where, time_point now);

  /// Somebody vouches for `who`.
  verdict learn(const contact& who, time_point now);

  /// At most `limit` contacts to dial now, least failures first. Each counts as
  /// being dialled until its end is reported. The id of a seed is empty.
  /// @param wanted Only these; all when empty. Asked about seeds by an empty
  /// id.
  std::vector<contact>
  due_for_dial(time_point now, std::size_t limit,
               const std::function<bool(const peer_id&)>& wanted = {});

  /// What a peer said last; null when nothing.
  const progress_report* last_report(const peer_id& who) const;

  /// When `due_for_dial` may have something new to say; nothing when never.
  /// @param after What was due by then is left out.
  std::optional<time_point> next_dial(time_point after
                                      = time_point::min()) const;

  /// A connection with `who` is open, whoever dialled. `who.where` is where it
  /// listens; port 0 if it does not. False when it is this peer itself, banned,
  /// or one too many: close the connection. Linking twice is harmless.
  bool connected(const contact& who, role what, time_point now);

  /// Says whom a dialled address turned out to be; call it before `connected`.
  /// A seed is not due while that peer is linked. Where this peer itself
  /// answered, nobody else is looked for from then on: others know its address
  /// under an identity that it had once.
  void reached(const address& where, const peer_id& who, time_point now);

  /// The last connection with `who` ended, or never got past the handshake.
  void disconnected(const peer_id& who, parting why, time_point now);

  /// A dial to a contact from `due_for_dial` failed, or reached somebody else.
  void dial_failed(const contact& who, time_point now);

  /// Of the seed that has failed most often in a row.
  unsigned most_failed_seed_dials() const;

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

  /// Every peer, in the order of ids.
  std::vector<peer> peers() const;

  /// Peers remembered, seeds of unknown id not included.
  std::size_t size() const {
    return rows_.size();
  }

private:
  enum class state { known, dialling, linked };

  /// When to dial next, for peers and seeds alike.
  struct dial_plan {
    time_point due;
    unsigned failures = 0;
    void failed(time_point now, random_stream& random);
  };

  struct row {
    std::vector<address> addresses; ///< The one to dial first.
    std::optional<potluck::role> role;
    peer_ledger::state state = state::known;
    dial_plan dial; ///< `due` of a dialling peer: when to give up on the dial.
    bool proven = false; ///< It was linked once.
    time_point linked_since;
    time_point vouched;
    std::optional<time_point> banned_until;
    std::optional<progress_report> said;
    time_point said_at;
  };

  struct seed {
    dial_plan dial;
    bool dialling = false;
    bool is_self = false;
    std::optional<peer_id> holder;
  };

  using rows = std::map<peer_id, row>;

  /// Puts `where` into the row's addresses, first when it is proven.
  void note(const peer_id& who, row& x, const address& where, bool proven);
  rows::iterator forget(rows::iterator at);
  static bool names(const row& x, const address& where);

  /// Whether somebody else than `who` is known to answer at `where`: this peer,
  /// or one that is linked now.
  bool taken(const address& where, const peer_id& who, time_point now) const;
  /// False when somebody holds `where` already.
  bool hold(const address& where, const peer_id& who);
  void release(const peer_id& who);
  /// Nobody but `holder` is looked for at `where`.
  void vacate(const address& where, const peer_id& holder);

  row* make_room(const peer_id& who, bool proven, time_point now);
  bool may_dial(const row& x) const;
  bool may_dial(const seed& x) const;

  peer_id self_;
  random_stream random_;
  rows rows_;
  /// Who is in which rows' addresses: thousands may come one after the other.
  std::set<std::pair<address, peer_id>> named_;
  std::map<address, seed> seeds_;
  std::map<address, time_point> own_;              ///< Until when.
  std::map<address, peer_id> held_;                ///< By linked peers.
  std::set<std::pair<peer_id, address>> holdings_; ///< The same, by peer.
};

} // namespace potluck
