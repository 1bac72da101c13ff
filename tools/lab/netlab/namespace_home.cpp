// Homes behind routers: namespaces in a row, with nftables between them.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tools/lab/netlab/namespace_host.hpp"
#include "tools/lab/network/public_hosts.hpp"

namespace potluck::netlab {

namespace {

/// What lies behind a router.
struct inner_network {
  std::string router, host;
};
const inner_network at_home{"192.168.1.1", "192.168.1.2"};
const inner_network at_carrier{"100.64.0.1", "100.64.0.2"};

/// The lines stand still meanwhile.
constexpr std::chrono::milliseconds longest_forgetting{250};

/// Runs a command of the system in this thread's namespaces, with `input`.
bool feed(const std::string& command, const std::string& input) {
  // Where they lie is not on every user's path.
  auto* to = ::popen(
      ("PATH=$PATH:/usr/sbin:/sbin; " + command + " >/dev/null 2>&1").c_str(),
      "w");
  if (!to)
    return false;
  std::fwrite(input.data(), 1, input.size(), to);
  return ::pclose(to) == 0;
}

bool write_setting(const std::string& path, const char* value) {
  file_descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  return file && ::write(file.get(), value, 1) == 1;
}

/// The kernel drops connections in the background: until none are left that
/// this thread's namespace tracks. Those of a router itself may last.
void await_forgotten() {
  const auto end = std::chrono::steady_clock::now() + longest_forgetting;
  while (std::chrono::steady_clock::now() < end) {
    std::ifstream file{"/proc/sys/net/netfilter/nf_conntrack_count"};
    if (std::uint64_t tracked = 0; !(file >> tracked) || tracked == 0)
      return;
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
}

/// Chains that it writes to.
const char* const port_mapper_rules = R"(table inet miniupnpd {
  chain miniupnpd {
  }
  chain prerouting_miniupnpd {
  }
  chain postrouting_miniupnpd {
  }
  chain coming {
    type nat hook prerouting priority -100
    jump prerouting_miniupnpd
  }
}
)";

/// Starts it in this thread's namespaces. It ends when the result does, also
/// when this process is killed.
std::shared_ptr<std::FILE> start_port_mapper(const inner_network& of) {
  const auto script = R"(PATH=$PATH:/usr/sbin:/sbin
own=$(mktemp -u) # Two would take one file for a sign that one runs already.
miniupnpd -d -P $own -f /dev/fd/3 3<<END >/dev/null 2>&1 &
ext_ifname=wan
listening_ip=lan
enable_upnp=yes
enable_natpmp=yes
secure_mode=yes
upnp_table_name=miniupnpd
upnp_nat_table_name=miniupnpd
uuid=00000000-0000-4000-8000-000000000001
allow 1024-65535 )" + of.host
                      + R"(/32 1024-65535
END
daemon=$!
read end
kill -9 $daemon
rm -f $own)";
  return {::popen(script.c_str(), "we"), [](auto* x) { x&& ::pclose(x); }};
}

/// For nft: one statement a line. "lan" leads inside, "wan" outside.
/// @param maps Ports are opened by the port mapper alone.
std::string rules_of(router_kind kind, const std::string& host, bool maps) {
  using k = router_kind;
  const auto reachable = kind == k::open_cone || (kind == k::upnp && !maps);
  const auto restricted = kind == k::address_restricted;
  std::string result = R"(table ip home {
  set dialled {
    type ipv4_addr
    flags dynamic,timeout
  }
  chain leaving {
    type nat hook postrouting priority 100
    oifname "wan" masquerade)";
  // A port by chance for each connection: mapping is dependent then.
  result += kind == k::symmetric ? " fully-random" : "";
  result += R"(
  }
  chain coming {
    type nat hook prerouting priority -100
)";
  if (reachable || restricted)
    result += std::string{"    iifname \"wan\" "}
              + (restricted ? "ip saddr @dialled " : "")
              + "meta l4proto tcp dnat to " + host + "\n";
  result += R"(  }
  chain to_itself {
    type filter hook input priority 0; policy drop
    iifname "lan" accept
    ct state established,related accept
  }
  chain through {
    type filter hook forward priority 0; policy drop
    ct state invalid drop
    ct state established,related accept
    ct status dnat accept
    iifname "lan" add @dialled { ip daddr timeout 2m }
    iifname "lan")";
  result += kind == k::only_443 ? " tcp dport 443" : "";
  result += " accept\n  }\n}\n";
  return maps ? result + port_mapper_rules : result;
}

/// What an IPv6 router drops: what comes unasked. Neighbours and errors are
/// ICMPv6's.
const char* const ipv6_rules = R"(table ip6 home {
  chain coming {
    type filter hook input priority 0; policy drop
    iifname "lo" accept
    ct state invalid drop
    ct state established,related accept
    meta l4proto ipv6-icmp accept
  }
}
)";

/// What it does not know a router drops, rather than take it for a connection.
void know_connections_alone() {
  write_setting("/proc/sys/net/netfilter/nf_conntrack_tcp_loose", "0");
}

/// The thread is in the router's namespace before, and in that of what lies
/// behind it afterwards.
/// @param daemon What runs on the router from then on.
expected<file_descriptor>
put_behind_router(router_kind kind, const inner_network& of,
                  std::shared_ptr<std::FILE>& daemon) {
  file_descriptor router{
      ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  if (!router || ::unshare(CLONE_NEWNET) != 0)
    return failure{"network namespace of a home"};
  file_descriptor inside{
      ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)};
  // A copy for `ip`, which inherits it.
  file_descriptor shown{::dup(inside.get())};
  if (!shown || ::setns(router.get(), CLONE_NEWNET) != 0)
    return failure{"network namespace of a home"};
  if (!feed("ip -batch -", "link add lan type veth peer name wan netns "
                           "/proc/self/fd/"
                               + std::to_string(shown.get()) + "\naddr add "
                               + of.router + "/24 dev lan\nlink set lan up\n"))
    return failure{"ip: a veth pair, which needs iproute2"};
  const auto maps = kind == router_kind::upnp && has_port_mapper();
  if (!feed("nft -f -", rules_of(kind, of.host, maps)))
    return failure{"nft: address translation, which needs nftables"};
  if (maps)
    daemon = start_port_mapper(of);
  if (!write_setting("/proc/sys/net/ipv4/ip_forward", "1"))
    return failure{"/proc/sys/net/ipv4/ip_forward"};
  know_connections_alone();
  if (::setns(inside.get(), CLONE_NEWNET) != 0
      || !feed("ip -batch -", "link set lo up\naddr add " + of.host
                                  + "/24 dev wan\nlink set wan up\n"
                                    "route add default via "
                                  + of.router + "\n"))
    return failure{"ip: the interface of a home"};
  return inside;
}

expected<namespace_host> make_ipv6_only(std::uint32_t address) {
  auto result = namespace_host::make(address, namespace_host::versions::six);
  if (result && !feed("nft -f -", ipv6_rules))
    return failure{"nft: a firewall for IPv6, which needs nftables"};
  know_connections_alone();
  return result;
}

} // namespace

bool has_port_mapper() {
  return feed("command -v miniupnpd", "");
}

expected<namespace_host> namespace_host::make_behind(router_kind kind,
                                                     std::uint32_t address) {
  if (kind == router_kind::ipv6_only)
    return make_ipv6_only(address);
  if (kind == router_kind::none)
    return make(address, versions::both);
  auto made = make(address);
  if (!made)
    return made;
  auto result = unwrap(std::move(made));
  auto enclose = [&](router_kind router, const inner_network& of) {
    auto inside = put_behind_router(router, of, result.daemon_);
    if (inside)
      result.routers_.push_back(
          std::exchange(result.space_, unwrap(std::move(inside))));
    else
      made = failure{inside.error()};
    return static_cast<bool>(inside);
  };
  const auto carried = kind == router_kind::double_nat;
  if ((carried && !enclose(router_kind::port_restricted, at_carrier))
      || !enclose(carried ? router_kind::port_restricted : kind, at_home))
    return made;
  return result;
}

bool namespace_host::reboot_routers() const {
  for (const auto& x : routers_) {
    // The kernel drops what it masquerades behind a device that goes down.
    if (::setns(x.get(), CLONE_NEWNET) != 0
        || !feed("ip -batch -", "link set wan down\n"))
      return false;
    await_forgotten();
    if (!feed("ip -batch -", "link set wan up\n"))
      return false;
  }
  return true;
}

bool namespace_host::move_to(std::uint32_t address) const {
  return !routers_.empty() && ::setns(routers_.front().get(), CLONE_NEWNET) == 0
         && feed("ip -batch -",
                 "addr flush dev wan\naddr add " + dotted(address) + "/"
                     + std::to_string(public_hosts_bits) + " dev wan\n");
}

} // namespace potluck::netlab
