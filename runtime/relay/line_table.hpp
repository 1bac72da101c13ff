/// All connections of a peer: what each was dialled for, which of them nobody
/// was welcome on yet, and which of these take long.
///
/// Pure: it is told the time, dials nobody and closes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/ids.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/relay/guest_lines.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// From the connection to its hello, before any was observed: long enough for a
/// satellite line's three round trips, short enough that idle sockets cannot
/// fill the table. Then from what handshakes took, of anybody, since nobody has
/// an id yet: no less than a lost packet's repetitions take, and no more than
/// what a table full of idle sockets may cost.
constexpr auto handshake_patience = 10s;
constexpr auto handshake_floor = 5s;
constexpr auto handshake_cap = 30s;
/// Between a dial that nobody has answered and the circuit that is tried beside
/// it: most lines that can be had at all are there by then.
constexpr auto circuit_head_start = 1s;

} // namespace potluck::limits

namespace potluck {

class line_table {
public:
  /// A connection; `peer` is empty until its hello was welcome.
  struct link {
    address remote; ///< As it was dialled; of one that came, its socket's.
    bool dialled = false;
    peer_id expected; ///< Whom we meant to dial; empty when unknown.
    peer_id proven;   ///< Who is there for certain; empty when unencrypted.
    peer_id peer;
    time_point since;
    bool late = false; ///< Closed, because nobody answered in time.
    /// Of a circuit: where the hub sees the other end.
    std::string hub_sees = {};
    /// Of one that is dialled only to see whether `expected` is there.
    std::optional<bool> reached = {};
    /// Of one that is dialled: what to go through if that fails.
    std::vector<contact> hubs = {};
    bool hubs_tried = false; ///< Beside the dial.
    /// Of one that is dialled: where else to, if that fails or takes long.
    address also = {};
    std::uint64_t nonce = 0; ///< What it is shown then.
    peer_id asker = {};      ///< Who hears how it ended.
    /// Only its hello matters, which says how our port is seen.
    bool asks_for_port = false;
    bool punched = false; ///< A hole's: that it fails is no news of the peer.
  };

  void add(connection_id id, link fresh) {
    links_[id] = std::move(fresh);
    strangers_.insert(id);
  }
  link* find(connection_id id) {
    const auto i = links_.find(id);
    return i == links_.end() ? nullptr : &i->second;
  }
  const link* find(connection_id id) const {
    const auto i = links_.find(id);
    return i == links_.end() ? nullptr : &i->second;
  }
  /// Throws std::out_of_range when there is none.
  link& at(connection_id id) {
    return links_.at(id);
  }
  std::size_t size() const {
    return links_.size();
  }
  /// Whether another peer than was dialled is at the other end. This peer
  /// itself is a case of its own.
  static bool is_another(const link& l, const peer_id& who,
                         const peer_id& self) {
    return l.dialled && !l.expected.empty() && !who.empty() && who != l.expected
           && who != self;
  }

  /// What is due on a connection that has opened.
  enum class opening {
    unknown,  ///< There is none: it is to be closed.
    missed,   ///< Another peer is there than was dialled: likewise.
    seen,     ///< Whoever was looked for is there, and is shown the number.
    unseen,   ///< Somebody else is there than was looked for.
    listened, ///< Nothing: only the other side's hello matters.
    greeted,  ///< A hello.
  };
  /// It is open. @param remote Of a circuit: where the hub sees the other end.
  opening opened(connection_id id, const address& remote, const peer_id& proven,
                 const peer_id& self, time_point now);
  /// It is closed. @returns What it was, if anything.
  std::optional<link> take(connection_id id);
  /// Their hello was welcome.
  void welcome(connection_id id, const peer_id& who, time_point now);

  /// Those on which nobody was welcome yet: few, where there are many.
  const std::set<connection_id>& strangers() const {
    return strangers_;
  }
  /// A dial to it is under way, from which it may become a guest.
  bool is_on_its_way(const peer_id& who) const;

  /// What else to try beside dials that take long.
  struct hurried {
    struct detour {
      contact who;
      std::vector<contact> hubs;
    };
    std::vector<detour> detours;       ///< From here on they are tried.
    std::vector<connection_id> others; ///< Have another address to dial.
  };
  /// @param guests Peers for which nothing is tried any more.
  hurried hurry(const guest_lines& guests, time_point now);
  /// Those that were not greeted in time, which count as late now.
  std::vector<connection_id> overdue(time_point now);

private:
  std::map<connection_id, link> links_;
  std::set<connection_id> strangers_;
  /// From the connection to its hello. Nobody is known before, so that all
  /// deadlines are a stranger's, and all are observed as one.
  deadline_estimator handshakes_{{limits::handshake_floor,
                                  limits::handshake_cap,
                                  limits::handshake_patience}};
};

} // namespace potluck
