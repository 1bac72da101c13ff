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
#include "runtime/relay/circuit_place.hpp"
#include "runtime/relay/hub_guests.hpp"
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
  void met(connection_id on, const peer_id& who, const std::string& host) {
    guests_.met(on, who, host);
  }
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
  using place = circuit_place;
  /// One end as the hub sees it.
  struct end {
    peer_id who;
    place other;
    std::uint32_t credit = limits::circuit_credit;
    std::uint32_t owed = 0; ///< Came, and was not given back.
    counter held;           ///< Of that, what no line has taken yet.
    std::shared_ptr<token_bucket> rate; ///< Of both ends together.
  };
  struct line {
    std::uint32_t ours = 0, theirs = 0;
    std::optional<std::string> run = {}; ///< None: its hello is to come.
    counter held = std::make_shared<std::atomic<std::size_t>>(0);
  };

  /// Why not; empty when there may be one.
  std::string objection(connection_id on, const peer_id& asker,
                        const peer_id& to, time_point now);
  /// Whether the hub passes on for both ends of these connections. Of one that
  /// has not said hello its run is not known.
  bool admitted(connection_id a, connection_id b) const;
  /// Circuits between the two.
  std::size_t between(const peer_id& x, const peer_id& y) const;
  void add(const place& at, const place& other, const peer_id& who,
           const std::shared_ptr<token_bucket>& rate);
  /// For which most is held.
  connection_id slowest() const;
  /// Forgets both ends.
  void remove(const place& at);
  sendings cut(const place& at, const std::string& reason);
  void settle(const place& at, time_point now, sendings& out);

  hub_guests guests_;
  std::map<connection_id, line> lines_;
  std::map<place, end> at_;
  std::set<place> owing_;
  admits admits_;
  bool rests_ = false;
  limits::hub_budget budget_ = limits::usual_hub;
  token_bucket rate_{budget_.rate, budget_.burst};
  counter held_ = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace potluck
