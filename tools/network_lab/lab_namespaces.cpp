// Hosts as network namespaces.

#include <arpa/inet.h>
#include <cstring>
#include <unistd.h>

#include "tools/network_lab/lab_network.hpp"
#include "tools/network_lab/namespace_host.hpp"

namespace potluck::netlab {

namespace {

/// Packets taken from one host before the next has its turn.
constexpr int turn_packets = 64;

time_point now() {
  return std::chrono::steady_clock::now();
}

class namespaces : public lab_network {
public:
  namespaces(const network_description& from, std::vector<namespace_host> hosts)
      : hosts_(std::move(hosts)), network_(from) {
  }

  std::string address_of(host x) const override {
    return dotted(host_address(x));
  }

  expected<std::vector<std::string>> network_words(host x,
                                                   unsigned port) override {
    return std::vector<std::string>{"--listen=" + address_of(x) + ":"
                                    + std::to_string(port)};
  }

  bool enter(host x) const override {
    return hosts_[x].enter();
  }

  void change(host x, const line_change& how) override {
    network_.change(x, how);
  }

  std::vector<int> descriptors() const override {
    std::vector<int> result;
    for (const auto& x : hosts_)
      result.push_back(x.line());
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
    std::uint8_t buffer[namespace_host::packet_bytes + 64];
    for (int i = 0; i < turn_packets; ++i) {
      auto size = ::read(hosts_[from].line(), buffer, sizeof(buffer));
      if (size <= 0)
        return;
      // The receiver stands behind 16 bytes of an IPv4 header. Anything else
      // (IPv6's announcements, broadcasts) has nowhere to go here.
      if (size < 20 || buffer[0] >> 4 != 4)
        continue;
      std::uint32_t to = 0;
      std::memcpy(&to, buffer + 16, sizeof(to));
      host number = ntohl(to) - host_address(0);
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
          = ::write(hosts_[x.to].line(), x.bytes.data(), x.bytes.size());
    }
  }

  std::vector<namespace_host> hosts_;
  emulated_network network_;
  std::uint64_t passed_ = 0;
  std::uint64_t late_ = 0;
};

} // namespace

expected<std::unique_ptr<lab_network>>
make_namespaces(const network_description& from) {
  std::vector<namespace_host> hosts;
  for (std::size_t i = 0; i < from.hosts.size(); ++i) {
    auto made = namespace_host::make(host_address(i));
    if (!made)
      return failure{"A host cannot be made (" + made.error()
                     + "): run as root, or with --without-namespaces."};
    hosts.push_back(std::move(*made));
  }
  return std::unique_ptr<lab_network>{
      std::make_unique<namespaces>(from, std::move(hosts))};
}

} // namespace potluck::netlab
