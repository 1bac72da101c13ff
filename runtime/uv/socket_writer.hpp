/// Writes to one socket what an `outgoing_stream` has, as fast as its turns and
/// the cap allow. Lives on the loop's thread.
///
/// One write at a time keeps order simple, and lets small frames gather
/// meanwhile. The kernel's buffer covers the gap between two.
#pragma once

#include <memory>

#include "runtime/uv/handles.hpp"
#include "runtime/uv/outgoing_stream.hpp"
#include "runtime/uv/upload_gate.hpp"

namespace potluck {

class socket_writer {
public:
  /// Whom it tells.
  class listener {
  public:
    virtual ~listener() = default;
    /// The kernel has so many bytes more.
    virtual void on_sent(std::size_t bytes) = 0;
    /// The next batch, if there is one, is made and not written yet: what waits
    /// has become less.
    virtual void on_prepared() = 0;
    /// Nothing is left to write for now. May destroy the writer.
    virtual void on_all_sent() = 0;
    /// libuv's error. May destroy the writer.
    virtual void on_write_failed(int error) = 0;
  };

  /// All but `from` must outlive this.
  socket_writer(tcp_handle& socket, connection_id id, upload_gate& gate,
                std::shared_ptr<outgoing_stream> from, listener& to);
  /// What a write under way refers to stays until the socket is closed.
  ~socket_writer();
  socket_writer(const socket_writer&) = delete;
  socket_writer& operator=(const socket_writer&) = delete;

  /// Writes what there is. May destroy the writer, by its listener.
  void flush();

  /// Bytes of the write under way; 0: none.
  std::size_t in_flight() const {
    return in_flight_;
  }

private:
  enum class progress { done, goes_on, failed };

  progress put(std::size_t bytes);
  void written(int status);
  void sent(std::size_t bytes);

  tcp_handle& socket_;
  const connection_id id_;
  upload_gate& gate_;
  const std::shared_ptr<outgoing_stream> from_;
  listener& to_;
  std::size_t in_flight_ = 0;
};

} // namespace potluck
