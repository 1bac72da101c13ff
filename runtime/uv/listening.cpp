#include "runtime/uv/listening.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "messages/limits.hpp"
#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

constexpr int most_waiting_in_the_kernel = 512;

bool is_link_local(const sockaddr_storage& x) {
  if (x.ss_family == AF_INET6)
    return IN6_IS_ADDR_LINKLOCAL(
        &reinterpret_cast<const sockaddr_in6&>(x).sin6_addr);
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(x);
  return ntohl(v4.sin_addr.s_addr) >> 16 == ((169u << 8) | 254u);
}

failure cannot_listen(const address& where, const std::string& why,
                      const char* mend) {
  return {"cannot listen on " + to_string(where) + ": " + why + "; " + mend};
}

failure cannot_listen(const address& where, int error) {
  auto* mend = "listen at another address";
  if (error == UV_EADDRINUSE)
    mend = "stop the other program or listen at another port";
  else if (error == UV_EACCES)
    mend = "listen at a port above 1023";
  else if (error == UV_EADDRNOTAVAIL)
    mend = "listen at an address of this machine";
  return cannot_listen(where, uv_strerror(error), mend);
}

} // namespace

listening::listening(uv_loop_t* loop, bool only_loopback,
                     std::function<void(tcp_socket)> came)
    : loop_(loop), only_loopback_(only_loopback), came_(std::move(came)) {
}

failure listening::stopped(const address& where) {
  return cannot_listen(where, "the transport is stopped", "start it first");
}

void listening::listen(const address& where, answer done) {
  if (auto numeric = read_numeric(where))
    return done(bind(where, *numeric));
  auto i = pending_.insert(pending_.end(), {where, std::move(done), nullptr});
  auto found = [this, i](const std::vector<sockaddr_storage>& all,
                         const std::string& why) {
    if (all.empty())
      i->done(
          cannot_listen(i->where, why, "listen at an address of this machine"));
    else
      i->done(bind(i->where, all.front()));
    pending_.erase(i);
  };
  i->look_up = std::make_unique<resolution>(loop_, where, found);
  if (!i->look_up->error().empty())
    found({}, std::string{i->look_up->error()});
}

expected<address> listening::bind(const address& where,
                                  const sockaddr_storage& to) {
  if (only_loopback_ && !is_loopback(to))
    return cannot_listen(where, "with insecure only this machine may connect",
                         "leave insecure out, or listen at 127.0.0.1:0");
  tcp_socket socket;
  auto error = open(to, 0, socket);
  if (error == UV_EADDRINUSE && to.ss_family == AF_INET6
      && has_ipv4(where.port))
    error = open(to, UV_TCP_IPV6ONLY, socket);
  if (error == UV_EAFNOSUPPORT && where.host == "::") {
    const address only_ipv4{"0.0.0.0", where.port};
    return bind(only_ipv4, *read_numeric(only_ipv4));
  }
  sockaddr_storage bound{};
  int size = sizeof(bound);
  if (error == 0)
    error = uv_tcp_getsockname(&socket->tcp,
                               reinterpret_cast<sockaddr*>(&bound), &size);
  if (error != 0)
    return cannot_listen(where, error);
  share_port(descriptor_of(*socket));
  sockets_.push_back(std::move(socket));
  std::lock_guard<std::mutex> lock{mutex_};
  bound_.push_back(to_address(bound));
  return bound_.back();
}

int listening::open(const sockaddr_storage& to, unsigned flags,
                    tcp_socket& socket) {
  socket = make_tcp_socket(loop_, this);
  const auto error = uv_tcp_bind(&socket->tcp,
                                 reinterpret_cast<const sockaddr*>(&to), flags);
  if (error != 0)
    return error;
  if (is_loopback(to))
    avoid_bbr(descriptor_of(*socket));
  return uv_listen(socket->stream(), most_waiting_in_the_kernel,
                   [](uv_stream_t* x, int status) {
                     auto* self = static_cast<listening*>(
                         static_cast<tcp_handle*>(x->data)->owner);
                     if (status != 0 || self == nullptr)
                       return;
                     auto come = make_tcp_socket(self->loop_, nullptr);
                     if (uv_accept(x, come->stream()) == 0)
                       self->came_(std::move(come));
                   });
}

std::optional<address> listening::first() const {
  std::lock_guard<std::mutex> lock{mutex_};
  return bound_.empty() ? std::nullopt : std::optional{bound_.front()};
}

bool listening::has_ipv4(std::uint16_t port) const {
  return std::any_of(bound_.begin(), bound_.end(), [&](const address& x) {
    return x.port == port && x.host.find(':') == std::string::npos;
  });
}

void listening::stop() {
  sockets_.clear();
  for (auto& x : pending_)
    x.done(stopped(x.where));
  pending_.clear();
}

std::vector<address> addresses_at_home(const address& listened) {
  const auto bound = read_numeric(listened);
  const bool any_ipv6 = listened.host == "::";
  const bool any = any_ipv6 || listened.host == "0.0.0.0";
  uv_interface_address_t* all = nullptr;
  int count = 0;
  if (!bound || uv_interface_addresses(&all, &count) != 0)
    return {};
  std::vector<address> result;
  for (int i = 0; i < count; ++i) {
    sockaddr_storage x{};
    std::memcpy(&x, &all[i].address, sizeof(all[i].address));
    const address here{to_address(x).host, listened.port};
    const bool listens
        = any ? any_ipv6 || x.ss_family == AF_INET : here.host == listened.host;
    if (listens && !all[i].is_internal && !is_link_local(x)
        && result.size() < max_own_addresses)
      result.push_back(here);
  }
  uv_free_interface_addresses(all, count);
  return result;
}

} // namespace potluck
