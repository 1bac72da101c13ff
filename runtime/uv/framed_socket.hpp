/// Frames over one TCP socket: out of a queue, in with credit, and, unless
/// insecure, encrypted in between. Lives on the loop's thread.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "runtime/uv/incoming_stream.hpp"
#include "runtime/uv/line_meter.hpp"
#include "runtime/uv/socket_reader.hpp"
#include "runtime/uv/socket_writer.hpp"

namespace potluck {

/// What the sockets of one transport share.
struct socket_context {
  /// @param mine Null: nothing is encrypted.
  /// @param turn Called when a connection may write on: see `upload_gate`.
  /// @param read_turn Likewise, and read on.
  socket_context(uv_loop_t* loop, const key_pair* mine, double max_upload,
                 double max_download,
                 const std::function<void(connection_id)>& turn,
                 const std::function<void(connection_id)>& read_turn,
                 std::function<upload_gate::bytes_of_each()> under_way);

  std::shared_ptr<tls_context> tls; ///< Null: nothing is encrypted.
  upload_gate uploads;
  rate_gate downloads;
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  /// For one read at a time of all: it is cut into frames before the next one
  /// begins. And for one record.
  const std::unique_ptr<std::uint8_t[]> staging, decrypted;
};

class framed_socket final : incoming_stream::listener,
                            socket_reader::listener,
                            socket_writer::listener {
public:
  /// Whom it tells.
  class listener {
  public:
    virtual ~listener() = default;
    /// Frames may come and go.
    /// @param proven Who is at the other end; empty when insecure.
    virtual void on_open(const peer_id& proven) = 0;
    virtual void on_frame(incoming_frame frame) = 0;
    /// A stranger's frame of so many bytes has begun. Whether there is room for
    /// it; else it is not read until `has_room`. `on_large_over` follows when
    /// it is whole.
    virtual bool on_large(std::size_t bytes) = 0;
    virtual void on_large_over() = 0;
    /// Something is wrong with the other side, which is being told: a moment
    /// for these last words, then the end.
    virtual void on_wrong(const std::string& reason) = 0;
    /// It is over. Destroys the socket.
    virtual void on_end(const std::string& reason) = 0;
  };

  /// @param socket Connected.
  /// @param tls Null: nothing is encrypted.
  /// @param waiting What is to be sent, in time.
  /// @param shared Must outlive this, as the listener.
  framed_socket(connection_id id, socket_context& shared, tcp_socket socket,
                std::unique_ptr<tls_channel> tls, frame_queue waiting,
                std::shared_ptr<read_credit> credit, listener& to);
  ~framed_socket() override;

  /// Begins; may end before it returns, as may all that is not const.
  void start();

  /// Nothing has come yet.
  bool silent() const {
    return silent_;
  }
  /// Gives up the socket of an acceptor that is silent, for somebody else to
  /// use. Only the destructor may follow.
  tcp_socket take_back();
  /// Whose certificate was shown to the other side; null when insecure.
  const ssl_ctx_st* shows() const {
    return tls_ ? tls_->shows() : nullptr;
  }

  /// See `frame_queue::push`. `flush` sends it.
  std::size_t push(outgoing_frame frame) {
    const auto too_much = out_->push(std::move(frame));
    look_at_unread();
    return too_much;
  }
  void flush() {
    writer_.flush();
  }

  /// Limits on strangers are not for the other side, from here on.
  void trust();
  bool trusted() const {
    return trusted_;
  }
  /// Bytes that have come of the frame in progress.
  std::size_t come() const {
    return in_.come();
  }
  /// The frame that was announced by `on_large` may come.
  void has_room();
  /// Nothing is read from here on, or again.
  void hold(bool yes) {
    hold(reason::asked, yes);
  }
  /// Memory that waits to be sent: this connection's own, and with it bodies,
  /// which others may hold as well.
  struct unread_bytes {
    std::size_t own, all;
  };
  unread_bytes unread() const {
    const auto own = out_->own_bytes();
    return {own, own + out_->body_bytes()};
  }

  /// Sends what is queued, says goodbye, and drops what still comes until the
  /// other side ends it.
  void finish();

  /// When credit has come back.
  void resume() {
    reader_.resume();
  }
  /// When the cap on downloads lets it read on.
  void read_on() {
    reader_.read_on();
  }

  /// What passed since the last look, `interval` ago, if anything did.
  std::optional<connection_traffic> look(duration interval) {
    return meter_.look(id_, *socket_, interval, out_->waiting());
  }
  /// Bytes that were written and are not acknowledged.
  std::size_t under_way() const {
    return writer_.in_flight() + line_meter::under_way(*socket_);
  }
  duration least_round_trip() const {
    return meter_.least_round_trip();
  }
  /// Its windows are ours now: the system's should not be smaller.
  void mind_our_windows() const;

private:
  void on_proven(const peer_id& who) override;
  void on_whole(frame_reader::frame frame) override;
  frame_reader::window room() override;
  bool on_bytes(const std::uint8_t* data, std::size_t size) override;
  void on_taken() override;
  void on_read_end(int error) override;
  void on_sent(std::size_t bytes) override;
  void on_prepared() override;
  void on_all_sent() override;
  void on_write_failed(int error) override;

  /// Why nothing is read.
  enum class reason : unsigned { room = 1, unread = 2, asked = 4 };
  void hold(reason why, bool yes);
  bool proves_nothing(std::size_t bytes);
  void look_at_frame();
  void look_at_unread();
  void tell_failure(const std::string& reason);
  void turn_away(const std::string& reason);
  void shut_down();

  const connection_id id_;
  socket_context& shared_;
  listener& to_;
  tcp_socket socket_;
  const std::unique_ptr<tls_channel> tls_; ///< Null when insecure.
  const std::shared_ptr<read_credit> credit_;
  const std::shared_ptr<outgoing_stream> out_;
  incoming_stream in_;
  socket_writer writer_;
  socket_reader reader_;
  line_meter meter_;
  bool silent_ = true;
  bool trusted_ = false;
  bool large_ = false;          ///< A frame of which the listener was told.
  unsigned held_ = 0;           ///< Reasons.
  std::size_t early_bytes_ = 0; ///< Before anything was proven.
  bool proven_ = false;
  bool shut_down_ = false;
};

} // namespace potluck
