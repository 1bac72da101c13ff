#include "runtime/uv/kernel_view.hpp"

#ifdef __linux__
#include <array>
#include <cstddef>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string_view>
#include <sys/ioctl.h>
#endif
#include <sys/socket.h>

namespace potluck {

std::optional<kernel_view> ask_kernel(int socket) {
#ifdef __linux__
  tcp_info info{};
  socklen_t size = sizeof(info);
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0
      || size < offsetof(tcp_info, tcpi_busy_time) + sizeof(std::uint64_t))
    return std::nullopt;
  kernel_view result;
  // With what came beyond a lost packet: once that is repeated, all of it would
  // be acknowledged at once.
  result.arrived = info.tcpi_bytes_acked
                   + std::uint64_t{info.tcpi_sacked} * info.tcpi_snd_mss;
  result.unsent = info.tcpi_notsent_bytes > 0;
  result.unacknowledged = info.tcpi_unacked > 0;
  result.busy = std::chrono::microseconds{
      static_cast<std::int64_t>(info.tcpi_busy_time)};
  result.round_trip = std::chrono::microseconds{info.tcpi_rtt};
  if (info.tcpi_min_rtt != UINT32_MAX) // Before there was any.
    result.least_round_trip = std::chrono::microseconds{info.tcpi_min_rtt};
  return result;
#else
  (void)socket;
  return std::nullopt;
#endif
}

std::size_t bytes_under_way(int socket) {
#ifdef __linux__
  int bytes = 0;
  if (::ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0)
    return static_cast<std::size_t>(bytes);
#else
  (void)socket;
#endif
  return 0;
}

void avoid_bbr(int socket) {
#ifdef __linux__
  constexpr std::string_view avoided = "bbr"; // And its later versions.
  std::array<char, 16> name{}; // As long as any (TCP_CA_NAME_MAX).
  socklen_t size = name.size();
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &size) == 0
      && std::string_view{name.data()}.substr(0, avoided.size()) == avoided)
    for (std::string_view other : {"cubic", "reno"})
      if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, other.data(),
                       static_cast<socklen_t>(other.size()))
          == 0)
        return;
#else
  (void)socket;
#endif
}

void keep_alive(int socket) {
  constexpr int on = 1, seconds = 20;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
#ifdef __linux__
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
#else
  (void)seconds;
#endif
}

void share_port(int socket) {
  constexpr int on = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
}

} // namespace potluck
