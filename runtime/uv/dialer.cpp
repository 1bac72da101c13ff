#include "runtime/uv/dialer.hpp"

#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

std::string in_words(std::chrono::milliseconds x) {
  if (x.count() % 1000 != 0)
    return std::to_string(x.count()) + " ms";
  return std::to_string(x.count() / 1000) + " s";
}

} // namespace

dialer::dialer(uv_loop_t* loop, address where,
               std::chrono::milliseconds timeout, answer done, std::string from,
               bool only_loopback)
    : loop_(loop), where_(std::move(where)), timeout_(timeout),
      done_(std::move(done)), from_(std::move(from)),
      only_loopback_(only_loopback) {
}

void dialer::start() {
  if (where_.host.empty() || where_.port == 0)
    return fail("the address is incomplete");
  deadline_.emplace(loop_, timeout_,
                    [this] { fail("no answer within " + in_words(timeout_)); });
  if (auto numeric = read_numeric(where_)) {
    addresses_ = {*numeric};
    return try_next();
  }
  resolution_ = std::make_unique<resolution>(
      loop_, where_,
      [this](std::vector<sockaddr_storage> addresses, const std::string& why) {
        addresses_ = std::move(addresses);
        last_error_ = why;
        try_next();
      });
  if (!resolution_->error().empty())
    fail(resolution_->error());
}

void dialer::try_next() {
  while (next_ < addresses_.size()) {
    if (only_loopback_ && !is_loopback(addresses_[next_])) {
      last_error_ = "with --insecure only this machine can be dialled";
      ++next_;
      continue;
    }
    const auto& where = addresses_[next_++];
    auto* to = reinterpret_cast<const sockaddr*>(&where);
    socket_ = make_tcp_socket(loop_, this, where.ss_family);
    if (is_loopback(where))
      avoid_bbr(descriptor_of(*socket_));
    auto error = bind_source();
    if (error == 0)
      error = uv_tcp_connect(
          &socket_->connecting, &socket_->tcp, to,
          [](uv_connect_t* x, int status) {
            auto* socket = static_cast<tcp_handle*>(x->handle->data);
            if (socket->owner != nullptr)
              static_cast<dialer*>(socket->owner)->connected(status);
          });
    if (error == 0)
      return;
    last_error_ = uv_strerror(error);
  }
  fail(last_error_);
}

int dialer::bind_source() {
  if (from_.empty())
    return 0;
  auto source = read_numeric({from_, 0});
  if (!source)
    return UV_EADDRNOTAVAIL;
  return uv_tcp_bind(&socket_->tcp, reinterpret_cast<sockaddr*>(&*source), 0);
}

void dialer::connected(int status) {
  if (status != 0) {
    last_error_ = uv_strerror(status);
    return try_next();
  }
  deadline_.reset();
  socket_->owner = nullptr;
  auto done = std::move(done_);
  done(std::move(socket_), {});
}

void dialer::fail(const std::string& why) {
  auto done = std::move(done_);
  done(nullptr, "cannot connect to " + to_string(where_) + ": " + why
                    + "; check the address, and that the peer runs there");
}

} // namespace potluck
