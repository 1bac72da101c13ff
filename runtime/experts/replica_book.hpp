/// A guard's side of replicas: what it keeps for others, whether their hosts
/// still live, and when to take an expert over.
///
/// Pure: the time is passed in; whoever owns it looks up, stores and serves.
/// An owner is given up when `expert_lease_misses` looks in a row find no lease
/// of it in the DHT while there is no connection with it either. Then the
/// guards ask who else announces the expert and who keeps which version; the
/// newest replica comes first, and each guard behind it waits a turn longer.
/// Whoever takes it over says so at once, by the record of its replica under
/// the next term: before such a claim the others wait until it serves, its
/// claim ends, or it has vanished too; for a minute in all, as anybody can
/// claim.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/experts.hpp"
#include "runtime/clock.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Replicas held for others, for each of their experts that a host is ready to
/// take over: twice as many as come to it when all hosts are alike.
constexpr std::size_t replicas_per_spare = 4;
/// Each guard with a newer replica gets so much time to claim an expert before
/// the next one does: it may see the host vanish a look later
/// (`expert_lease_look`), and ask those who do not answer (`routing_patience`).
constexpr auto expert_turn = 6s;
/// A claim that nothing comes of is waited for no longer.
constexpr auto expert_claim_patience = 60s;
/// An orphan that no guard has taken over is looked at again after so long.
constexpr auto orphan_again = 10s;

} // namespace potluck::limits

namespace potluck {

class replica_book {
public:
  /// @param spare Experts that it may take over.
  replica_book(const peer_id& self, const digest& kind, std::size_t spare)
      : self_(self), kind_(kind), spare_(spare) {
  }

  enum class verdict {
    wanted,  ///< Its bytes are needed.
    held,    ///< They are kept already.
    refused, ///< Another kind, no room, or a newer tenure is known.
  };
  struct replica {
    contact owner;
    std::uint32_t term = 1;
    std::uint64_t version = 0;
    digest sum;
    std::string home = {}; ///< Of whoever offered it.
  };
  struct question {
    std::string uid;
    bool last = false; ///< The guard has waited for those before it.
  };

  /// What to make of an offer by its owner, whose id is proven.
  /// @param home The owner's: where no place is free, one of the home that has
  /// most gives way to a home that has fewer.
  verdict offered(const replica_offer& x, const std::string& home,
                  time_point now);
  /// Its bytes are kept.
  /// @returns What is kept no longer, for want of a place: perhaps itself.
  std::vector<std::string> keep(const replica_offer& x, const std::string& home,
                                time_point now);
  /// Served by this host: how many of others' experts, those that are being
  /// taken over included.
  void adopted(std::size_t count) {
    adopted_ = count;
  }
  std::size_t room() const {
    return adopted_ < spare_ ? spare_ - adopted_ : 0;
  }

  /// Owners whose leases are to be looked up now, at most so many; counts as
  /// done for those it returns.
  std::vector<peer_id> owners_due(time_point now, std::size_t at_most);
  /// What came of it. Look-ups that nobody answered say nothing: leave them
  /// out.
  void lease(const peer_id& owner, bool there, bool connected, time_point now);

  /// Orphans about which others are to be asked now; likewise.
  std::vector<question> questions(time_point now, std::size_t at_most);
  /// Who announces the expert, and who keeps or claims it.
  void answered(const question& x,
                const std::vector<expert_announcement>& hosts,
                const std::vector<expert_announcement>& guards, time_point now);

  /// An expert to take over now; it is not in the book any more.
  std::optional<std::pair<std::string, replica>> take(time_point now);

  /// Takes an expert that its owner hands over.
  std::optional<replica> take_offered(const std::string& uid);

  /// Those that their owners, who live, do not offer any more, are dropped:
  /// which.
  std::vector<std::string> forget_old(time_point now);

  const std::map<std::string, replica> held() const;
  bool vanished(const peer_id& owner) const;

private:
  enum class phase {
    kept,       ///< The owner lives, as far as is known.
    orphan,     ///< Others are to be asked at `due`.
    asked,      ///< At `due` they are asked again.
    waiting,    ///< Until `due`: another guard comes first.
    confirming, ///< Asked for the last time whether somebody has it.
    ready,      ///< To be taken.
  };
  struct claim {
    peer_id by;
    time_point since; ///< The first of those that were seen in a row.
  };
  struct entry {
    replica what;
    time_point offered;
    potluck::replica_book::phase phase = phase::kept;
    time_point due;
    std::optional<claim> claimed; ///< Of an orphan: being taken over.
  };
  struct owner {
    time_point next;
    unsigned misses = 0;
    bool vanished = false;
  };

  using entries = std::map<std::string, entry>;

  bool is_full() const {
    return entries_.size() >= spare_ * limits::replicas_per_spare;
  }
  /// What gives way to another one of that home; the end: nothing.
  entries::const_iterator gives_way_to(const std::string& home,
                                       time_point now) const;
  void tidy_owners();

  peer_id self_;
  digest kind_;
  std::size_t spare_;
  std::size_t adopted_ = 0;
  entries entries_;
  std::map<peer_id, owner> owners_; ///< Of the entries, and claimers.
};

} // namespace potluck
