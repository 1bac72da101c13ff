// Hosts as network namespaces.

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

#include "runtime/state/file_descriptor.hpp"
#include "tools/network_lab/lab_network.hpp"

namespace potluck::netlab {

namespace {

constexpr const char* device = "wan";
/// As on Ethernet; a larger one would make rates and losses unlike real ones.
constexpr int packet_bytes = 1500;
/// Packets that a host's kernel keeps until we read them: a few milliseconds of
/// our inattention at a gigabit.
constexpr int device_queue = 2000;
/// Packets taken from one host before the next has its turn.
constexpr int turn_packets = 64;
/// 10.77.0.0/16; hosts are 10.77.0.1 and on.
constexpr std::uint32_t first_address = 0x0a4d0001;
constexpr const char* netmask = "255.255.0.0";

time_point now() {
  return std::chrono::steady_clock::now();
}

std::string dotted(std::uint32_t x) {
  in_addr in{htonl(x)};
  char text[INET_ADDRSTRLEN];
  return ::inet_ntop(AF_INET, &in, text, sizeof(text));
}

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

struct real_host {
  file_descriptor space; ///< Its network namespace.
  file_descriptor line;  ///< What its kernel sends and receives.
};

/// Leaves this process in the new host's namespace.
expected<real_host> make_host(const std::string& address) {
  auto refused = [](const char* what) {
    return failure{std::string{"A host cannot be made ("} + what + ": "
                   + std::strerror(errno)
                   + "): run as root, or with --without-namespaces."};
  };
  real_host result;
  if (::unshare(CLONE_NEWNET) != 0)
    return refused("network namespace");
  result.space
      = file_descriptor{::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!result.space)
    return refused("/proc/self/ns/net");
  result.line = file_descriptor{
      ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)};
  ifreq wanted{};
  wanted.ifr_flags = IFF_TUN | IFF_NO_PI;
  std::strncpy(wanted.ifr_name, device, IFNAMSIZ - 1);
  if (!result.line || ::ioctl(result.line.get(), TUNSETIFF, &wanted) != 0)
    return refused("/dev/net/tun");
  interface wan {
    device
  };
  if (!interface{"lo"}.up() || !wan.set_address(SIOCSIFADDR, address)
      || !wan.set_address(SIOCSIFNETMASK, netmask)
      || !wan.set_packet_bytes(packet_bytes) || !wan.set_queue(device_queue)
      || !wan.up())
    return refused("its interface");
  return result;
}

class namespaces : public lab_network {
public:
  namespaces(const network_description& from, std::vector<real_host> hosts)
      : hosts_(std::move(hosts)), network_(from) {
  }

  std::string address_of(host x) const override {
    return dotted(first_address + static_cast<std::uint32_t>(x));
  }

  expected<std::vector<std::string>> network_words(host x,
                                                   unsigned port) override {
    return std::vector<std::string>{"--listen=" + address_of(x) + ":"
                                    + std::to_string(port)};
  }

  bool enter(host x) const override {
    return ::setns(hosts_[x].space.get(), CLONE_NEWNET) == 0;
  }

  void change(host x, const line_change& how) override {
    network_.change(x, how);
  }

  std::vector<int> descriptors() const override {
    std::vector<int> result;
    for (const auto& x : hosts_)
      result.push_back(x.line.get());
    return result;
  }

  std::optional<time_point> step() override {
    hand_over(); // First, so that lateness is seen.
    for (host i = 0; i < hosts_.size(); ++i)
      take(i);
    hand_over();
    return network_.next();
  }

  const emulated_network::counters* counters_of(host x) const override {
    return &network_.of(x);
  }

  double late_share() const override {
    return passed_ == 0
               ? 0
               : static_cast<double>(late_) / static_cast<double>(passed_);
  }

private:
  void take(host from) {
    std::uint8_t buffer[packet_bytes + 64];
    for (int i = 0; i < turn_packets; ++i) {
      auto size = ::read(hosts_[from].line.get(), buffer, sizeof(buffer));
      if (size <= 0)
        return;
      // The receiver stands behind 16 bytes of an IPv4 header. Anything else
      // (IPv6's announcements, broadcasts) has nowhere to go here.
      if (size < 20 || buffer[0] >> 4 != 4)
        continue;
      std::uint32_t to = 0;
      std::memcpy(&to, buffer + 16, sizeof(to));
      host number = ntohl(to) - first_address;
      if (number < hosts_.size())
        network_.send(now(), {from, number, {buffer, buffer + size}});
    }
  }

  void hand_over() {
    auto due = network_.next();
    auto at = now();
    if (!due || *due > at)
      return;
    bool late = at - *due > lab_lateness;
    for (const auto& x : network_.arrived(at)) {
      ++passed_;
      if (late && *due != time_point{})
        ++late_;
      // What the kernel does not take is lost, as in a real one.
      [[maybe_unused]] auto size
          = ::write(hosts_[x.to].line.get(), x.bytes.data(), x.bytes.size());
    }
  }

  std::vector<real_host> hosts_;
  emulated_network network_;
  std::uint64_t passed_ = 0;
  std::uint64_t late_ = 0;
};

} // namespace

expected<std::unique_ptr<lab_network>>
make_namespaces(const network_description& from) {
  std::vector<real_host> hosts;
  for (std::size_t i = 0; i < from.hosts.size(); ++i) {
    auto made
        = make_host(dotted(first_address + static_cast<std::uint32_t>(i)));
    if (!made)
      return failure{made.error()};
    hosts.push_back(std::move(*made));
  }
  return std::unique_ptr<lab_network>{
      std::make_unique<namespaces>(from, std::move(hosts))};
}

} // namespace potluck::netlab
