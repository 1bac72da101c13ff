#include "runtime/uv/socket_reader.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

socket_reader* owner_of(void* data) {
  return static_cast<socket_reader*>(static_cast<tcp_handle*>(data)->owner);
}

} // namespace

socket_reader::socket_reader(tcp_handle& socket, connection_id id,
                             rate_gate& cap,
                             std::shared_ptr<read_credit> credit, listener& to)
    : socket_(socket), id_(id), cap_(cap), credit_(std::move(credit)), to_(to) {
  socket_.owner = this;
}

socket_reader::~socket_reader() {
  give_back();
}

void socket_reader::give_back() {
  cap_.give_back(std::exchange(allowed_, 0));
}

void socket_reader::read_on() {
  if (paused_ || held_)
    return;
  if (allowed_ == 0 && !draining_) {
    allowed_ = cap_.take(id_, cap_.portion());
    if (allowed_ == 0) { // Until our turn.
      uv_read_stop(socket_.stream());
      return;
    }
  }
  // Does nothing where reading goes on.
  uv_read_start(
      socket_.stream(),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* into) {
        auto* self = owner_of(handle->data);
        *into = self != nullptr ? self->buffer() : uv_buf_init(nullptr, 0);
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t* into) {
        if (auto* self = owner_of(stream->data))
          self->read(size, *into);
      });
}

uv_buf_t socket_reader::buffer() {
  auto room = to_.room();
  if (!draining_)
    room.size = std::min(room.size, allowed_);
  return uv_buf_init(reinterpret_cast<char*>(room.data),
                     static_cast<unsigned>(room.size));
}

void socket_reader::read(ssize_t size, const uv_buf_t& into) {
  if (size == 0) // Nothing to read after all.
    return;
  if (size < 0)
    return to_.on_read_end(static_cast<int>(size));
  const auto bytes = static_cast<std::size_t>(size);
  if (!draining_)
    allowed_ -= bytes;
  if (!to_.on_bytes(reinterpret_cast<std::uint8_t*>(into.base), bytes))
    return;
  if (!credit_->exhausted() || paused_) {
    if (allowed_ == 0)
      read_on();
  } else {
    uv_read_stop(socket_.stream());
    paused_ = true;
    if (!credit_->pause())
      resume();
  }
  to_.on_taken(); // Last, for it may end the connection.
}

void socket_reader::resume() {
  if (std::exchange(paused_, false))
    read_on();
}

void socket_reader::hold(bool yes) {
  if (held_ == yes || draining_)
    return;
  held_ = yes;
  if (held_)
    uv_read_stop(socket_.stream());
  else
    read_on();
}

void socket_reader::drain() {
  draining_ = true;
  give_back();
  paused_ = held_ = false;
  read_on();
}

} // namespace potluck
