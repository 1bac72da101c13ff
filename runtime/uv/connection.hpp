/// One connection, from its dial or its coming to its end.
///
/// Lives on the loop's thread. States and what leads from one to the next:
///
///     connecting --dialled, punched or accepted--> shaking --proven--> open
///     connecting --likewise, insecure--> open
///     open --close()--> draining
///     shaking, open --something is wrong, last words to send--> draining
///     any --error, other side closed, close() without linger--> ended
///     draining --other side closed, linger is over--> ended
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/uv/dialer.hpp"
#include "runtime/uv/face_list.hpp"
#include "runtime/uv/framed_socket.hpp"
#include "runtime/uv/puncher.hpp"
#include "runtime/uv/uv_transport.hpp"

namespace potluck {

/// What a connection needs of the transport that it belongs to.
class connection_hub {
public:
  virtual ~connection_hub() = default;
  virtual uv_loop_t* loop() = 0;
  virtual const uv_transport_options& options() const = 0;
  virtual socket_context& shared() = 0;
  /// From any thread: has the connection's socket `resume` on the loop's.
  virtual std::function<void()> resumer(connection_id id) = 0;
  /// Both ends are proven, or nothing has to be; only then has one that came in
  /// a face.
  virtual void opened(connection_id id, const address& remote,
                      const peer_id& proven, bool dialled)
      = 0;
  /// A stranger's large frame has begun: whether there is room for it; or it is
  /// whole.
  virtual bool large_frame(connection_id id, std::size_t bytes) = 0;
  virtual void large_frame_over(connection_id id) = 0;
  /// Destroys the connection: nothing of it may be touched afterwards.
  virtual void ended(connection_id id, std::string reason) = 0;
};

class connection final : public framed_socket::listener {
public:
  connection(connection_id id, connection_hub& hub);

  /// Only one of these three, once. Each may end the connection before it
  /// returns.
  /// @param expected Whom to ask for; empty: nobody in particular.
  void dial(const address& where, const peer_id& expected, shared_face from);
  void accept(tcp_socket socket, const address& remote);
  /// @param from See `puncher`.
  /// @param came The other side's connection, when it was here first; or null.
  void punch(const sockaddr_storage& at, const address& from, bool begins,
             tcp_socket came, shared_face as);

  /// The other side has come to where we listen. Dropped if it is punched
  /// already.
  void met(tcp_socket socket);
  /// Has come in, and from there.
  bool came_from(const address& remote) const {
    return !dialled_ && remote_ == remote;
  }
  /// Gives up the socket of one that came in, if it has not said anything yet;
  /// else null. Only the destructor may follow.
  tcp_socket take_back();

  /// Came in and has proven nothing yet.
  bool unproven() const {
    return !dialled_ && !announced_;
  }
  const address& remote() const {
    return remote_;
  }
  /// Connected, and limits on strangers are for it.
  bool is_stranger() const {
    return socket_ && !socket_->trusted();
  }
  framed_socket::unread_bytes unread() const {
    return socket_->unread();
  }

  /// Whose it is; null while nobody knows.
  const shared_face& face() const {
    return face_;
  }
  void belongs_to(shared_face x) {
    face_ = std::move(x);
  }

  /// Queues a frame; `flush` writes. May end the connection.
  void enqueue(outgoing_frame frame);
  void flush();

  /// Sends what is queued, at most so long, then ends the connection.
  void close(std::chrono::milliseconds linger);

  /// Null while it is being dialled.
  framed_socket* socket() {
    return socket_.get();
  }

private:
  enum class state { connecting, shaking, open, draining };

  void on_open(const peer_id& proven) override;
  void on_frame(incoming_frame frame) override;
  bool on_large(std::size_t bytes) override {
    return hub_.large_frame(id_, bytes);
  }
  void on_large_over() override {
    hub_.large_frame_over(id_);
  }
  void on_wrong(const std::string& reason) override;
  void on_end(const std::string& reason) override;

  dialer::answer beginning();
  void begin(tcp_socket socket, const address& remote);
  std::unique_ptr<tls_channel> make_channel() const;
  void drain(std::chrono::milliseconds linger, std::string reason);
  std::string explained(std::string reason) const;
  void end(std::string reason);

  const connection_id id_;
  connection_hub& hub_;
  state state_ = state::connecting;
  std::unique_ptr<dialer> dialer_;
  std::unique_ptr<puncher> puncher_;
  std::unique_ptr<frame_queue> early_; ///< What is sent before the socket is.
  std::unique_ptr<framed_socket> socket_;
  std::optional<timer> deadline_; ///< Of the handshake, then of draining.
  address remote_;
  shared_face face_;
  peer_id expected_;
  bool dialled_ = false;    ///< Or punched.
  bool begins_ = false;     ///< The encryption.
  bool announced_ = false;  ///< To the hub, as open.
  std::string last_reason_; ///< Of the end, once draining.
};

/// The socket's other end; nothing when it is gone already.
std::optional<address> remote_of(const tcp_handle& socket);

} // namespace potluck
