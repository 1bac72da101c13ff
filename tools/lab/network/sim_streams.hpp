/// The emulator of lines in virtual time: connections between the transports of
/// simulated machines, and the frames on them. Private to this folder;
/// sim_network.hpp says what it does.
#pragma once

#include <map>
#include <optional>

#include "messages/framing.hpp"
#include "tools/lab/network/sim_connection.hpp"
#include "tools/lab/network/sim_hosts.hpp"
#include "tools/lab/network/sim_network.hpp"
#include "tools/lab/network/sim_ports.hpp"

namespace potluck {

class sim_streams {
public:
  using end = std::shared_ptr<sim_endpoint>;
  using line = std::shared_ptr<sim_connection>;

  sim_streams(sim_agenda& agenda, line_emulator& lines, sim_hosts& hosts);

  sim_hosts& hosts() {
    return hosts_;
  }
  sim_ports& ports() {
    return ports_;
  }

  /// What the machine's program sends is changed on its way out; no more with
  /// an empty one.
  void corrupt(const sim_host& x, sim_network::forger how);
  void watch(sim_network::watcher x) {
    see_ = std::move(x);
  }
  /// What a partition held up that is over is sent again.
  void send_again();
  /// Hands in what a machine has left unread.
  void read_again(sim_host& x);

  void dial(const end& from, connection_id id, const address& where);
  void punch(const end& from, connection_id id, const address& at, bool begins);
  /// Without effect when it was closed at that side since.
  void send(const line& c, int side, outgoing_frame frame);
  void close(const end& from, connection_id id);
  /// Limits on strangers are not for the other side of that connection.
  void trust(const end& from, connection_id id);
  void stop(const end& x, bool crashed, bool silent);
  /// Its connections break: all, or those from such machines.
  void cut(const sim_host& x,
           const std::function<bool(const sim_host&)>& from = {});

  std::size_t open_connections() const {
    return open_;
  }
  std::uint64_t highest_queue() const {
    return highest_queue_;
  }

private:
  /// A frame under way, and what its preamble announced if it was damaged.
  struct on_the_way {
    line_emulator::parcel parcel;
    outgoing_frame frame;
    std::optional<preamble> announced;

    std::uint64_t letter_bytes() const {
      return frame.body.size == 0 ? parcel.bytes : 0;
    }
  };
  /// Shared by its copies where it is duplicated.
  using frame_ptr = std::shared_ptr<const on_the_way>;

  bool parted(const sim_connection& c) const {
    return hosts_.parted(*c.sides[0].on, *c.sides[1].on);
  }
  line make_line(const end& from, connection_id id, const address& to,
                 std::uint16_t port);
  /// A SYN leaves.
  void knock(const line& c);
  void punch_on(const line& c, duration until);
  /// @param by The router before the other side.
  void arrive(const line& c, const std::shared_ptr<home_router>& by);
  bool reaches(const sim_connection& c) const;
  void nobody_there(const line& c);
  void accept(const line& c, const end& by);
  /// Two that punch towards each other have got through: `other` becomes `c`.
  void meet(const line& c, line other);
  void open_between(const line& c, const end& by, connection_id id);
  /// Strangers that are one too many there have to go.
  void part_with(const end& by, const stranger_desk::departure& who);
  /// What waits on its way from that side, if a stranger is to read it.
  void count_unread(const line& c, int from);
  void tell_connected(const line& c, int side);
  /// Whether no router on its way has forgotten it.
  bool routers_carry(sim_connection& c);
  void transmit(const line& c, int from, outgoing_frame frame);
  /// Behind everything on its way to that side; held up by partitions.
  void notify(const line& c, int to, std::function<void()> what);
  void notify_closed(const line& c, int to, const std::string& reason);
  void pass(const line& c, int to, std::function<void()> what);
  void send_held(sim_endpoint& x);
  /// Takes its turn on the receiver's downlink.
  void come_down(const line& c, int to, const frame_ptr& x);
  void receive(const line& c, int to, const frame_ptr& x);
  void hand_in(const line& c, int to, const frame_ptr& x);
  /// Tells of what came with large frames, as the port says.
  void count_passed(const end& by, connection_id id, std::uint64_t bytes);
  void close_side(const line& c, int which, const std::string& reason);
  void no_longer_open(sim_connection& c);

  sim_agenda& agenda_;
  line_emulator& lines_;
  sim_hosts& hosts_;
  sim_ports ports_;
  std::map<const sim_host*, sim_network::forger> forgers_;
  sim_network::watcher see_;
  std::size_t open_ = 0;
  std::uint64_t highest_queue_ = 0;
};

/// A transport on the machine `host`.
std::unique_ptr<transport> make_sim_transport(std::shared_ptr<sim_streams> net,
                                              const std::string& host,
                                              const peer_id& who);

} // namespace potluck
