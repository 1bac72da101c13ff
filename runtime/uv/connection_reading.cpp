/// What a connection does with bytes that come in.

#include <algorithm>
#include <utility>

#include "runtime/uv/connection.hpp"

namespace potluck {

namespace {

/// When bodies are read directly, what precedes them is read in small portions,
/// so that little of the body has to be copied.
constexpr std::size_t bulky_staging_bytes = 4 * 1024;

/// What a frame costs beyond its bytes, so that tiny ones count, too.
constexpr std::size_t frame_overhead_bytes = 256;

constexpr const char* damaged = "corrupt frame: bits changed on the way";
constexpr const char* no_frame
    = "the other side sent what is no frame; it may be another program, or a "
      "newer version";

std::string broken(int error) {
  return std::string{"the connection broke: "} + uv_strerror(error);
}

connection* owner_of(void* data) {
  return static_cast<connection*>(static_cast<tcp_handle*>(data)->owner);
}

/// Keeps a body, and the credit that it has taken, until nobody needs it.
struct held_frame {
  held_frame(aligned_buffer body, std::size_t bytes,
             std::shared_ptr<read_credit> credit)
      : body(std::move(body)), bytes(bytes), credit(std::move(credit)) {
    this->credit->take(bytes);
  }
  ~held_frame() {
    body.reset(); // First, for the credit stands for its memory.
    credit->give_back(bytes);
  }
  held_frame(const held_frame&) = delete;
  held_frame& operator=(const held_frame&) = delete;

  aligned_buffer body;
  std::size_t bytes;
  std::shared_ptr<read_credit> credit;
};

} // namespace

void connection::read_on() {
  if (paused_)
    return;
  if (allowed_ == 0 && state_ != state::draining) {
    auto& cap = hub_.downloads();
    allowed_ = cap.take(hub_.loop(), id_, cap.portion());
    if (allowed_ == 0) { // Until our turn.
      uv_read_stop(socket_->stream());
      return;
    }
  }
  // Does nothing where reading goes on.
  uv_read_start(
      socket_->stream(),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
        auto* self = owner_of(handle->data);
        *buffer
            = self != nullptr ? self->read_buffer() : uv_buf_init(nullptr, 0);
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
        if (auto* self = owner_of(stream->data))
          self->read(size, *buffer);
      });
}

uv_buf_t connection::read_buffer() {
  auto room = tls_ ? frame_reader::window{} : reader_.direct();
  if (room.size == 0 || state_ == state::draining) {
    room.data = hub_.staging();
    room.size = tls_              ? encrypted_staging_bytes
                : reader_.bulky() ? bulky_staging_bytes
                                  : staging_bytes;
  }
  if (state_ != state::draining)
    room.size = std::min(room.size, allowed_);
  return uv_buf_init(reinterpret_cast<char*>(room.data),
                     static_cast<unsigned>(room.size));
}

void connection::read(ssize_t size, const uv_buf_t& into) {
  if (size == 0) // Nothing to read after all.
    return;
  if (size < 0) {
    if (state_ == state::draining)
      return end(last_reason_);
    if (size != UV_EOF)
      return end(broken(static_cast<int>(size)));
    if (state_ == state::shaking)
      return end("the other side closed the connection before it had proven "
                 "who it is");
    return end(tls_ ? "the other side ended, or the line was cut, without a "
                      "goodbye"
               : reader_.between_frames()
                   ? "the other side closed the connection"
                   : "the other side closed the connection within a frame");
  }
  auto bytes = static_cast<std::size_t>(size);
  hub_.count_received(bytes);
  meter_.received(bytes);
  if (state_ == state::draining)
    return;
  allowed_ -= bytes;
  auto* data = reinterpret_cast<std::uint8_t*>(into.base);
  if (!(tls_ ? take_encrypted(data, bytes) : take_plain(data, bytes)))
    return; // It has ended, or is about to.
  if (tls_ && overfull())
    return end("the other side asks for new keys and takes none");
  if (!credit_->exhausted() || paused_) {
    if (allowed_ == 0)
      read_on();
  } else {
    uv_read_stop(socket_->stream());
    paused_ = true;
    if (!credit_->pause())
      resume();
  }
  if (tls_ && (!queue_.empty() || tls_->output_size() > 0))
    flush(); // Last, for it may end the connection.
}

/// False when the connection has ended.
bool connection::take_plain(const std::uint8_t* data, std::size_t size) {
  if (!std::exchange(heard_, true)
      && recognize(data, size) == first_words::tls) {
    turn_away("the other side encrypts, but this one was started with "
              "--insecure: start both with it, or neither");
    return false;
  }
  return data == hub_.staging() ? cut(data, size) : filled(size);
}

/// False when the connection has ended or drains.
bool connection::take_encrypted(const std::uint8_t* data, std::size_t size) {
  if (!std::exchange(heard_, true)) {
    auto words = recognize(data, size);
    if (words != first_words::tls) {
      turn_away(words == first_words::frame
                    ? "the other side does not encrypt: it was started with "
                      "--insecure, or is an older potluck; start both alike"
                    : "the other side does not speak TLS 1.3; it is another "
                      "program");
      return false;
    }
  }
  tls_->feed(data, size);
  if (state_ == state::shaking) {
    switch (tls_->shake()) {
      case tls_channel::verdict::more:
        return true;
      case tls_channel::verdict::done:
        announce(tls_->peer());
        break;
      default:
        give_up(tls_->failure());
        return false;
    }
  }
  return decrypt();
}

/// Takes frames from all that was fed. False when the connection has ended or
/// drains.
bool connection::decrypt() {
  for (;;) {
    auto room = reader_.direct();
    const bool direct = room.size > 0;
    if (!direct)
      room = {hub_.decrypted(), record_bytes};
    auto got = tls_->read(room.data, room.size);
    switch (got.what) {
      case tls_channel::verdict::done:
        if (!(direct ? filled(got.size) : cut(room.data, got.size)))
          return false;
        break;
      case tls_channel::verdict::more:
        return true;
      case tls_channel::verdict::closed:
        end(reader_.between_frames()
                ? "the other side closed the connection"
                : "the other side closed the connection within a frame");
        return false;
      case tls_channel::verdict::failed:
        give_up(tls_->failure());
        return false;
    }
  }
}

/// So much was read into the body in progress. False when the connection has
/// ended.
bool connection::filled(std::size_t size) {
  if (!reader_.filled(size)) {
    end(damaged);
    return false;
  }
  if (reader_.complete())
    deliver();
  return true;
}

/// Likewise.
bool connection::cut(const std::uint8_t* data, std::size_t size) {
  while (size > 0) {
    auto taken = reader_.feed(data, size);
    if (!taken) {
      end(reader_.corrupt() ? damaged : no_frame);
      return false;
    }
    if (reader_.complete())
      deliver();
    data += *taken;
    size -= *taken;
  }
  return true;
}

void connection::deliver() {
  auto frame = reader_.take();
  auto* body = frame.body.get();
  auto bytes = frame.head.size() + frame.body_size + frame_overhead_bytes;
  auto owner
      = std::make_shared<held_frame>(std::move(frame.body), bytes, credit_);
  hub_.received(id_,
                {std::move(frame.head),
                 {std::move(owner), body, frame.body_size, frame.body_sum}});
}

void connection::resume() {
  if (!std::exchange(paused_, false))
    return;
  read_on();
}

void connection::take_turn() {
  const bool reading = state_ == state::open || state_ == state::shaking;
  if (reading && allowed_ == 0)
    read_on();
}

} // namespace potluck
