/// The inside of sim_network: machines, connections, and the queue of what is
/// due. Private to this folder.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "messages/framing.hpp"
#include "runtime/random.hpp"
#include "tools/lab/network/sim_network.hpp"

namespace potluck {

struct connection;

class sim_network::core {
public:
  struct machine;

  /// What a thing to do will touch, as far as it is known (else null).
  struct surroundings {
    const connection* line;
    const machine* host;

    void look_ahead() const;
  };

  /// A thing to do later, in order of time, then of being scheduled.
  struct task {
    duration at;
    std::uint64_t sequence;
    std::function<void()> run;
    surroundings where;

    friend bool operator<(const task& a, const task& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  struct endpoint;

  /// What a program asked for in its turn, and when.
  struct deed {
    duration at;
    std::function<void()> run;
    surroundings where;
  };

  struct machine {
    std::string name;
    host_number number = 0;
    line access;
    duration uplink_free{0};
    duration downlink_free{0};
    bool nat = false;
    bool frozen = false;
    bool deaf = false;
    forger forge;
    std::set<std::uint64_t> partitions;
    std::set<std::uint64_t> estrangements; ///< By numbers of the same row.
    std::deque<std::function<void()>> frozen_mail;
    /// What waits for the machine's turn, and since when.
    std::deque<std::pair<duration, std::function<void()>>> inbox;
    std::vector<deed> deeds; ///< Of its turn.
    bool in_turn = false;
    duration moment{0}; ///< Of its turn.
    std::vector<std::weak_ptr<endpoint>> endpoints;
    std::deque<std::function<void()>> unread;
    std::uint16_t next_port = 40000;
    std::size_t running = 0; ///< Transports that are not stopped.
  };
  using host = std::shared_ptr<machine>;

  /// One transport.
  struct endpoint {
    host on;
    peer_id who; ///< Proven to whoever is connected.
    std::shared_ptr<transport_listener> listener;
    std::uint16_t port = 0; ///< 0: does not listen.
    connection_id next_id = 1;
    transport_traffic traffic;
    bool stopped = false;
    bool stopping = false;           ///< Asked for in a turn.
    std::set<connection_id> closing; ///< Asked for in a turn.
    std::map<connection_id, std::pair<std::shared_ptr<struct connection>, int>>
        lines;
  };
  using end = std::shared_ptr<endpoint>;

  explicit core(std::uint64_t seed) : chance{seed} {
  }

  host machine_of(const std::string& name);
  void set_line(machine& x, const line& how);
  /// By turns at the same time.
  machine& at(host_number number) {
    return *by_number[number];
  }
  void later(duration when, std::function<void()> what,
             const surroundings& where = {}) {
    due.push({std::max(when, now), sequence++, std::move(what), where});
  }
  bool parted(const machine& a, const machine& b) const;
  /// Whether they cannot dial each other.
  bool estranged(const machine& a, const machine& b) const;
  void reconcile(std::uint64_t estrangement);

  /// Does it, or in a turn of the machine notes it.
  static void ask(machine& x, std::function<void()> what,
                  const surroundings& where = {});
  expected<address> listen(const end& x, const address& where);
  void stop_listening(const end& x);

  void dial(const end& from, connection_id id, const address& where);
  /// Without effect when it was closed at that side since.
  void send(const std::shared_ptr<connection>& c, int side,
            outgoing_frame frame);
  void close(const end& from, connection_id id);
  void stop(const end& x, bool crashed, bool silent);
  /// Its connections break: all, or those from such machines.
  void cut(const host& x, const std::function<bool(const machine&)>& from = {});
  void reunite(std::uint64_t partition);
  /// What partitions that are over held up on the way to it.
  void send_again(endpoint& x);
  void thaw(machine& x);
  void read_again(machine& x);

  random_stream chance;
  duration now{0};
  std::uint64_t sequence = 0;
  std::uint64_t partitions = 0;
  std::priority_queue<task> due;
  std::map<std::string, host> machines;
  std::multiset<duration> delays; ///< Of all machines' lines.
  std::vector<machine*> by_number;
  /// Where dials to a host go that nobody has named: none runs there.
  const host nowhere = std::make_shared<machine>();
  /// By turns at the same time.
  std::mutex ports;
  std::map<address, end> listening;
  statistics totals;
  std::uint64_t in_flight = 0;
  std::size_t open = 0;
  std::function<void(host_number)> before;
  watcher see;
  bool turns = false;

private:
  using line_ptr = std::shared_ptr<connection>;

  /// A frame under way, and what its preamble announced if it was damaged.
  struct on_the_way {
    outgoing_frame frame;
    std::size_t bytes = 0; ///< That it takes on the line.
    std::optional<preamble> announced;
  };
  /// Shared by its copies where it is duplicated.
  using frame_ptr = std::shared_ptr<const on_the_way>;

  void arrive(const line_ptr& c);
  void transmit(const line_ptr& c, int from, outgoing_frame frame);
  /// Behind everything on its way to that side; held up by partitions.
  void notify(const line_ptr& c, int to, std::function<void()> what);
  void pass(const line_ptr& c, int to, std::function<void()> what);
  bool held_up(const connection& c, int to) const;
  /// Takes its turn on the receiver's downlink.
  void come_down(const line_ptr& c, int to, const frame_ptr& x);
  void receive(const line_ptr& c, int to, const frame_ptr& x);
  void hand_in(const line_ptr& c, int to, const frame_ptr& x);
  void close_side(const line_ptr& c, int which, const std::string& reason);
  void hand_over(const host& x, std::function<void()> what);
  duration one_way(const machine& a, const machine& b);
};

/// A stream between two endpoints; the dialling side is number 0.
struct connection {
  struct side {
    sim_network::core::end owner;
    sim_network::core::host on;
    connection_id id = 0;
    bool closed = false;   ///< Its `on_closed` was called, or never will be.
    bool closing = false;  ///< Closed by its owner: sends no more.
    duration last_left{0}; ///< Of what is for this side: the other's line.
    duration last_due{0};  ///< Of what is on its way to this side.
    duration last_down{0}; ///< Of what has come down this side's line.
    duration died{duration::max()}; ///< What had not left by then is lost.
    std::uint64_t queued = 0;       ///< Bytes on their way to this side.
    /// Lost to a partition so far; sent again when that ends.
    std::deque<std::function<void()>> held;
  };
  std::array<side, 2> sides;
  address to;
  address from;
  bool open = false;
};

} // namespace potluck
