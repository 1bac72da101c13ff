/// One connection through a fault proxy. Private to this folder; on the loop's
/// thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "runtime/uv/handles.hpp"
#include "tools/lab/network/line_emulator.hpp"

namespace potluck {

/// What a relay asks of the network that it is part of. Machines are numbers of
/// its lines; times are of the steady clock.
class relay_network {
public:
  virtual ~relay_network() = default;
  virtual uv_loop_t* loop() = 0;
  /// Sends a piece, of which a bit may flip; when it is at the receiver's line.
  virtual time_point send(std::size_t from, std::size_t to,
                          std::vector<std::uint8_t>& piece,
                          line_emulator::flow& in)
      = 0;
  /// When a piece that is at the receiver's line at `at` has come down.
  virtual time_point come_down(time_point at, std::size_t from, std::size_t to,
                               std::size_t bytes, line_emulator::flow& in)
      = 0;
  /// Whether nothing can be handed over to `to` just now.
  virtual bool held(std::size_t from, std::size_t to) const = 0;
  virtual time_point now() const = 0;
  /// For one read at a time.
  virtual std::vector<char>& staging() = 0;
};

class relay {
public:
  /// @param near Accepted from machine `dialler`.
  relay(relay_network& network, tcp_socket near, std::size_t dialler,
        std::size_t dialled, const sockaddr_storage& source,
        const sockaddr_storage& target);
  ~relay();

  /// Hands over what is due. False when the connection is over, and this object
  /// is to be destroyed.
  bool pump();

  bool concerns(std::size_t machine) const {
    return machine == dialler_ || machine == dialled_;
  }

private:
  struct piece {
    time_point due{};
    bool down = false; ///< It is due with the receiver; else at its line.
    std::vector<std::uint8_t> bytes; ///< None: the end of the stream.
  };
  enum class ending { none, closed, reset };

  /// One direction.
  struct lane {
    relay* owner = nullptr;
    tcp_handle* from = nullptr;
    tcp_handle* to = nullptr;
    std::size_t sender = 0;
    std::size_t receiver = 0;
    std::deque<piece> pieces;
    std::size_t bytes = 0; ///< In `pieces`.
    line_emulator::flow flow;
    bool reading = false;
    std::vector<std::uint8_t> writing; ///< Not empty: a write is under way.
    ending end = ending::none;         ///< Of what `from` sends.
    bool passed_on = false;            ///< The end has been told.
  };

  void connect();
  void connected(int status);
  void read_more(lane& x);
  void arrived(lane& x, ssize_t size, const char* data);
  bool is_due(lane& x, piece& first);
  void hand_over(lane& x);
  void write(lane& x, std::vector<std::uint8_t> bytes);
  lane& lane_from(const tcp_handle* socket) {
    return socket == out_.from ? out_ : in_;
  }
  lane& lane_to(const tcp_handle* socket) {
    return socket == out_.to ? out_ : in_;
  }

  relay_network& network_;
  tcp_socket near_;
  tcp_socket far_; ///< Null until nothing holds the dial.
  const std::size_t dialler_;
  const std::size_t dialled_;
  const sockaddr_storage source_;
  const sockaddr_storage target_;
  bool open_ = false;
  bool broken_ = false;
  lane out_; ///< From the dialler.
  lane in_;
};

} // namespace potluck
