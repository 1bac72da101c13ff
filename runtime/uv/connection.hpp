/// One TCP connection: frames out of a queue, frames in with credit, an end;
/// between frames and socket, unless insecure, TLS.
///
/// Lives on the loop's thread. States and what leads from one to the next:
///
///     connecting --dialled or accepted--> shaking --both proven--> open
///     connecting --likewise, insecure--> open
///     open --close()--> draining
///     shaking, open --encryption failed, last words to send--> draining
///     any --error, other side closed, close() without linger--> ended
///     draining --other side closed, linger is over--> ended
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/uv/dialer.hpp"
#include "runtime/uv/frame_reader.hpp"
#include "runtime/uv/handles.hpp"
#include "runtime/uv/line_meter.hpp"
#include "runtime/uv/rate_gate.hpp"
#include "runtime/uv/read_credit.hpp"
#include "runtime/uv/tls_channel.hpp"
#include "runtime/uv/uv_transport.hpp"

namespace potluck {

/// What a connection needs of the transport that it belongs to.
class connection_hub {
public:
  virtual ~connection_hub() = default;
  virtual uv_loop_t* loop() = 0;
  virtual const uv_transport_options& options() const = 0;
  /// `encrypted_staging_bytes` bytes, for one read at a time of all
  /// connections: a read is cut into frames before the next one begins.
  virtual std::uint8_t* staging() = 0;
  /// `record_bytes` bytes, for one record at a time, likewise.
  virtual std::uint8_t* decrypted() = 0;
  /// Null when insecure.
  virtual const tls_context* tls() = 0;
  /// The caps on all connections together.
  virtual rate_gate& uploads() = 0;
  virtual rate_gate& downloads() = 0;
  /// How much of `wanted` connection `id` may write now; 0: not its turn.
  virtual std::size_t take_turn(connection_id id, std::size_t wanted) = 0;
  virtual void count_sent(std::size_t bytes) = 0;
  virtual void count_received(std::size_t bytes) = 0;
  /// From any thread: calls `connection::resume` on the loop's thread.
  virtual std::function<void()> resumer(connection_id id) = 0;
  /// Both ends are proven, or nothing has to be.
  virtual void opened(connection_id id, const address& remote,
                      const peer_id& proven, bool dialled)
      = 0;
  virtual void received(connection_id id, incoming_frame frame) = 0;
  /// Destroys the connection: nothing of it may be touched afterwards.
  virtual void ended(connection_id id, std::string reason) = 0;
};

constexpr std::size_t staging_bytes = 64 * 1024;
/// Bodies from here on are read to where they belong.
constexpr std::size_t direct_bytes = 16 * 1024;
/// Bodies are never read directly then, so that larger reads pay.
constexpr std::size_t encrypted_staging_bytes = 256 * 1024;

/// How long the last words of a connection that failed may take: they explain,
/// and nothing hangs on them.
constexpr std::chrono::milliseconds last_words{200};

class connection {
public:
  connection(connection_id id, connection_hub& hub);
  ~connection();

  /// Only one of these two, once. Each may end the connection before it
  /// returns.
  void dial(const address& where);
  void accept(tcp_socket socket, const address& remote);

  /// Came in and has proven nothing yet.
  bool unproven() const {
    return !dialled_ && !announced_;
  }

  /// Queues a frame; `flush` writes. May end the connection.
  void enqueue(outgoing_frame frame);
  void flush();

  /// Sends what is queued, at most so long, then ends the connection.
  void close(std::chrono::milliseconds linger);

  /// Reads on, when it had paused.
  void resume();

  /// What passed since the last look, `interval` ago, if anything did.
  std::optional<connection_traffic> look(duration interval);

  /// Bytes that were written and are not acknowledged.
  std::size_t under_way() const;
  /// Its windows are ours now: the system's should not be smaller.
  void mind_our_windows() const;
  duration least_round_trip() const {
    return meter_.least_round_trip();
  }

  /// The cap on downloads lets it read on.
  void take_turn();

private:
  enum class state { connecting, shaking, open, draining };

  // The beginning.
  void begin(tcp_socket socket, const address& remote);
  void announce(const peer_id& proven);

  // Writing.
  std::deque<queued_frame>::iterator place_of(const queued_frame& x);
  std::size_t bytes_beyond_arrays() const;
  void introduce(queued_frame& x) const;
  std::size_t gather(std::size_t most);
  std::size_t gather_allowed();
  std::size_t waiting_records() const {
    return encrypted_.size() - encrypted_sent_;
  }
  std::size_t waiting_bytes() const {
    return queued_bytes_ + waiting_records();
  }
  bool overfull() const;
  void encrypt_next(std::size_t wanted);
  void take_records();
  std::size_t encrypt_allowed();
  bool put(std::size_t bytes);
  void written(int status);
  void sent(std::size_t bytes);
  void release(std::size_t bytes);

  // Reading.
  void read_on();
  uv_buf_t read_buffer();
  void read(ssize_t size, const uv_buf_t& into);
  bool take_plain(const std::uint8_t* data, std::size_t size);
  bool take_encrypted(const std::uint8_t* data, std::size_t size);
  bool decrypt();
  bool filled(std::size_t size);
  bool cut(const std::uint8_t* data, std::size_t size);
  void deliver();

  // The end.
  std::string explained(std::string reason) const;
  void give_up(const std::string& reason);
  void turn_away(const std::string& reason);
  void drain(std::chrono::milliseconds linger, std::string reason);
  void shut_down();
  void end(std::string reason);

  const connection_id id_;
  connection_hub& hub_;
  state state_ = state::connecting;
  std::unique_ptr<dialer> dialer_;
  tcp_socket socket_;
  std::optional<timer> deadline_; ///< Of the handshake, then of draining.
  address remote_;
  bool dialled_ = false;
  bool announced_ = false;           ///< To the hub, as open.
  std::unique_ptr<tls_channel> tls_; ///< Null when insecure.
  bool heard_ = false;               ///< Anything at all.
  bool goodbye_said_ = false;
  std::string last_reason_; ///< Of the end, once draining.

  std::deque<queued_frame> queue_;
  std::size_t queued_bytes_ = 0;
  /// How many before they are looked at again.
  std::size_t next_look_at_queue_ = 0;
  std::size_t front_sent_ = 0; ///< Of the first frame.
  std::size_t in_flight_ = 0;  ///< Bytes of the write under way; 0: none.
  std::vector<uv_buf_t> buffers_;
  byte_array encrypted_;           ///< What is being, or to be written.
  std::size_t encrypted_sent_ = 0; ///< Of these.

  line_meter meter_;
  frame_reader reader_;
  std::shared_ptr<read_credit> credit_;
  bool paused_ = false;
  std::size_t allowed_ = 0; ///< Bytes that may be read.
};

/// The socket's other end; nothing when it is gone already.
std::optional<address> remote_of(const tcp_handle& socket);

} // namespace potluck
