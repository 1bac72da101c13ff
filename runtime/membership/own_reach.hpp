/// Whether others can dial this peer: whom to ask, and when the answer changes.
///
/// Pure. The votes are `reachability`'s; this says when they are taken, among
/// whom, at which address, and what a proof is worth.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/lines.hpp"
#include "messages/progress.hpp"
#include "runtime/membership/guest_book.hpp"
#include "runtime/membership/nat_kind.hpp"
#include "runtime/membership/reachability.hpp"

namespace potluck {

class own_reach {
public:
  struct question {
    peer_id whom;
    reach_request text;
  };
  /// A guest that asks the same of its port has this long for it.
  static constexpr std::chrono::seconds port_patience{10};

  /// @param seed Gives each peer an order of its own to ask in, and numbers
  ///     that others cannot guess.
  own_reach(potluck::role own, std::uint64_t seed) : own_(own), seed_(seed) {
  }

  /// What others are told: whether they can dial this peer. Taken to be so
  /// until it has been found out.
  bool reachable() const {
    return told_.reachable;
  }
  /// Likewise, and which kind of router stands before it.
  reach kind() const {
    return told_.kind;
  }
  /// It has been found out, or there is nobody who could tell.
  bool sure() const {
    return found_out_;
  }
  /// Whether that has just changed; then it is what others are to be told.
  bool changes();
  /// What the user is told of it.
  std::string sentence(const address& where) const;

  /// Whom to ask to dial this peer at `where`, if anybody.
  /// @param mapped A router has opened the port there, as it says.
  /// @param decided The cell has said whom it wants: only then does a trainer
  ///     care. @param contributes This peer does.
  std::optional<question> ask(const address& where, bool mapped, bool decided,
                              bool contributes, const guest_book& guests,
                              time_point now);
  /// @returns whether that was a question of this peer's own.
  bool answered(const peer_id& from, const reach_answer& x, time_point now);
  /// A connection from `host` carries a question's number.
  /// @param new_host We had never dialled it.
  void proven(std::uint64_t nonce, const std::string& host, bool new_host,
              time_point now);
  /// This peer has dialled us, from a host that we had never dialled.
  /// @param own Where others see us.
  void came(const contact& who, const std::string& own, time_point now);

  /// Whom to dial from the port that this peer listens on, to hear how its
  /// router shows that; asked until somebody proves that it can be dialled:
  /// that nobody can takes the time of three dials in vain.
  std::optional<contact> ask_for_port(const guest_book& guests, time_point now);
  /// How a peer of that host sees this port.
  void port_seen(const address& as, const std::string& by) {
    router_.seen(as, by);
  }
  /// Where others may meet the port that this peer listens on, while it dials
  /// them from there; empty where that is not known.
  std::optional<address> outside() const {
    return router_.outside();
  }
  /// Likewise, as far as a single witness is to be believed.
  std::vector<address> perhaps_outside() const {
    return router_.perhaps_outside();
  }

private:
  struct news {
    bool reachable = true;
    reach kind = reach::unknown;
  };

  /// None: it says nothing of whether others can.
  static std::optional<reachability::proof>
  worth(const std::string& host, bool new_host, const std::string& own);

  potluck::role own_;
  std::uint64_t seed_;
  std::uint64_t questions_ = 0;
  reachability votes_;
  nat_kind router_;
  std::map<std::string, time_point> asked_for_port_; ///< Which hosts.
  news told_;
  bool found_out_ = false; ///< At this address, or nobody knows.
  address where_;          ///< The votes were taken there.
  bool mapped_ = false;
};

} // namespace potluck
