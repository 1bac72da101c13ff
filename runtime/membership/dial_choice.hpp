/// Whom to be connected with: which of the peers that are known to dial, when
/// to look for some, and which connections are not needed.
///
/// How a line to one of them is made is `line_way.hpp`'s; how often one that
/// fails is tried again `peer_ledger`'s. Pure: the time comes in.
#pragma once

#include <optional>
#include <vector>

#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/peer_ledger.hpp"

namespace potluck {

class dial_choice {
public:
  /// What the cell wants.
  struct links {
    bool everybody = true;        ///< All that average.
    bool newcomers = true;        ///< And those that have not decided yet.
    std::vector<peer_id> who;     ///< When not everybody.
    std::vector<peer_id> besides; ///< It does without them if need be.
  };
  /// What the choice is made from.
  struct scene {
    const peer_ledger& ledger;
    const guest_book& guests;
    const progress_report& mine; ///< This peer's own report.
    bool reachable = true;       ///< Whether others can dial this peer,
    bool sure = true;            ///< which has been found out.
  };

  /// The cell says whom it wants, from here on.
  /// @returns Whether it wants all, and did not before.
  bool want(links x, const progress_report& mine);
  /// Whether it has said so.
  bool decided() const {
    return links_.has_value();
  }

  /// Whether a peer that is known should be dialled, or reached through a hub;
  /// an empty id stands for an address that the user named.
  bool wants(const peer_id& id, const scene& x) const;
  /// The hubs that a report names, but for those that nobody should dial on a
  /// stranger's word: in the own house, seen from the internet.
  /// @param own The host where others see this peer.
  static std::vector<contact> hubs(const progress_report& said,
                                   const std::string& own,
                                   const guest_book& guests);
  /// This peer contributes, and needs few connections;
  bool wants_few(const progress_report& mine) const;
  /// it knows with whom;
  bool has_names(const progress_report& mine) const;
  /// and has them.
  bool settled(const scene& x) const;
  /// Whether one that is connected is one of few that are wanted, or all are.
  bool keeps(const peer_id& id, const progress_report& mine) const;

  /// Guests to part with; looked for now and then.
  std::vector<peer_id> surplus(const scene& x, time_point now);
  /// Whom to dial now; they count as dialled. To look goes through all that are
  /// known, so it is done when there may be somebody.
  std::vector<contact> due(peer_ledger& ledger, const scene& x, time_point now);
  /// There is news: look at the next call.
  void look_soon() {
    next_look_ = {};
  }
  /// There is news of this peer, which may be one to dial.
  void look_soon_for(const peer_id& id, const scene& x);

private:
  /// Nobody can dial this peer, and no hub leads to it.
  static bool lacks_hub(const scene& x);
  bool named(const peer_id& id) const;
  /// Before the charter is known, a few trainers that may know it do.
  bool may_know_charter(const progress_report* said, const scene& x) const;

  std::optional<links> links_; ///< None yet: as many as it takes.
  time_point next_look_{};
  time_point last_look_{};
  time_point next_tidying_{};
};

} // namespace potluck
