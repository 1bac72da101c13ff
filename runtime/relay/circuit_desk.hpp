/// A hub's side of circuits: which there are, what is passed on, and how much
/// each may carry.
///
/// Pure: told of connections and of what comes on them, it says what to send.
/// What an end may have under way is its credit; credit comes back when the
/// next line has taken the bytes and the budgets allow it (limits.hpp). So
/// nothing waits here beyond credit, and whoever sends more loses the circuit.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "messages/message.hpp"
#include "runtime/lines/token_bucket.hpp"
#include "runtime/ports/transport.hpp"
#include "runtime/relay/limits.hpp"

namespace potluck {

class circuit_desk {
public:
  struct sending {
    connection_id to = 0;
    message what;
    shared_bytes body = {};
    bool ends = false; ///< The connection is to be closed instead.
  };
  using sendings = std::vector<sending>;

  /// A number for a circuit that this peer opens on a connection: ascending.
  std::uint32_t next_number(connection_id on) {
    return ++lines_[on].ours;
  }
  /// The other side opens one with this number. Whether it may: numbers ascend.
  bool take_number(connection_id on, std::uint32_t number);

  /// Somebody is at the other end for certain, or as far as anything is.
  void met(connection_id on, const peer_id& who, const std::string& host);
  /// Its hello was welcome and named this run: circuits to it come on the
  /// newest such connection, and lead to peers of the same run alone.
  sendings welcome(connection_id on, const std::string& run);
  /// Whether a peer of a run may have circuits here.
  using admits
      = std::function<bool(const peer_id& who, const std::string& run)>;
  /// Null: everybody may.
  void only_for(admits whom) {
    admits_ = std::move(whom);
  }
  /// Whether to open none for others, from here on.
  void rest(bool rests) {
    rests_ = rests;
  }
  /// What it carries from here on; what is open goes on.
  void budget(const limits::hub_budget& x) {
    budget_ = x;
    rate_ = token_bucket{x.rate, x.burst};
  }
  /// The connection has ended, and its circuits with it.
  sendings gone(connection_id on);

  /// A guest asks for a circuit; its number was taken. Where there is one, each
  /// end hears from which host the other is connected.
  sendings open(connection_id from, const circuit_open& x, time_point now);
  /// What follows is of a circuit that is passed on here.
  bool has(connection_id on, std::uint32_t number, bool opened_there) const {
    return at_.count({on, number, opened_there}) != 0;
  }
  sendings pass(connection_id from, const circuit_data& x,
                const shared_bytes& body, time_point now);
  sendings close(connection_id from, const circuit_close& x);

  /// Gives credit back that is due.
  sendings look(time_point now);
  /// Whether there is something to look for.
  bool owes() const {
    return !owing_.empty();
  }

  std::size_t circuits() const {
    return at_.size() / 2;
  }
  /// Bytes that no line has taken yet, and what their frames cost.
  std::size_t held() const {
    return *held_;
  }

private:
  using counter = std::shared_ptr<std::atomic<std::size_t>>;
  struct place {
    connection_id on = 0;
    std::uint32_t number = 0;
    bool opened_there = false; ///< By the other side of the connection.

    friend bool operator<(const place& a, const place& b) {
      return std::tie(a.on, a.number, a.opened_there)
             < std::tie(b.on, b.number, b.opened_there);
    }
  };
  /// One end as the hub sees it.
  struct end {
    peer_id who;
    place other;
    std::uint32_t credit = limits::circuit_credit;
    std::uint32_t owed = 0; ///< Came, and was not given back.
    counter held;           ///< Of that, what no line has taken yet.
    std::shared_ptr<token_bucket> rate; ///< Of both ends together.
    std::uint64_t turn = 0;             ///< In the order of their opening.
  };
  struct prefix {
    std::size_t guests = 0, ends = 0;
    std::size_t opened = 0; ///< Circuits that guests there asked for.
    token_bucket rate{limits::prefix_rate, limits::prefix_burst};
  };
  struct guest {
    std::set<connection_id> connections;
    std::vector<connection_id> welcome = {}; ///< Of these, the newest last.
    std::string prefix, home;
    std::size_t circuits = 0;
    token_bucket opens{limits::opens_per_second, limits::opens_at_once};
    token_bucket rate{limits::sender_rate, limits::sender_burst};
  };
  struct line {
    std::uint32_t ours = 0, theirs = 0;
    std::optional<std::string> run = {}; ///< None: its hello is to come.
    counter held = std::make_shared<std::atomic<std::size_t>>(0);
  };

  /// Why not; empty when there may be one.
  std::string objection(connection_id on, guest& from, const peer_id& asker,
                        const peer_id& to, time_point now);
  /// The circuit that gives way to one from there: the oldest of the home that
  /// asked for most, if that has more.
  std::optional<place> gives_way_to(const std::string& home) const;
  /// Whether the hub passes on for both ends of these connections. Of one that
  /// has not said hello its run is not known.
  bool admitted(connection_id a, connection_id b) const;
  /// Circuits between the two.
  std::size_t between(const guest& x, const peer_id& y) const;
  void add(const place& at, const place& other, const peer_id& who,
           const std::shared_ptr<token_bucket>& rate);
  /// For which most is held.
  connection_id slowest() const;
  /// Forgets both ends.
  void remove(const place& at);
  sendings cut(const place& at, const std::string& reason);
  void settle(const place& at, time_point now, sendings& out);

  struct caller {
    peer_id who;
    std::string host;
  };

  std::map<connection_id, caller> whose_;
  std::map<connection_id, line> lines_;
  std::map<peer_id, guest> guests_;
  std::map<std::string, prefix> prefixes_;
  /// What each home asked for, by its turn.
  std::map<std::string, std::map<std::uint64_t, place>> opened_;
  std::uint64_t turns_ = 0;
  std::map<place, end> at_;
  std::set<place> owing_;
  admits admits_;
  bool rests_ = false;
  limits::hub_budget budget_ = limits::usual_hub;
  token_bucket rate_{budget_.rate, budget_.burst};
  counter held_ = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace potluck
