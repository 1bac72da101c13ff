/// The peers that this one knows, connected or from hearsay, and what a piece
/// of news about one of them changes: whom to dial and how, and what others are
/// to hear of it.
///
/// Pure: it dials nobody, asks nobody and tells nobody. What is known of each
/// is in `peer_ledger`, those that are connected are in `guest_book`, and
/// `dial_choice` says whom this peer wants; here they hear the same news in the
/// right order. This peer's own side (`oneself`) comes with each question.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "messages/contact.hpp"
#include "messages/progress.hpp"
#include "runtime/clock.hpp"
#include "runtime/membership/dial_choice.hpp"
#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/peer_ledger.hpp"

namespace potluck {

class known_peers {
public:
  struct settings {
    peer_id self;
    potluck::role role = potluck::role::trainer;
    std::vector<address> seeds = {};      ///< Named by the user.
    std::map<address, peer_id> pins = {}; ///< Of seeds: who answers there.
    /// Dialled as well while nobody is connected.
    std::vector<address> hints = {};
    std::uint64_t seed = 0; ///< Of the jitter in redialling.
  };

  /// This peer, as far as it matters to whom it is connected.
  struct oneself {
    const progress_report& report;
    std::string host;      ///< Where others see it.
    bool reachable = true; ///< Whether others can dial it,
    bool sure = true;      ///< which has been found out.
  };

  known_peers(settings x, time_point now);

  const peer_ledger& ledger() const {
    return ledger_;
  }
  const guest_book& guests() const {
    return guests_;
  }
  const dial_choice& choice() const {
    return choice_;
  }

  // ---- coming and going

  /// A peer with a session, and how it is connected.
  struct line {
    contact who;
    potluck::role role = potluck::role::trainer;
    bool relayed = false; ///< There is no line but through a hub.
    bool is_hub = false;  ///< It passes circuits on, by its hello.
  };

  /// Whether a peer that has come may stay: `joined` follows then.
  bool admits(const line& x, time_point now);
  const guest_book::guest& joined(const line& x, time_point now);
  /// A guest is connected in another way than before.
  void moved(const line& x, time_point now);
  /// A guest is somebody else from here on, and joins anew.
  void starts_anew(const peer_id& who) {
    guests_.left(who);
  }
  /// How a guest's session has ended.
  struct farewell {
    bool orderly = false;  ///< One of the two said goodbye:
    bool unneeded = false; ///< this peer, which has no need of it.
  };
  void left(const peer_id& who, const farewell& how, const oneself& me,
            time_point now);
  void ban(const peer_id& who, time_point now) {
    ledger_.disconnected(who, peer_ledger::parting::misbehaved, now);
  }
  /// It is in a round with this peer, or its sponsor.
  void works_with(const peer_id& who) {
    guests_.works_with(who);
  }
  /// Whether a guest is there.
  bool is_here(const address& where) const;

  // ---- reports

  /// What a guest's own report changes.
  struct hearing {
    /// It names an address where others can dial it, and not only it says so.
    bool has_address = false;
    bool is_news = false; ///< Others are to hear it.
    /// Whether it becomes a node of the DHT, or is none any more.
    guest_book::change node = guest_book::change::none;
    /// With the address where its peer was seen, if it names none.
    progress_report report;
  };
  /// Changes nothing when `from` is no guest, or speaks for somebody else.
  hearing heard(const peer_id& from, const progress_report& said,
                time_point now);

  /// What a record says.
  enum class hearsay {
    old,      ///< Nothing new.
    of_guest, ///< Its peer is connected, and tells us the rest itself.
    in_reach, ///< News of one that there may be a line to,
    beyond,   ///< or to which none leads: nobody must wait for it.
  };
  /// @param age Of the record.
  hearsay heard_of(const progress_report& said, duration age, const oneself& me,
                   time_point now);

  // ---- dialling

  /// The cell says whom it wants. @returns Whether it wants all, and did not
  /// before.
  bool want(dial_choice::links x, const progress_report& mine) {
    guests_.newcomers_route(x.newcomers);
    return choice_.want(std::move(x), mine);
  }
  /// There is news: `due` looks at the next call.
  void look_soon() {
    choice_.look_soon();
  }
  /// Dialled as well while nobody is connected.
  void add_hint(const address& where, time_point now) {
    ledger_.add_hint(where, now);
  }
  /// Where others see this peer: see `may_knock`.
  void is_seen_at(const std::string& own_host) {
    ledger_.is_seen_at(own_host);
  }

  /// Whom to dial now; they count as dialled.
  std::vector<contact> due(const oneself& me, time_point now) {
    return choice_.due(ledger_, scene(me), now);
  }
  /// How to get a line to a peer, or to whoever answers where the user says.
  struct route {
    contact who; ///< Without an address: through a hub alone.
    std::vector<contact> hubs = {};
    address also = {}; ///< Where it is dialled, too.
  };
  route route_to(const contact& who, const oneself& me) const;
  /// Guests to part with; looked for now and then.
  std::vector<peer_id> surplus(const oneself& me, time_point now) {
    return choice_.surplus(scene(me), now);
  }
  /// This peer contributes, and is connected with those that it needs.
  bool settled(const oneself& me) const {
    return choice_.settled(scene(me));
  }

  /// This peer dialled `where`, and `who` has answered.
  void answered(const address& where, const peer_id& who, time_point now);
  /// A dial to an address came to nothing. @param expected Who was to be there;
  /// empty: anybody. @param through_hub Hubs were tried, too.
  /// @returns Whether nobody must wait for it any more: no line leads to it,
  /// whatever records say.
  bool dial_failed(const address& where, const peer_id& expected,
                   bool through_hub, time_point now);

private:
  dial_choice::scene scene(const oneself& me) const {
    return {ledger_, guests_, me.report, me.reachable, me.sure};
  }

  std::map<address, peer_id> pins_;
  peer_ledger ledger_;
  guest_book guests_;
  dial_choice choice_;
};

} // namespace potluck
