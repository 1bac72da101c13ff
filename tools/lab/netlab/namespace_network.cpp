// Hosts as network namespaces, whose packets we pass on.

#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tools/lab/netlab/await_news.hpp"
#include "tools/lab/netlab/host_network.hpp"
#include "tools/lab/netlab/namespace_host.hpp"
#include "tools/lab/network/packet_network.hpp"
#include "tools/lab/network/public_hosts.hpp"

namespace potluck::netlab {

namespace {

using namespace std::chrono_literals;

/// On which a peer listens: each has an address of its own.
constexpr std::uint16_t usual_port = 7000;
/// Clocks are apart by so much at most.
constexpr double clock_range = 10.0 * 24 * 3600;
/// A packet that is passed on so much too late, because this machine was busy,
/// counts as late.
constexpr auto packet_lateness = 5ms;
/// Addresses of homes that moved come behind those of so many hosts.
constexpr std::size_t moved_hosts = 32768;
/// Packets taken from one host before the next has its turn.
constexpr int turn_packets = 64;

std::string text_of(const ipv6_address& x) {
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(AF_INET6, x.data(), text, sizeof(text));
}

/// The IPv4 address of the host that a packet is for; nothing when that is
/// nobody's, as with IPv6's announcements and broadcasts.
std::optional<std::uint32_t> receiver_of(const std::uint8_t* packet,
                                         std::size_t size) {
  if (size >= 20 && packet[0] >> 4 == 4) {
    std::uint32_t to = 0;
    std::memcpy(&to, packet + 16, sizeof(to));
    return ntohl(to);
  }
  if (size >= 40 && packet[0] >> 4 == 6) {
    ipv6_address to{};
    std::memcpy(to.data(), packet + 24, to.size());
    return public_owner_of(to);
  }
  return std::nullopt;
}

/// Calls `what` in a thread of its own, whose namespaces end with it.
void apart(const std::function<void()>& what) {
  std::thread{what}.join();
}

/// Whether children start at all with other clocks: kernels before 6.1 refuse.
bool clocks_can_shift() {
  bool result = false;
  apart([&] {
    if (!shift_clocks_of_children(1s))
      return;
    auto child = ::fork();
    if (child == 0)
      ::_exit(0);
    int status = 0;
    result = child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
  });
  return result;
}

using versions = namespace_host::versions;

class namespaces : public host_network {
public:
  explicit namespaces(std::uint64_t seed)
      : seed_(seed), network_(mix(seed, 1)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        clocks_shift_(clocks_can_shift()) {
    // Signals are for the others: their masks tell who awaits them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    carrier_ = std::thread{[this] { carry(); }};
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  ~namespaces() override {
    over_ = true;
    wake();
    carrier_.join();
  }

  bool carries_packets() const override {
    return true;
  }

  std::string about() const override {
    return std::string{"each peer is a host of its own, on an emulated "
                       "internet"}
           + (clocks_shift_ ? ", its clock days apart from the others'" : "");
  }

  expected<host> add(const access_line& line, router_kind router) override {
    const auto ip = public_host_address(hosts_.size());
    expected<namespace_host> made = failure{""};
    apart([&] { made = namespace_host::make_behind(router, ip); });
    if (!made)
      return failure{"A host cannot be made (" + made.error() + ")."};
    std::lock_guard guard{mutex_};
    hosts_.push_back(unwrap(std::move(made)));
    by_address_[ip] = hosts_.size() - 1;
    wake();
    return network_.add(ip, line);
  }

  std::string address_of(host x) const override {
    return hosts_[x].speaks() == versions::six ? ipv6_address_of(x)
                                               : dotted(ip_of(x));
  }

  std::string ipv6_address_of(host x) const override {
    return hosts_[x].speaks() == versions::four
               ? ""
               : text_of(public_ipv6_address(ip_of(x)));
  }

  expected<address> open(host x, std::uint16_t port) override {
    ports_[x] = port == 0 ? usual_port : port;
    return address{address_of(x), ports_[x]};
  }

  std::vector<std::string> words_of(host x) const override {
    auto listen = [&](const std::string& on) {
      return "--listen=" + to_string(address{on, ports_.at(x)});
    };
    // Behind a router its address is found out, as at home.
    if (hosts_[x].has_router() || hosts_[x].speaks() == versions::six)
      return {listen("::")};
    std::vector<std::string> result{listen(address_of(x))};
    if (hosts_[x].speaks() == versions::both)
      result.push_back(listen(ipv6_address_of(x)));
    return result;
  }

  bool enter(host x) const override {
    return hosts_[x].enter();
  }

  expected<bool> within(host x,
                        const std::function<expected<bool>()>& what) override {
    expected<bool> result = failure{"A host cannot be entered."};
    apart([&] {
      if (!enter(x))
        return;
      random_stream chance{mix(seed_, 2 + x)};
      auto ahead
          = std::chrono::duration<double>{clock_range * chance.uniform01()};
      if (clocks_shift_
          && !shift_clocks_of_children(
              std::chrono::duration_cast<duration>(ahead)))
        result = failure{"A clock cannot be shifted."};
      else
        result = what();
    });
    return result;
  }

  void set_line(host x, const access_line& line) override {
    std::lock_guard guard{mutex_};
    network_.lines().set_line(x, line);
  }

  expected<bool> link(host a, host b, const network_link& how) override {
    std::lock_guard guard{mutex_};
    if (how.blocked)
      network_.lines().block(a, b);
    network_.lines().limit(a, b, how.limit, how.delay);
    return true;
  }

  std::uint64_t part(const std::set<host>& side) override {
    std::lock_guard guard{mutex_};
    return network_.lines().part(side);
  }
  void reunite(std::uint64_t partition) override {
    std::lock_guard guard{mutex_};
    network_.lines().reunite(partition);
  }

  void cut(host x) override {
    std::lock_guard guard{mutex_};
    cut_ += network_.cut(now(), x);
    wake();
  }

  void reboot_router(host x) override {
    apart([&] { hosts_[x].reboot_routers(); });
  }

  void move_home(host x) override {
    if (!hosts_[x].has_router())
      return;
    std::uint32_t ip = 0;
    {
      std::lock_guard guard{mutex_};
      ip = public_host_address(moved_hosts + moves_++);
      for (auto i = by_address_.begin(); i != by_address_.end();)
        i = i->second == x ? by_address_.erase(i) : std::next(i);
      by_address_[ip] = x;
      network_.move(ip, x);
    }
    apart([&] { hosts_[x].move_to(ip); });
  }

  statistics totals() const override {
    std::lock_guard guard{mutex_};
    const auto x = network_.lines().totals();
    const auto late = passed_ == 0 ? 0
                                   : static_cast<double>(late_)
                                         / static_cast<double>(passed_);
    return {
        network_.connections(), x.bytes_sent, x.lost, x.corrupted, cut_, late};
  }

  std::optional<line_counters> counters_of(host x) const override {
    std::lock_guard guard{mutex_};
    return network_.lines().of(x);
  }

private:
  /// Of its line, by IPv4, whether or not it speaks that.
  std::uint32_t ip_of(host x) const {
    std::lock_guard guard{mutex_};
    for (const auto& [ip, owner] : by_address_)
      if (owner == x)
        return ip;
    return 0;
  }

  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] auto size = ::write(wake_.get(), &one, sizeof(one));
  }

  // ---- in the carrier's thread

  void carry() {
    // Packets leave when they are due, where we may before the peers' work.
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    sched_param first{};
    first.sched_priority = 1;
    [[maybe_unused]] auto ahead = ::sched_setscheduler(0, SCHED_RR, &first);
    std::vector<pollfd> waits;
    while (!over_) {
      std::optional<time_point> due;
      {
        std::lock_guard guard{mutex_};
        due = pass_on();
        waits.assign(1, {wake_.get(), POLLIN, 0});
        for (const auto& x : hosts_)
          waits.push_back({x.line(), POLLIN, 0});
      }
      await_news(waits, due);
      std::uint64_t ignored = 0;
      if (waits[0].revents != 0) [[maybe_unused]]
        auto size = ::read(waits[0].fd, &ignored, sizeof(ignored));
    }
  }

  /// Passes on what is there. When something will be due.
  std::optional<time_point> pass_on() {
    hand_over(); // First, so that lateness is seen.
    for (host i = 0; i < hosts_.size(); ++i)
      take(i);
    hand_over();
    return network_.next();
  }

  void take(host from) {
    std::uint8_t buffer[namespace_host::packet_bytes + 64];
    for (int i = 0; i < turn_packets; ++i) {
      auto size = ::read(hosts_[from].line(), buffer, sizeof(buffer));
      if (size <= 0)
        return;
      const auto to = receiver_of(buffer, static_cast<std::size_t>(size));
      auto receiver = to ? by_address_.find(*to) : by_address_.end();
      if (receiver != by_address_.end())
        network_.send(now(), {from, receiver->second, {buffer, buffer + size}});
    }
  }

  void hand_over() {
    auto due = network_.next();
    auto at = now();
    if (!due || *due > at)
      return;
    // What never had to wait, a reset for example, cannot be late.
    bool late = at - *due > packet_lateness && *due != time_point{};
    for (const auto& x : network_.arrived(at)) {
      ++passed_;
      late_ += late;
      // What the kernel does not take is lost, as in a real one.
      [[maybe_unused]] auto size
          = ::write(hosts_[x.to].line(), x.bytes.data(), x.bytes.size());
    }
  }

  const std::uint64_t seed_;
  mutable std::mutex mutex_; ///< Of what follows, as far as it changes.
  packet_network network_;
  std::deque<namespace_host> hosts_;
  std::map<std::uint32_t, host> by_address_;
  std::size_t moves_ = 0; ///< Of homes to other addresses.
  std::uint64_t cut_ = 0, passed_ = 0, late_ = 0;
  std::map<host, std::uint16_t> ports_;
  file_descriptor wake_;
  const bool clocks_shift_;
  std::atomic<bool> over_{false};
  std::thread carrier_;
};

} // namespace

expected<std::unique_ptr<host_network>> make_namespaces(std::uint64_t seed) {
  if (auto root = become_root_inside(); !root)
    return failure{root.error()};
  expected<namespace_host> trial = failure{""};
  apart([&] { trial = namespace_host::make(public_host_address(0)); });
  if (!trial)
    return failure{trial.error()};
  return std::unique_ptr<host_network>{std::make_unique<namespaces>(seed)};
}

expected<bool> try_routers(router_kind kind) {
  expected<namespace_host> trial = failure{""};
  apart([&] {
    trial = namespace_host::make_behind(kind, public_host_address(0));
  });
  if (!trial)
    return failure{trial.error()};
  return true;
}

} // namespace potluck::netlab
