#include "tools/lab/netlab/namespace_host.hpp"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/lab/network/public_hosts.hpp"

namespace potluck::netlab {

namespace {

constexpr const char* device = "wan";
/// Packets that a host's kernel keeps until we read them: a few milliseconds of
/// our inattention at a gigabit.
constexpr int device_queue = 2000;
constexpr std::uint32_t netmask = ~0u << (32 - public_hosts_bits);

/// What `SIOCSIFADDR` takes of IPv6: the kernel's in6_ifreq, whose header does
/// not go with the C library's.
struct ipv6_request {
  ipv6_address address;
  std::uint32_t prefix_bits;
  int device;
};

/// Requests about one interface of the present namespace.
class interface {
public:
  explicit interface(const char* name)
      : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    std::strncpy(request_.ifr_name, name, IFNAMSIZ - 1);
  }

  bool set_address(unsigned long what, const std::string& text) {
    auto& to = reinterpret_cast<sockaddr_in&>(request_.ifr_addr);
    to = {};
    to.sin_family = AF_INET;
    return ::inet_pton(AF_INET, text.c_str(), &to.sin_addr) == 1 && ask(what);
  }
  /// There is nobody on a TUN device to ask whether the address is free, so
  /// that it can be used at once.
  bool add_ipv6(const ipv6_address& x) {
    file_descriptor six{::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ipv6_request what{x, public_ipv6_bits,
                      static_cast<int>(::if_nametoindex(request_.ifr_name))};
    return six && ::ioctl(six.get(), SIOCSIFADDR, &what) == 0;
  }
  bool set_packet_bytes(int x) {
    request_.ifr_mtu = x;
    return ask(SIOCSIFMTU);
  }
  bool set_queue(int x) {
    request_.ifr_qlen = x;
    return ask(SIOCSIFTXQLEN);
  }
  bool up() {
    if (!ask(SIOCGIFFLAGS))
      return false;
    request_.ifr_flags |= IFF_UP | IFF_RUNNING;
    return ask(SIOCSIFFLAGS);
  }

private:
  bool ask(unsigned long what) {
    return socket_ && ::ioctl(socket_.get(), what, &request_) == 0;
  }

  file_descriptor socket_;
  ifreq request_{};
};

bool write_file(const std::string& path, const std::string& text) {
  file_descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return file
         && ::write(file.get(), text.data(), text.size())
                == static_cast<ssize_t>(text.size());
}

failure failed_to(const char* what) {
  return {std::string{what} + ": " + std::strerror(errno)};
}

} // namespace

expected<bool> become_root_inside() {
  auto user = std::to_string(::geteuid());
  auto group = std::to_string(::getegid());
  if (user == "0")
    return true;
  if (::unshare(CLONE_NEWUSER) != 0
      || !write_file("/proc/self/setgroups", "deny")
      || !write_file("/proc/self/uid_map", "0 " + user + " 1")
      || !write_file("/proc/self/gid_map", "0 " + group + " 1"))
    return failed_to("user namespace");
  return true;
}

std::string dotted(std::uint32_t address) {
  in_addr in{htonl(address)};
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &in, text, sizeof(text));
}

expected<namespace_host> namespace_host::make(std::uint32_t address,
                                              versions speaks) {
  namespace_host result;
  result.speaks_ = speaks;
  if (::unshare(CLONE_NEWNET) != 0)
    return failed_to("network namespace");
  // Of this thread, not of the process's first one.
  result.space_ = file_descriptor{
      ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!result.space_)
    return failed_to("/proc/thread-self/ns/net");
  result.line_ = file_descriptor{
      ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  ifreq wanted{};
  wanted.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(wanted.ifr_name, device, IFNAMSIZ - 1);
  if (!result.line_ || ::ioctl(result.line_.get(), TUNSETIFF, &wanted) != 0)
    return failed_to("/dev/net/tun");
  interface wan {
    device
  };
  if (!interface{"lo"}.up()
      || (speaks != versions::six
          && (!wan.set_address(SIOCSIFADDR, dotted(address))
              || !wan.set_address(SIOCSIFNETMASK, dotted(netmask))))
      || !wan.set_packet_bytes(packet_bytes) || !wan.set_queue(device_queue)
      || !wan.up())
    return failed_to("its interface");
  if (speaks == versions::four || wan.add_ipv6(public_ipv6_address(address)))
    return result;
  if (speaks == versions::six)
    return failed_to("this system gives it no IPv6 address");
  result.speaks_ = versions::four;
  return result;
}

bool namespace_host::enter() const {
  return ::setns(space_.get(), CLONE_NEWNET) == 0;
}

bool shift_clocks_of_children(duration ahead) {
#ifdef CLONE_NEWTIME
  // Of this thread: the file of /proc/self is the first one's.
  auto path = "/proc/" + std::to_string(::gettid()) + "/timens_offsets";
  auto seconds
      = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
  auto rest = (ahead - std::chrono::seconds{seconds}).count();
  auto offset = std::to_string(seconds) + " " + std::to_string(rest) + "\n";
  return ::unshare(CLONE_NEWTIME) == 0
         && write_file(path, "monotonic " + offset + "boottime " + offset);
#else
  static_cast<void>(ahead);
  return false;
#endif
}

} // namespace potluck::netlab
