#include "runtime/uv/connection.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

/// What one write holds: enough that its call-back costs nothing, little enough
/// that the owners of sent bodies are released early.
constexpr std::size_t batch_bytes = 1024 * 1024;
constexpr std::size_t batch_frames = 128;
/// Batches up to this size are tried at once: the kernel has room for them as a
/// rule, and then no call-back is needed.
constexpr std::size_t small_batch_bytes = 64 * 1024;

/// When bodies are read directly, what precedes them is read in small portions,
/// so that little of the body has to be copied.
constexpr std::size_t bulky_staging_bytes = 4 * 1024;

/// What a frame costs beyond its bytes, so that tiny ones count, too.
constexpr std::size_t frame_overhead_bytes = 256;

constexpr const char* closed_here = "closed here";
constexpr const char* damaged = "corrupt frame: bits changed on the way";

std::string broken(int error) {
  return std::string{"the connection broke: "} + uv_strerror(error);
}

connection* owner_of(uv_handle_t* handle) {
  return static_cast<connection*>(
      static_cast<tcp_handle*>(handle->data)->owner);
}

connection* owner_of(uv_stream_t* stream) {
  return owner_of(reinterpret_cast<uv_handle_t*>(stream));
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

std::optional<address> remote_of(const tcp_handle& socket) {
  sockaddr_storage x{};
  int size = sizeof(x);
  if (uv_tcp_getpeername(&socket.tcp, reinterpret_cast<sockaddr*>(&x), &size)
      != 0)
    return std::nullopt;
  return to_address(x);
}

connection::connection(connection_id id, connection_hub& hub)
    : id_(id), hub_(hub), credit_(std::make_shared<read_credit>(
                              hub.options().high_mark_bytes, hub.resumer(id))) {
}

connection::~connection() {
  // A write under way refers to the queue until the socket is closed.
  if (socket_)
    socket_->unsent = std::move(queue_);
}

void connection::dial(const address& where) {
  dialer_ = std::make_unique<dialer>(
      hub_.loop(), where, hub_.options().dial_timeout,
      [this](tcp_socket socket, const std::string& failure) {
        if (!socket)
          return end(failure);
        auto remote = remote_of(*socket);
        if (!remote)
          return end("the other side closed the connection");
        hub_.connected(id_, *remote);
        open(std::move(socket));
      },
      hub_.options().dial_from);
  dialer_->start();
}

void connection::open(tcp_socket socket) {
  socket_ = std::move(socket);
  socket_->owner = this;
  state_ = state::open;
  dialer_.reset();
  uv_tcp_nodelay(&socket_->tcp, 1);
  read_on();
  flush();
}

// ---- writing
// -----------------------------------------------------------------

void connection::enqueue(outgoing_frame frame) {
  if (state_ == state::draining)
    return;
  auto announced = preamble_for(frame.head.data(), frame.head.size(),
                                frame.body.data, frame.body.size);
  queue_.push_back({write_preamble(announced), std::move(frame)});
  queued_bytes_ += queue_.back().size();
  if (queued_bytes_ > hub_.options().max_queued_bytes)
    end("the other side stopped reading: " + std::to_string(queued_bytes_ >> 20)
        + " MiB were waiting for it");
}

std::size_t connection::gather(std::size_t most) {
  buffers_.clear();
  std::size_t bytes = 0;
  auto skip = front_sent_;
  // uv_buf_t is not const-correct; writing only reads.
  auto append = [&](const std::uint8_t* data, std::size_t size) {
    auto past = std::min(skip, size);
    skip -= past;
    size = std::min(size - past, most - bytes);
    if (size == 0)
      return;
    buffers_.push_back(uv_buf_init(
        reinterpret_cast<char*>(const_cast<std::uint8_t*>(data + past)),
        static_cast<unsigned>(size)));
    bytes += size;
  };
  std::size_t frames = 0;
  for (const auto& x : queue_) {
    if (frames++ == batch_frames || bytes == most)
      break;
    append(x.preamble.data(), x.preamble.size());
    append(x.frame.head.data(), x.frame.head.size());
    append(x.frame.body.data, x.frame.body.size);
  }
  return bytes;
}

void connection::flush() {
  // One write at a time keeps order simple, and lets small frames gather
  // meanwhile. The kernel's buffer covers the gap between two.
  if (state_ == state::connecting || in_flight_ > 0)
    return;
  while (!queue_.empty()) {
    // A large frame is one write, unless a cap cuts it.
    auto wanted = std::max(batch_bytes, queue_.front().size() - front_sent_);
    auto may = hub_.uploads().take(hub_.loop(), id_,
                                   std::min(wanted, queued_bytes_));
    if (may == 0)
      return; // Until our turn.
    auto bytes = gather(may);
    hub_.uploads().give_back(may - bytes);
    std::size_t sent = 0;
    if (bytes <= small_batch_bytes) {
      auto result = uv_try_write(socket_->stream(), buffers_.data(),
                                 static_cast<unsigned>(buffers_.size()));
      if (result < 0 && result != UV_EAGAIN)
        return end(broken(result));
      sent = result > 0 ? static_cast<std::size_t>(result) : 0;
      if (sent == bytes) {
        release(bytes);
        continue;
      }
    }
    // What is left of a batch of which the kernel took the beginning.
    auto first = buffers_.begin();
    in_flight_ = bytes;
    for (; sent >= first->len; ++first)
      sent -= first->len;
    first->base += sent;
    first->len -= sent;
    auto result = uv_write(&socket_->writing, socket_->stream(), &*first,
                           static_cast<unsigned>(buffers_.end() - first),
                           [](uv_write_t* x, int status) {
                             if (auto* self = owner_of(x->handle))
                               self->written(status);
                           });
    if (result != 0)
      return end(broken(result));
    return;
  }
  if (state_ == state::draining)
    shut_down();
}

void connection::written(int status) {
  if (status != 0)
    return end(broken(status));
  release(std::exchange(in_flight_, 0));
  flush();
}

void connection::release(std::size_t bytes) {
  hub_.count_sent(bytes);
  queued_bytes_ -= bytes;
  front_sent_ += bytes;
  while (!queue_.empty() && front_sent_ >= queue_.front().size()) {
    front_sent_ -= queue_.front().size();
    queue_.pop_front();
  }
  meter_.sent(bytes, queued_bytes_);
}

std::optional<connection_traffic> connection::look(duration interval) {
  if (!socket_)
    return std::nullopt;
  return meter_.look(id_, *socket_, interval, queued_bytes_);
}

// ---- reading
// -----------------------------------------------------------------

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
        auto* self = owner_of(handle);
        *buffer
            = self != nullptr ? self->read_buffer() : uv_buf_init(nullptr, 0);
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
        if (auto* self = owner_of(stream))
          self->read(size, *buffer);
      });
}

uv_buf_t connection::read_buffer() {
  auto room = reader_.direct();
  if (room.size == 0 || state_ == state::draining) {
    room.data = hub_.staging();
    room.size = reader_.bulky() ? bulky_staging_bytes : staging_bytes;
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
      return end(closed_here);
    if (size != UV_EOF)
      return end(broken(static_cast<int>(size)));
    return end(reader_.between_frames()
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
  if (data == hub_.staging()) {
    if (!cut(data, bytes))
      return end(
          reader_.corrupt()
              ? damaged
              : "the other side sent what is no frame; it may be another "
                "program, or a newer version");
  } else {
    if (!reader_.filled(bytes))
      return end(damaged);
    if (reader_.complete())
      deliver();
  }
  if (!credit_->exhausted() || paused_) {
    if (allowed_ == 0)
      read_on();
    return;
  }
  uv_read_stop(socket_->stream());
  paused_ = true;
  if (!credit_->pause())
    resume();
}

bool connection::cut(const std::uint8_t* data, std::size_t size) {
  while (size > 0) {
    auto taken = reader_.feed(data, size);
    if (!taken)
      return false;
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
  hub_.received(
      id_, {std::move(frame.head), {std::move(owner), body, frame.body_size}});
}

void connection::resume() {
  if (!std::exchange(paused_, false))
    return;
  read_on();
}

void connection::take_turn() {
  if (state_ == state::open && allowed_ == 0)
    read_on();
}

// ---- the end
// -----------------------------------------------------------------

void connection::close(std::chrono::milliseconds linger) {
  if (state_ == state::connecting || linger.count() == 0)
    return end(closed_here);
  if (state_ == state::draining)
    return;
  state_ = state::draining;
  linger_.emplace(hub_.loop(), linger, [this] { end(closed_here); });
  // What still comes is read and dropped: a socket that is closed with unread
  // bytes resets the connection, and the other side would lose our last words.
  paused_ = false;
  read_on();
  flush();
}

void connection::shut_down() {
  uv_shutdown(&socket_->ending, socket_->stream(),
              [](uv_shutdown_t* x, int status) {
                auto* self = owner_of(x->handle);
                if (self != nullptr && status != 0)
                  self->end(closed_here);
              });
  // From here on we wait for the other side's end, or for the linger timer.
}

void connection::end(std::string reason) {
  hub_.ended(id_, std::move(reason));
}

} // namespace potluck
