#include "tools/lab/network/fault_relay.hpp"

namespace potluck {

namespace {

/// Bytes on their way in one direction before the sender is no longer read:
/// what a long, fast line holds.
constexpr std::size_t most_on_the_way = std::size_t{1} << 20;

/// Closes with a reset, so that the other side hears at once that nothing will
/// come; with a plain close where the system does not allow that.
void reset(tcp_socket& socket) {
  if (!socket)
    return;
  auto* handle = socket.release();
  handle->owner = nullptr;
  auto freed = [](uv_handle_t* x) { delete static_cast<tcp_handle*>(x->data); };
  if (uv_tcp_close_reset(&handle->tcp, freed) != 0)
    uv_close(reinterpret_cast<uv_handle_t*>(&handle->tcp), freed);
}

} // namespace

relay::relay(relay_network& network, tcp_socket near, std::size_t dialler,
             std::size_t dialled, const sockaddr_storage& source,
             const sockaddr_storage& target)
    : network_(network), near_(std::move(near)), dialler_(dialler),
      dialled_(dialled), source_(source), target_(target) {
  near_->owner = this;
  uv_tcp_nodelay(&near_->tcp, 1);
}

relay::~relay() {
  // A write under way refers to its bytes until the socket is closed.
  for (auto* x : {&out_, &in_})
    if (!x->writing.empty())
      x->to->unsent
          = std::make_shared<std::vector<std::uint8_t>>(std::move(x->writing));
  // A reset would discard what the other side has not read yet.
  if (!broken_ && out_.passed_on && in_.passed_on)
    return;
  reset(near_);
  reset(far_);
}

// ---- the dial --------------------------------------------------------------

void relay::connect() {
  far_ = make_tcp_socket(network_.loop(), this);
  uv_tcp_bind(&far_->tcp, reinterpret_cast<const sockaddr*>(&source_), 0);
  auto error = uv_tcp_connect(
      made(far_->connecting), &far_->tcp,
      reinterpret_cast<const sockaddr*>(&target_),
      [](uv_connect_t* x, int status) {
        auto* socket = static_cast<tcp_handle*>(x->handle->data);
        if (socket->owner != nullptr)
          static_cast<relay*>(socket->owner)->connected(status);
      });
  if (error != 0)
    broken_ = true;
}

void relay::connected(int status) {
  if (status != 0) {
    broken_ = true;
    return;
  }
  uv_tcp_nodelay(&far_->tcp, 1);
  out_.from = in_.to = near_.get();
  out_.to = in_.from = far_.get();
  out_.sender = in_.receiver = dialler_;
  out_.receiver = in_.sender = dialled_;
  out_.owner = in_.owner = this;
  open_ = true;
  read_more(out_);
  read_more(in_);
}

// ---- in --------------------------------------------------------------------

void relay::read_more(lane& x) {
  if (x.reading || x.end != ending::none || x.bytes >= most_on_the_way)
    return;
  x.reading = true;
  auto error = uv_read_start(
      x.from->stream(),
      [](uv_handle_t* handle, std::size_t, uv_buf_t* into) {
        auto* socket = static_cast<tcp_handle*>(handle->data);
        auto& room = static_cast<relay*>(socket->owner)->network_.staging();
        *into = uv_buf_init(room.data(), static_cast<unsigned>(room.size()));
      },
      [](uv_stream_t* stream, ssize_t size, const uv_buf_t* from) {
        auto* socket = static_cast<tcp_handle*>(stream->data);
        if (socket->owner == nullptr || size == 0)
          return;
        auto* self = static_cast<relay*>(socket->owner);
        self->arrived(self->lane_from(socket), size, from->base);
      });
  if (error != 0)
    x.end = ending::reset;
}

void relay::arrived(lane& x, ssize_t size, const char* data) {
  piece next;
  if (size < 0)
    x.end = size == UV_EOF ? ending::closed : ending::reset;
  else
    next.bytes.assign(data, data + size);
  next.due = network_.send(x.sender, x.receiver, next.bytes, x.flow);
  x.bytes += next.bytes.size();
  x.pieces.push_back(std::move(next));
  if (x.end != ending::none || x.bytes >= most_on_the_way) {
    uv_read_stop(x.from->stream());
    x.reading = false;
  }
  hand_over(x);
}

// ---- out -------------------------------------------------------------------

bool relay::pump() {
  if (broken_)
    return false;
  if (!far_ && !network_.held(dialler_, dialled_))
    connect();
  if (!open_)
    return !broken_;
  hand_over(out_);
  hand_over(in_);
  return !broken_ && !(out_.passed_on && in_.passed_on);
}

bool relay::is_due(lane& x, piece& first) {
  const auto now = network_.now();
  if (first.due <= now && !first.down) {
    first.down = true;
    first.due = network_.come_down(first.due, x.sender, x.receiver,
                                   first.bytes.size(), x.flow);
  }
  return first.due <= now;
}

void relay::hand_over(lane& x) {
  if (broken_ || x.passed_on || !x.writing.empty()
      || network_.held(x.sender, x.receiver))
    return;
  std::vector<std::uint8_t> due;
  while (!x.pieces.empty() && !x.pieces.front().bytes.empty()
         && is_due(x, x.pieces.front())) {
    const auto bytes = std::move(x.pieces.front().bytes);
    x.bytes -= bytes.size();
    due.insert(due.end(), bytes.begin(), bytes.end());
    x.pieces.pop_front();
  }
  if (!due.empty())
    write(x, std::move(due));
  else if (!x.pieces.empty() && x.pieces.front().bytes.empty()
           && is_due(x, x.pieces.front())) {
    x.passed_on = true;
    if (x.end == ending::reset)
      broken_ = true;
    else
      uv_shutdown(made(x.to->ending), x.to->stream(),
                  [](uv_shutdown_t*, int) {});
  }
  if (2 * x.bytes < most_on_the_way)
    read_more(x);
}

void relay::write(lane& x, std::vector<std::uint8_t> bytes) {
  x.writing = std::move(bytes);
  auto buffer = uv_buf_init(reinterpret_cast<char*>(x.writing.data()),
                            static_cast<unsigned>(x.writing.size()));
  auto error = uv_write(made(x.to->writing), x.to->stream(), &buffer, 1,
                        [](uv_write_t* request, int status) {
                          auto* socket
                              = static_cast<tcp_handle*>(request->handle->data);
                          if (socket->owner == nullptr)
                            return;
                          auto* self = static_cast<relay*>(socket->owner);
                          auto& written = self->lane_to(socket);
                          written.writing.clear();
                          if (status != 0)
                            self->broken_ = true;
                          else
                            self->hand_over(written);
                        });
  if (error != 0) {
    x.writing.clear();
    broken_ = true;
  }
}

} // namespace potluck
