#include "runtime/uv/connection.hpp"

#include <utility>

#include "runtime/config.hpp"

namespace potluck {

namespace {

/// How long the last words of a connection that failed may take: they explain,
/// and nothing hangs on them.
constexpr std::chrono::milliseconds last_words{200};

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
    : id_(id), hub_(hub),
      early_(std::make_unique<frame_queue>(
          frame_queue::bounds{hub.options().max_queued_bytes,
                              hub.options().queued_arrays},
          !hub.shared().tls)) { // Else every record has a better checksum.
}

void connection::dial(const address& where, const peer_id& expected,
                      shared_face from) {
  dialled_ = begins_ = true;
  expected_ = expected;
  face_ = std::move(from);
  dialer_ = std::make_unique<dialer>(
      hub_.loop(), where, hub_.options().dial_timeout, beginning(),
      hub_.options().dial_from, hub_.options().insecure);
  dialer_->start();
}

void connection::punch(const sockaddr_storage& at, const address& from,
                       bool begins, tcp_socket came, shared_face as) {
  dialled_ = true;
  begins_ = begins;
  face_ = std::move(as);
  puncher_
      = std::make_unique<puncher>(hub_.loop(), at, from, begins, beginning());
  if (came)
    puncher_->met(std::move(came));
  else
    puncher_->start();
}

void connection::met(tcp_socket socket) {
  if (puncher_)
    puncher_->met(std::move(socket));
}

tcp_socket connection::take_back() {
  return unproven() && socket_->silent() ? socket_->take_back() : nullptr;
}

dialer::answer connection::beginning() {
  return [this](tcp_socket socket, const std::string& failure) {
    if (!socket)
      return end(failure);
    auto remote = remote_of(*socket);
    if (!remote)
      return end("the other side closed the connection");
    begin(std::move(socket), *remote);
  };
}

void connection::accept(tcp_socket socket, const address& remote) {
  begin(std::move(socket), remote);
}

void connection::begin(tcp_socket socket, const address& remote) {
  remote_ = remote;
  dialer_.reset();
  puncher_.reset();
  state_ = state::shaking;
  deadline_.emplace(hub_.loop(), hub_.options().handshake_timeout, [this] {
    end("the other side has not proven who it is in time");
  });
  socket_ = std::make_unique<framed_socket>(
      id_, hub_.shared(), std::move(socket), make_channel(), std::move(*early_),
      credit_of(hub_, id_), *this);
  early_.reset();
  socket_->start();
}

std::unique_ptr<tls_channel> connection::make_channel() const {
  if (!hub_.shared().tls)
    return nullptr;
  const auto& shown = face_ ? *face_->tls : *hub_.shared().tls;
  if (!begins_)
    return std::make_unique<tls_channel>(shown, tls_channel::side::acceptor);
  auto result
      = std::make_unique<tls_channel>(shown, tls_channel::side::dialler);
  if (!expected_.empty())
    result->ask_for(expected_);
  return result;
}

void connection::on_open(const peer_id& proven) {
  state_ = state::open;
  announced_ = true;
  deadline_.reset();
  hub_.opened(id_, remote_, proven, dialled_);
}

void connection::on_frame(incoming_frame frame) {
  if (face_)
    face_->listener->on_frame(id_, std::move(frame));
}

void connection::enqueue(outgoing_frame frame) {
  if (state_ == state::draining)
    return;
  const auto too_much = socket_ ? socket_->push(std::move(frame))
                                : early_->push(std::move(frame), true);
  if (too_much > 0)
    end("the other side stopped reading: " + std::to_string(too_much >> 20)
        + " MiB were waiting for it");
}

void connection::flush() {
  if (socket_)
    socket_->flush();
}

// ---- the end ---------------------------------------------------------------

void connection::close(std::chrono::milliseconds linger) {
  if (state_ == state::connecting || state_ == state::shaking
      || linger.count() == 0)
    return end(closed_here);
  if (state_ != state::draining)
    drain(linger, closed_here);
}

void connection::on_wrong(const std::string& reason) {
  drain(last_words, reason);
}

void connection::on_end(const std::string& reason) {
  end(state_ == state::draining ? last_reason_ : reason);
}

void connection::drain(std::chrono::milliseconds linger, std::string reason) {
  last_reason_ = explained(std::move(reason));
  state_ = state::draining;
  deadline_.emplace(hub_.loop(), linger, [this] { end(last_reason_); });
  socket_->finish();
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
