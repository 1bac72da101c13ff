// Homes behind routers: namespaces in a row, with nftables between them.

#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sched.h>
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
miniupnpd -d -f /dev/fd/3 3<<END >/dev/null 2>&1 &
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
kill -9 $daemon)";
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

/// A namespace that a veth pair leads to from the thread's: "lan" here, "wan"
/// there. The thread stays where it is.
expected<file_descriptor> make_inner() {
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
                               + std::to_string(shown.get())
                               + "\nlink set lan up\n"))
    return failure{"ip: a veth pair, which needs iproute2"};
  return inside;
}

/// The thread is in the router's namespace before, and in that of what lies
/// behind it afterwards.
/// @param daemon What runs on the router from then on.
expected<file_descriptor>
put_behind_router(router_kind kind, const inner_network& of,
                  std::shared_ptr<std::FILE>& daemon) {
  auto inside = make_inner();
  if (!inside)
    return inside;
  if (!feed("ip -batch -", "addr add " + of.router + "/24 dev lan\n"))
    return failure{"ip: the inner address of a router"};
  const auto maps = kind == router_kind::upnp && has_port_mapper();
  if (!feed("nft -f -", rules_of(kind, of.host, maps)))
    return failure{"nft: address translation, which needs nftables"};
  if (maps)
    daemon = start_port_mapper(of);
  if (!write_setting("/proc/sys/net/ipv4/ip_forward", "1"))
    return failure{"/proc/sys/net/ipv4/ip_forward"};
  know_connections_alone();
  if (::setns(inside->get(), CLONE_NEWNET) != 0
      || !feed("ip -batch -", "link set lo up\naddr add " + of.host
                                  + "/24 dev wan\nlink set wan up\n"
                                    "route add default via "
                                  + of.router + "\n"))
    return failure{"ip: the interface of a home"};
  return inside;
}

/// What a carrier's NAT64 lets through: what its customer has dialled. What it
/// translates gets longer by 20 bytes.
const char* const nat64_rules = R"(table inet home {
  chain leaving {
    type nat hook postrouting priority 100
    oifname "wan" ip saddr 192.168.255.0/24 masquerade
  }
  chain through {
    type filter hook forward priority 0; policy drop
    tcp flags syn tcp option maxseg size set 1420
    ct state invalid drop
    ct state established,related accept
    iifname "lan" accept
    iifname "nat64" oifname "wan" accept
  }
}
)";

/// Starts it in this thread's namespaces, as `start_port_mapper` does.
/// @param home Whose packets it translates.
/// @param own An address of the carrier's, from which it sends errors.
std::shared_ptr<std::FILE> start_nat64(const std::string& home,
                                       const std::string& own) {
  const auto script = R"(PATH=$PATH:/usr/sbin:/sbin
tayga -n -c /dev/fd/3 3<<END >/dev/null 2>&1 &
tun-device nat64
ipv4-addr 192.168.255.1
ipv6-addr )" + own + R"(
prefix 64:ff9b::/96
map 192.168.255.2 )" + home
                      + R"(
END
daemon=$!
read end
kill -9 $daemon)";
  return {::popen(script.c_str(), "we"), [](auto* x) { x&& ::pclose(x); }};
}

/// The thread is in the carrier's namespace before, and in its customer's
/// afterwards. The well-known prefix (RFC 6052) stands for IPv4, so that nobody
/// has to look it up.
expected<file_descriptor> put_behind_nat64(std::uint32_t address,
                                           std::shared_ptr<std::FILE>& daemon) {
  auto inside = make_inner();
  if (!inside)
    return inside;
  const auto home = to_text(public_ipv6_address(address));
  auto carrier = public_ipv6_address(address);
  carrier.back() = 2;
  if (!write_setting("/proc/sys/net/ipv4/ip_forward", "1")
      || !write_setting("/proc/sys/net/ipv6/conf/all/forwarding", "1"))
    return failure{"/proc/sys/net: forwarding"};
  if (!feed("nft -f -", nat64_rules))
    return failure{"nft: address translation, which needs nftables"};
  know_connections_alone();
  if (!feed("ip -batch -", "tuntap add dev nat64 mode tun\nlink set nat64 up\n"
                           "route add 192.168.255.0/24 dev nat64\n"
                           "route add 64:ff9b::/96 dev nat64\n"
                           "route add ::/0 dev wan\n"
                           "addr add fe80::1/64 dev lan nodad\nroute add "
                               + home + "/128 dev lan\n"))
    return failure{"ip: the routes of a NAT64"};
  daemon = start_nat64(home, to_text(carrier));
  if (::setns(inside->get(), CLONE_NEWNET) != 0
      || !feed("ip -batch -", "link set lo up\naddr add " + home
                                  + "/128 dev wan nodad\nlink set wan up\n"
                                    "route add ::/0 via fe80::1 dev "
                                    "wan\n"))
    return failure{"ip: the interface of a home"};
  return inside;
}

} // namespace

bool has_port_mapper() {
  return feed("command -v miniupnpd", "");
}

bool has_nat64() {
  return feed("command -v tayga", "");
}

expected<namespace_host> namespace_host::make_ipv6_only(std::uint32_t address) {
  if (!has_nat64()) {
    auto result = make(address, versions::six);
    if (result && !feed("nft -f -", ipv6_rules))
      return failure{"nft: a firewall for IPv6, which needs nftables"};
    know_connections_alone();
    return result;
  }
  auto result = make(address);
  if (!result)
    return result;
  auto inside = put_behind_nat64(address, result->daemon_);
  if (!inside)
    return failure{inside.error()};
  result->carrier_ = std::exchange(result->space_, unwrap(std::move(inside)));
  result->speaks_ = versions::six;
  return result;
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
  for (const auto& x : routers_)
    // The kernel drops what it masquerades behind a device that goes down.
    if (::setns(x.get(), CLONE_NEWNET) != 0
        || !feed("ip -batch -", "link set wan down\nlink set wan up\n"))
      return false;
  return true;
}

bool namespace_host::move_to(std::uint32_t address) const {
  return !routers_.empty() && ::setns(routers_.front().get(), CLONE_NEWNET) == 0
         && feed("ip -batch -",
                 "addr flush dev wan\naddr add " + dotted(address) + "/"
                     + std::to_string(public_hosts_bits) + " dev wan\n");
}

} // namespace potluck::netlab
