/// Reads one socket, as fast as the consumers of what was read and the cap
/// allow. Lives on the loop's thread.
#pragma once

#include <memory>

#include "runtime/ports/transport.hpp"
#include "runtime/uv/frame_reader.hpp"
#include "runtime/uv/handles.hpp"
#include "runtime/uv/rate_gate.hpp"
#include "runtime/uv/read_credit.hpp"

namespace potluck {

class socket_reader {
public:
  /// Whom it asks and tells.
  class listener {
  public:
    virtual ~listener() = default;
    /// Where the next bytes belong.
    virtual frame_reader::window room() = 0;
    /// They are there. False when the connection has ended, and the reader with
    /// it, or what follows is only to be drained.
    virtual bool on_bytes(const std::uint8_t* data, std::size_t size) = 0;
    /// Time for an answer. May destroy the reader.
    virtual void on_taken() = 0;
    /// Nothing will follow: libuv's error, or its UV_EOF. Likewise.
    virtual void on_read_end(int error) = 0;
  };

  /// All but `credit` must outlive this.
  /// @param credit That the consumers hold.
  socket_reader(tcp_handle& socket, connection_id id, rate_gate& cap,
                std::shared_ptr<read_credit> credit, listener& to);
  /// What the cap allowed and was not read is others' again.
  ~socket_reader();
  socket_reader(const socket_reader&) = delete;
  socket_reader& operator=(const socket_reader&) = delete;

  /// Begins, or goes on when the cap allows it again.
  void read_on();
  /// Goes on when credit has come back.
  void resume();
  /// Nothing is read from here on, or it is again, whatever else allows it.
  void hold(bool yes);
  /// All is read from here on, however little is wanted: a socket that is
  /// closed with unread bytes resets the connection, and the other side would
  /// lose our last words.
  void drain();

private:
  uv_buf_t buffer();
  void read(ssize_t size, const uv_buf_t& into);
  void give_back();

  tcp_handle& socket_;
  const connection_id id_;
  rate_gate& cap_;
  const std::shared_ptr<read_credit> credit_;
  listener& to_;
  bool paused_ = false; ///< Until credit comes back.
  bool held_ = false;
  bool draining_ = false;
  std::size_t allowed_ = 0; ///< Bytes that may be read.
};

} // namespace potluck
