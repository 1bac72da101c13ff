#include "runtime/uv/puncher.hpp"

#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// From a refusal to the next try. A router that refuses what comes before its
/// own side has sent anything closes its hole again: with unequal pauses both
/// sides do not go on missing each other by the same time.
constexpr auto beginners_pause = 150ms;
constexpr auto others_pause = 130ms;

/// The address to connect from: an interface of `at`'s family.
sockaddr_storage source_for(const sockaddr_storage& at, const address& from) {
  const auto source = read_numeric(from);
  if (source && source->ss_family == at.ss_family)
    return *source;
  return *read_numeric(
      {at.ss_family == AF_INET6 ? "::" : "0.0.0.0", from.port});
}

/// A socket that was bound to the address that it connects to meets itself.
bool met_itself(const tcp_handle& socket) {
  sockaddr_storage near{}, far{};
  int near_size = sizeof(near), far_size = sizeof(far);
  uv_tcp_getsockname(&socket.tcp, reinterpret_cast<sockaddr*>(&near),
                     &near_size);
  uv_tcp_getpeername(&socket.tcp, reinterpret_cast<sockaddr*>(&far), &far_size);
  return to_address(near) == to_address(far);
}

} // namespace

puncher::puncher(uv_loop_t* loop, const sockaddr_storage& at,
                 const address& from, bool begins, dialer::answer done)
    : loop_(loop), at_(at), from_(source_for(at, from)), begins_(begins),
      done_(std::move(done)) {
}

void puncher::start() {
  deadline_.emplace(loop_, punch_patience, [this] { fail(last_error_); });
  try_once();
}

/// A socket is kept until it fails: the kernel itself repeats what is lost, and
/// a fresh one would not know what is already on its way to it.
void puncher::try_once() {
  socket_ = make_tcp_socket(loop_, this, at_.ss_family);
  if (const auto error = begin())
    connected(error);
}

int puncher::begin() {
  const auto descriptor = descriptor_of(*socket_);
  share_port(descriptor);
  if (is_loopback(at_))
    avoid_bbr(descriptor);
  auto error = uv_tcp_bind(&socket_->tcp, reinterpret_cast<sockaddr*>(&from_),
                           at_.ss_family == AF_INET6 ? UV_TCP_IPV6ONLY : 0);
  if (error == 0)
    error = uv_tcp_connect(
        made(socket_->connecting), &socket_->tcp,
        reinterpret_cast<sockaddr*>(&at_), [](uv_connect_t* x, int status) {
          auto* socket = static_cast<tcp_handle*>(x->handle->data);
          if (socket->owner != nullptr)
            static_cast<puncher*>(socket->owner)->connected(status);
        });
  return error;
}

void puncher::connected(int status) {
  if (status == 0 && !met_itself(*socket_))
    return met(std::move(socket_));
  socket_.reset();
  if (status == 0)
    return fail("that is this peer itself");
  last_error_ = uv_strerror(status);
  pause_.emplace(loop_, begins_ ? beginners_pause : others_pause,
                 [this] { try_once(); });
}

void puncher::met(tcp_socket socket) {
  deadline_.reset();
  pause_.reset();
  socket_.reset();
  socket->owner = nullptr;
  auto done = std::move(done_);
  done(std::move(socket), {});
}

void puncher::fail(const std::string& why) {
  auto done = std::move(done_);
  done(nullptr, "cannot punch to " + to_string(to_address(at_)) + ": " + why);
}

} // namespace potluck
