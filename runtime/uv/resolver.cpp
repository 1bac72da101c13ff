#include "runtime/uv/resolver.hpp"

#include <cstring>

namespace potluck {

namespace {

std::vector<sockaddr_storage> copy_list(const addrinfo* list) {
  std::vector<sockaddr_storage> result;
  for (; list != nullptr; list = list->ai_next)
    if (list->ai_addrlen <= sizeof(sockaddr_storage)) {
      result.emplace_back();
      std::memcpy(&result.back(), list->ai_addr, list->ai_addrlen);
    }
  return result;
}

} // namespace

std::optional<sockaddr_storage> read_numeric(const address& where) {
  auto* host = where.host.empty() ? "0.0.0.0" : where.host.c_str();
  sockaddr_storage x{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&x);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&x);
  if (uv_ip4_addr(host, where.port, v4) == 0
      || uv_ip6_addr(host, where.port, v6) == 0)
    return x;
  return std::nullopt;
}

bool is_loopback(const sockaddr_storage& x) {
  constexpr std::uint32_t net = 127u << 24, mask = 255u << 24;
  if (x.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(x).sin_addr.s_addr)
            & mask)
           == net;
  if (x.ss_family != AF_INET6)
    return false;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(x).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6)
         || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

resolution::resolution(uv_loop_t* loop, const address& where, answer done,
                       int family)
    : state_(std::make_shared<state>()) {
  state_->done = std::move(done);
  state_->pending = true;
  state_->request.data = new std::shared_ptr<state>(state_);
  addrinfo hints{};
  hints.ai_family = family;
  hints.ai_socktype = SOCK_STREAM;
  auto answered = [](uv_getaddrinfo_t* request, int status, addrinfo* list) {
    std::unique_ptr<std::shared_ptr<state>> self{
        static_cast<std::shared_ptr<state>*>(request->data)};
    auto addresses
        = status == 0 ? copy_list(list) : std::vector<sockaddr_storage>{};
    uv_freeaddrinfo(list);
    (*self)->pending = false;
    if (auto call = std::move((*self)->done))
      call(std::move(addresses), status == 0 ? "" : uv_strerror(status));
  };
  auto error
      = uv_getaddrinfo(loop, &state_->request, answered, where.host.c_str(),
                       std::to_string(where.port).c_str(), &hints);
  if (error != 0) {
    delete static_cast<std::shared_ptr<state>*>(state_->request.data);
    state_->pending = false;
    error_ = uv_strerror(error);
  }
}

resolution::~resolution() {
  state_->done = nullptr;
  if (state_->pending)
    uv_cancel(reinterpret_cast<uv_req_t*>(&state_->request));
}

address to_address(const sockaddr_storage& x) {
  char host[INET6_ADDRSTRLEN] = "";
  if (x.ss_family == AF_INET) {
    auto& v4 = reinterpret_cast<const sockaddr_in&>(x);
    uv_ip4_name(&v4, host, sizeof(host));
    return {host, ntohs(v4.sin_port)};
  }
  auto& v6 = reinterpret_cast<const sockaddr_in6&>(x);
  uv_ip6_name(&v6, host, sizeof(host));
  if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
    uv_inet_ntop(AF_INET, v6.sin6_addr.s6_addr + 12, host, sizeof(host));
  return {host, ntohs(v6.sin6_port)};
}

} // namespace potluck
