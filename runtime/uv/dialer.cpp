#include "runtime/uv/dialer.hpp"

#include <algorithm>

#include "runtime/dialable.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

using namespace std::chrono_literals;

/// RFC 8305, section 8: between two attempts, and how long IPv4 addresses wait
/// for IPv6 ones that are still being looked up.
constexpr auto attempt_delay = 250ms;
constexpr auto resolution_delay = 50ms;

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
  if (auto numeric = read_numeric(where_))
    return start({*numeric});
  hurry();
  for (auto family : {AF_INET6, AF_INET})
    look_up(where_, family, [this](const addresses& x) { found(x); });
  if (pending_ == 0)
    fail(last_error_);
}

void dialer::start(const addresses& all) {
  hurry();
  found(all);
}

void dialer::hurry() {
  deadline_.emplace(loop_, timeout_,
                    [this] { fail("no answer within " + in_words(timeout_)); });
}

void dialer::look_up(const address& where, int family,
                     std::function<void(const addresses&)> found) {
  auto answered = [this, found = std::move(found)](const addresses& all,
                                                   const std::string& why) {
    --pending_;
    if (last_error_.empty())
      last_error_ = why;
    found(all);
  };
  auto x = std::make_unique<resolution>(loop_, where, answered, family);
  if (!x->error().empty()) {
    last_error_ = x->error();
    return;
  }
  ++pending_;
  look_ups_.push_back(std::move(x));
}

void dialer::found(const addresses& x) {
  order_.add(x);
  const bool first = attempts_.empty();
  if (first && pending_ > 0 && !order_.has_ipv6())
    pause_.emplace(loop_, resolution_delay, [this] { try_next(); });
  else if (first || !pause_)
    try_next();
}

void dialer::try_next() {
  pause_.reset();
  while (const auto to = order_.next()) {
    if (only_loopback_ && !is_loopback(*to)) {
      last_error_ = "with insecure only this machine can be dialled";
      continue;
    }
    const auto error = begin(*to);
    if (error == 0) {
      pause_.emplace(loop_, attempt_delay, [this] { try_next(); });
      return;
    }
    last_error_ = uv_strerror(error);
    if (error == UV_ENETUNREACH && to->ss_family == AF_INET)
      unrouted_ = to;
  }
  if (attempts_.empty() && pending_ == 0 && !translates())
    fail(last_error_);
}

int dialer::begin(const sockaddr_storage& to) {
  auto socket = make_tcp_socket(loop_, this, to.ss_family);
  if (is_loopback(to))
    avoid_bbr(descriptor_of(*socket));
  auto error = bind_source(*socket);
  if (error == 0)
    error = uv_tcp_connect(
        made(socket->connecting), &socket->tcp,
        reinterpret_cast<const sockaddr*>(&to),
        [](uv_connect_t* x, int status) {
          auto* socket = static_cast<tcp_handle*>(x->handle->data);
          if (socket->owner != nullptr)
            static_cast<dialer*>(socket->owner)->connected(*socket, status);
        });
  if (error == 0)
    attempts_.push_back(std::move(socket));
  return error;
}

int dialer::bind_source(tcp_handle& socket) {
  if (from_.empty())
    return 0;
  auto source = read_numeric({from_, 0});
  if (!source)
    return UV_EADDRNOTAVAIL;
  return uv_tcp_bind(&socket.tcp, reinterpret_cast<sockaddr*>(&*source), 0);
}

void dialer::connected(tcp_handle& which, int status) {
  const auto i = std::find_if(attempts_.begin(), attempts_.end(),
                              [&](const auto& x) { return x.get() == &which; });
  auto socket = std::move(*i);
  attempts_.erase(i);
  if (status != 0) {
    last_error_ = uv_strerror(status);
    return try_next();
  }
  pause_.reset();
  deadline_.reset();
  look_ups_.clear();
  attempts_.clear(); // The others are cancelled.
  socket->owner = nullptr;
  auto done = std::move(done_);
  done(std::move(socket), {});
}

bool dialer::translates() {
  if (!unrouted_ || only_loopback_ || is_local(where_.host)
      || !read_numeric(where_))
    return false;
  look_up({nat64_host, 0}, AF_INET6,
          [this, ipv4 = *unrouted_](const addresses& x) {
            const auto prefix = read_nat64(x);
            found({translated(prefix ? *prefix : well_known_nat64(), ipv4)});
          });
  unrouted_.reset(); // Only once.
  return pending_ > 0;
}

void dialer::fail(const std::string& why) {
  auto done = std::move(done_);
  done(nullptr, "cannot connect to " + to_string(where_) + ": " + why
                    + "; check the address, and that the peer runs there");
}

} // namespace potluck
