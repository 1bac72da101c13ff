#include "runtime/uv/connection.hpp"

#include <utility>

#include "runtime/config.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

constexpr const char* closed_here = "closed here";

std::shared_ptr<read_credit> credit_of(connection_hub& hub, connection_id id) {
  const auto high = hub.options().high_mark_bytes;
  const auto low = limits::read_on_share * static_cast<double>(high);
  return std::make_shared<read_credit>(high, static_cast<std::size_t>(low),
                                       hub.resumer(id));
}

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
    : id_(id), hub_(hub), reader_(direct_bytes, hub.tls() == nullptr),
      credit_(credit_of(hub, id)) {
}

connection::~connection() {
  // A write under way refers to them until the socket is closed.
  if (socket_) {
    socket_->unsent = std::move(queue_);
    socket_->unsent_bytes = std::move(encrypted_);
  }
}

// ---- the beginning
// -----------------------------------------------------------------

void connection::dial(const address& where) {
  dialled_ = true;
  dialer_ = std::make_unique<dialer>(
      hub_.loop(), where, hub_.options().dial_timeout,
      [this](tcp_socket socket, const std::string& failure) {
        if (!socket)
          return end(failure);
        auto remote = remote_of(*socket);
        if (!remote)
          return end("the other side closed the connection");
        begin(std::move(socket), *remote);
      },
      hub_.options().dial_from, hub_.options().insecure);
  dialer_->start();
}

void connection::accept(tcp_socket socket, const address& remote) {
  begin(std::move(socket), remote);
}

void connection::begin(tcp_socket socket, const address& remote) {
  socket_ = std::move(socket);
  socket_->owner = this;
  remote_ = remote;
  dialer_.reset();
  uv_tcp_nodelay(&socket_->tcp, 1);
  if (hub_.tls() == nullptr) {
    announce({});
    read_on();
    return flush();
  }
  state_ = state::shaking;
  deadline_.emplace(hub_.loop(), hub_.options().handshake_timeout, [this] {
    end("the other side has not proven who it is in time");
  });
  tls_ = std::make_unique<tls_channel>(*hub_.tls(),
                                       dialled_ ? tls_channel::side::dialler
                                                : tls_channel::side::acceptor);
  tls_->shake(); // The dialler's first words; the acceptor has none.
  read_on();
  flush();
}

void connection::announce(const peer_id& proven) {
  state_ = state::open;
  announced_ = true;
  deadline_.reset();
  hub_.opened(id_, remote_, proven, dialled_);
}

std::optional<connection_traffic> connection::look(duration interval) {
  if (!socket_)
    return std::nullopt;
  return meter_.look(id_, *socket_, interval, waiting_bytes());
}

void connection::mind_our_windows() const {
  if (socket_)
    avoid_bbr(descriptor_of(*socket_));
}

std::size_t connection::under_way() const {
  return socket_ ? in_flight_ + line_meter::under_way(*socket_) : 0;
}

// ---- the end
// -----------------------------------------------------------------

void connection::close(std::chrono::milliseconds linger) {
  if (state_ == state::connecting || state_ == state::shaking
      || linger.count() == 0)
    return end(closed_here);
  if (state_ != state::draining)
    drain(linger, closed_here);
}

/// Something is wrong with the other side, which is told as far as that can be.
void connection::give_up(const std::string& reason) {
  if (tls_->output_size() == 0)
    return end(reason);
  queue_.clear();
  queued_bytes_ = 0;
  goodbye_said_ = true; // The failure was it.
  drain(last_words, reason);
}

/// One of us encrypts and the other does not. Only an alert is understood by
/// both: neither has an answer of its own to such bytes.
void connection::turn_away(const std::string& reason) {
  if (in_flight_ > 0) // It comes too late to be understood.
    return end(reason);
  auto bytes = not_tls_alert();
  auto alert = uv_buf_init(reinterpret_cast<char*>(bytes.data()),
                           static_cast<unsigned>(bytes.size()));
  uv_try_write(socket_->stream(), &alert, 1);
  queue_.clear();
  queued_bytes_ = 0;
  goodbye_said_ = true;
  drain(last_words, reason);
}

void connection::drain(std::chrono::milliseconds linger, std::string reason) {
  last_reason_ = explained(std::move(reason));
  state_ = state::draining;
  deadline_.emplace(hub_.loop(), linger, [this] { end(last_reason_); });
  // What still comes is read and dropped: a socket that is closed with unread
  // bytes resets the connection, and the other side would lose our last words.
  paused_ = false;
  read_on();
  flush();
}

void connection::shut_down() {
  uv_shutdown(&socket_->ending, socket_->stream(),
              [](uv_shutdown_t* x, int status) {
                auto* handle = static_cast<tcp_handle*>(x->handle->data);
                auto* self = static_cast<connection*>(handle->owner);
                if (self != nullptr && status != 0)
                  self->end(self->last_reason_);
              });
  // From here on we wait for the other side's end, or for the deadline.
}

/// A dial is over only when both sides are proven.
std::string connection::explained(std::string reason) const {
  if (dialled_ && state_ == state::shaking && reason != closed_here)
    return "cannot connect to " + to_string(remote_) + ": " + reason;
  return reason;
}

void connection::end(std::string reason) {
  hub_.ended(id_, explained(std::move(reason)));
}

} // namespace potluck
