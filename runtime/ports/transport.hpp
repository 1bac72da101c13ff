/// What the actors need of a network: connections that carry frames in order.
///
/// Implemented over libuv (runtime/uv), and for tests within memory. All calls
/// may come from any thread and return at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "messages/contact.hpp"
#include "messages/expected.hpp"
#include "messages/message.hpp"
#include "runtime/clock.hpp"

namespace potluck {

/// Connections that a peer has at a time, both directions together, those that
/// are being dialled included: a full mesh of the largest group, twice (both
/// sides may dial at once); a sponsor's thousand contributors; or a bootstrap's
/// newcomers, 300 a second for the six seconds until each has found its
/// members.
constexpr std::size_t most_connections = 2048;

/// A connection of one transport; never used twice, never zero.
using connection_id = std::uint64_t;

/// A head (see messages/codec.hpp) and the bulk bytes behind it. The body is
/// sent from where it lies and released when the kernel has it.
struct outgoing_frame {
  std::vector<std::uint8_t> head;
  shared_bytes body;
  /// May overtake what waits on its connection, but not another such frame:
  /// for signs of life, which mean nothing behind seconds of gradients.
  bool urgent = false;
};

struct incoming_frame {
  std::vector<std::uint8_t> head;
  /// Read from the socket straight into this buffer, 64-byte aligned. Credit
  /// follows its life: while buffers of a connection are held above a high
  /// mark, the connection is not read.
  shared_bytes body;
};

/// What the plan of an exchange lets a connection have under way: a queue, and
/// what its rate and round trip need.
struct planned_window {
  double queue = 0; ///< Bytes; 0: there is no plan.
  double rate = 0;  ///< Bytes per second.
};

/// What passed on one connection within an interval.
struct connection_traffic {
  connection_id id = 0;
  std::uint64_t sent = 0; ///< Bytes that arrived there, as far as we know.
  std::uint64_t received = 0;
  bool backlogged = false; ///< More was waiting to be sent, all the time.
  duration round_trip{0};  ///< 0: unknown.
};

/// Called on the transport's own thread: hand over, do not work.
class transport_listener {
public:
  virtual ~transport_listener() = default;

  /// Somebody connected to us. `remote` is what the socket says; `proven` is
  /// who they have proven to be, empty on a transport that encrypts nothing.
  virtual void on_accepted(connection_id id, const address& remote,
                           const peer_id& proven)
      = 0;

  /// `dial` succeeded.
  virtual void on_connected(connection_id id, const address& remote,
                            const peer_id& proven)
      = 0;

  virtual void on_frame(connection_id id, incoming_frame frame) = 0;

  /// The last word on `id`: the dial failed, the other side closed, a frame was
  /// malformed, or we closed it. Called exactly once per connection; it is the
  /// only word on one that came in and could not prove who it is.
  virtual void on_closed(connection_id id, const std::string& reason) = 0;

  /// For measuring lines: intervals follow each other without gaps, but for
  /// those in which nothing passed, of which only the first is told.
  /// Connections without traffic are left out. Transports that cannot tell
  /// never call it.
  virtual void on_traffic(duration interval,
                          const std::vector<connection_traffic>& traffic) {
    (void)interval;
    (void)traffic;
  }
};

/// Counters since the start, for measuring lines.
struct transport_traffic {
  std::uint64_t bytes_sent = 0;
  std::uint64_t bytes_received = 0;
};

class frame_stream;
class frame_stream_listener;
/// Makes one end of a stream that carries frames (frame_stream.hpp).
/// @param begins This end opened the stream. @param to Outlives it.
using stream_maker = std::function<std::unique_ptr<frame_stream>(
    bool begins, frame_stream_listener& to)>;

class transport {
public:
  virtual ~transport() = default;

  /// Set once, before anything else. The listener must outlive `stop()`.
  virtual void start(std::shared_ptr<transport_listener> listener) = 0;

  /// Accepts connections on `where` (port 0: any free one), too, and says which
  /// address was bound. Fails with a sentence, for instance when in use.
  virtual expected<address> listen(const address& where) = 0;

  /// Connects in the background; the result is `on_connected` or `on_closed`.
  /// @param expected Whom to reach, where several peers share an address;
  /// empty:
  ///     whoever answers. Somebody else may answer all the same.
  virtual connection_id dial(const address& where, const peer_id& expected = {})
      = 0;

  /// Connects to `at` while the other side does the same, from the port that
  /// was listened on first, again and again for some seconds: that opens holes
  /// in the routers before both (TCP's simultaneous open, RFC 9293, 3.5). Ends
  /// as `dial` does. Transports that cannot do it dial.
  /// @param begins Whether this side begins the encryption; the other does not.
  virtual connection_id punch(const address& at, bool begins) {
    (void)begins;
    return dial(at);
  }

  /// Streams as secure as its own connections, for circuits; null: plain ones
  /// are. Outlived by the transport.
  virtual stream_maker streams() {
    return {};
  }

  /// Where this machine can be dialled within its own house: its addresses
  /// with the port that was listened on first. Loopback ones are left out.
  virtual std::vector<address> local_addresses() const {
    return {};
  }

  /// Queues a frame. Frames of one connection arrive in order or not at all.
  virtual void send(connection_id id, outgoing_frame frame) = 0;

  /// Closes when what is queued has been written, at most `linger_ms` later.
  virtual void close(connection_id id, std::uint32_t linger_ms = 200) = 0;

  /// A plan for the present exchange, of this connection; at first there is
  /// none. A transport that leaves lines to the system need not listen.
  virtual void plan_window(connection_id id, const planned_window& x) {
    (void)id;
    (void)x;
  }

  /// Nothing of it is read from here on, or again: TCP then slows its sender. A
  /// transport that cannot do so goes on.
  virtual void hold(connection_id id, bool yes) {
    (void)id;
    (void)yes;
  }

  /// It belongs to somebody that works with this peer: limits on what
  /// strangers can make it do (runtime/strangers) are not for this connection.
  /// A transport without such limits need not listen.
  virtual void no_stranger(connection_id id) {
    (void)id;
  }

  virtual transport_traffic traffic() const = 0;

  /// Closes everything, waits for the thread's end; no call-back comes after.
  virtual void stop() = 0;
};

} // namespace potluck
