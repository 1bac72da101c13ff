/// Real address translation: two homes, each a network namespace behind a
/// router that is another, and a road between the routers that takes its time.
#ifdef __linux__
#include <atomic>
#include <cstdlib>
#include <deque>
#include <fcntl.h>
#include <functional>
#include <future>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <thread>

#include "tests/runtime/uv/tls_strangers.hpp"
#include "tests/support/skip.hpp"

using namespace potluck;
using namespace potluck::contract;
using namespace potluck::strangers;
using namespace std::chrono_literals;

namespace {

/// A network namespace, as long as its thread.
class place {
public:
  place() : thread_([this] { work(); }) {
    in([this] {
      made_ = ::unshare(CLONE_NEWNET) == 0;
      number_ = static_cast<int>(::syscall(SYS_gettid));
    });
  }
  ~place() {
    post(nullptr);
    thread_.join();
  }
  bool made() const {
    return made_;
  }
  /// For `ip link ... netns`.
  std::string number() const {
    return std::to_string(number_);
  }
  /// Runs it there, and waits. Sockets and threads that it makes stay there.
  void in(std::function<void()> what) {
    std::promise<void> done;
    post([&] {
      what();
      done.set_value();
    });
    done.get_future().wait();
  }
  /// Whether the shell's commands all succeed there.
  bool run(const std::string& commands) {
    int status = -1;
    in([&] {
      status
          = std::system(("exec 2>&1 >/dev/null; set -e\n" + commands).c_str());
    });
    return status == 0;
  }

private:
  void post(std::function<void()> what) {
    {
      std::lock_guard<std::mutex> lock{mutex_};
      tasks_.push_back(std::move(what));
    }
    changed_.notify_one();
  }
  void work() {
    for (;;) {
      std::unique_lock<std::mutex> lock{mutex_};
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      auto what = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      if (!what)
        return;
      what();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool made_ = false;
  int number_ = 0;
  std::thread thread_; // Last, for it uses the others.
};

/// Joins the devices `wan` of two places, and takes `distance` for each packet.
class road {
public:
  road(place& one, place& other, std::chrono::milliseconds distance)
      : ends_{open(one), open(other)}, distance_(distance),
        thread_([this] { carry(); }) {
  }
  ~road() {
    over_ = true;
    thread_.join();
    for (int x : ends_)
      close(x);
  }

private:
  static int open(place& in) {
    int result = -1;
    in.in([&] {
      result = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
      ifreq how{};
      how.ifr_flags = IFF_TUN | IFF_NO_PI;
      std::strcpy(how.ifr_name, "wan");
      if (result < 0 || ::ioctl(result, TUNSETIFF, &how) != 0)
        FAIL_CHECK("there is no device for packets");
    });
    return result;
  }
  void carry() {
    struct packet {
      std::chrono::steady_clock::time_point due;
      int to;
      std::string bytes;
    };
    std::deque<packet> waiting;
    while (!over_) {
      pollfd files[] = {{ends_[0], POLLIN, 0}, {ends_[1], POLLIN, 0}};
      ::poll(files, 2, 1);
      char bytes[2000];
      for (int from : {0, 1})
        for (ssize_t n; (n = ::read(ends_[from], bytes, sizeof(bytes))) > 0;)
          waiting.push_back({std::chrono::steady_clock::now() + distance_,
                             ends_[1 - from],
                             {bytes, static_cast<std::size_t>(n)}});
      while (!waiting.empty()
             && waiting.front().due <= std::chrono::steady_clock::now()) {
        const auto& x = waiting.front();
        if (::write(x.to, x.bytes.data(), x.bytes.size()) < 0) {
          // Lost.
        }
        waiting.pop_front();
      }
    }
  }
  const int ends_[2];
  const std::chrono::milliseconds distance_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

/// What a router does, in nft's words.
struct router_kind {
  std::string outward;          ///< With what leaves the home.
  std::string unasked = "drop"; ///< With what comes to nobody.
};
const router_kind keeps_ports{"masquerade"};
const router_kind changes_ports{"masquerade random"}; // For each connection.
const router_kind refuses{"masquerade", "reject with tcp reset"};

/// A home with a peer in it, at 192.168.1.2, behind a router.
struct home {
  /// @param seen The router's address outside.
  bool build(const std::string& seen, const router_kind& kind) {
    outside = {seen, 7000};
    return inside.run("ip link set lo up\n"
                      "ip link add eth type veth peer name lan netns "
                      + router.number()
                      + "\nip addr add 192.168.1.2/24 dev eth\n"
                        "ip link set eth up\n"
                        "ip route add default via 192.168.1.1\n")
           && router.run("ip addr add 192.168.1.1/24 dev lan\n"
                         "ip link set lan up\n"
                         "ip addr add "
                         + seen
                         + "/32 dev wan\n"
                           "ip link set wan up\n"
                           "ip route add default dev wan\n"
                           "echo 1 > /proc/sys/net/ipv4/ip_forward\n"
                           "nft -f - <<END\n"
                           "table ip router {\n"
                           "chain out {\n"
                           "type nat hook postrouting priority 100\n"
                           "oifname wan "
                         + kind.outward
                         + "\n}\n"
                           "chain own {\n"
                           "type filter hook input priority 0\n"
                         + kind.unasked
                         + "\n}\n"
                           "chain through {\n"
                           "type filter hook forward priority 0\n"
                           "policy drop\n"
                           "iifname lan accept\n"
                           "ct state established,related accept\n"
                           "}\n}\nEND\n")
           && inside.run("for look in $(seq 100); do\n"
                         "ip link show eth | grep -q 'state UP' && exit 0\n"
                         "sleep 0.1\ndone\nexit 1\n");
  }
  void settle() {
    inside.in([this] {
      auto how = secure();
      who = how.key->id();
      peer = std::make_unique<node>(make_uv_transport(how));
      CHECK(peer->net->listen({"::", 7000}));
      CHECK(peer->net->local_addresses()
            == std::vector<address>{{"192.168.1.2", 7000}});
    });
  }
  /// Whether this punch led to a peer.
  bool has_met(connection_id id, const home& far) {
    REQUIRE(peer->heard->wait(
        [&](auto& all) { return all[id].opened || all[id].closed > 0; }));
    return peer->heard->with(id, [&](auto& x) {
      return x.opened && x.proven == far.who && x.remote == far.outside;
    });
  }
  place inside, router;
  address outside;
  std::unique_ptr<node> peer;
  peer_id who;
};

/// Whether this machine lets us build such a thing; says why not.
bool possible() {
  place x;
  std::string why;
  if (!x.made())
    why = "only root makes network namespaces";
  else if (!x.run("ip link add eth type veth peer name other"))
    why = "ip makes no network devices";
  else if (!x.run("nft add table ip x"))
    why = "there is no nft (nftables), or the kernel has no address "
          "translation";
  else if (::access("/dev/net/tun", R_OK | W_OK) != 0)
    why = "there is no /dev/net/tun";
  if (!why.empty())
    support::skip(why);
  return why.empty();
}

/// Whether two homes with such routers get a connection when both punch, the
/// second one so much later.
bool punched(const router_kind& kind, std::chrono::milliseconds distance,
             std::chrono::milliseconds later) {
  home one, other;
  road between{one.router, other.router, distance};
  REQUIRE(one.build("198.51.100.1", kind));
  REQUIRE(other.build("203.0.113.1", kind));
  one.settle();
  other.settle();
  const auto a = one.peer->net->punch(other.outside, true);
  std::this_thread::sleep_for(later);
  const auto b = other.peer->net->punch(one.outside, false);
  const bool here = one.has_met(a, other);
  return other.has_met(b, one) && here;
}

} // namespace

TEST_CASE("holes open through two routers that keep ports, near and far") {
  if (!possible())
    return;
  for (auto distance : {0ms, 20ms, 200ms})
    for (auto later : {0ms, 20ms, 200ms}) {
      CAPTURE(distance.count());
      CAPTURE(later.count());
      CHECK(punched(keeps_ports, distance, later));
    }
}

TEST_CASE("holes open through routers that refuse what comes too early") {
  if (!possible())
    return;
  for (auto later : {0ms, 20ms, 200ms}) {
    CAPTURE(later.count());
    CHECK(punched(refuses, 20ms, later));
  }
}

TEST_CASE("no hole opens through two routers that change ports") {
  if (!possible())
    return;
  CHECK_FALSE(punched(changes_ports, 20ms, 0ms));
}

TEST_CASE("an IPv4 host is reached where only IPv6 is carried") {
  place x;
  if (!x.made())
    return support::skip("only root makes network namespaces");
  if (!x.run("ip link set lo up\n"
             "ip addr add 64:ff9b::203.0.113.7/128 dev lo nodad"))
    return support::skip("this machine has no IPv6");
  x.in([] {
    auto patient = secure(); // It looks for the network's prefix first.
    patient.dial_timeout = 15s;
    node server{make_uv_transport(secure())},
        client{make_uv_transport(patient)};
    const auto where = server.net->listen({"64:ff9b::203.0.113.7", 0});
    REQUIRE(where);
    bool routed = false; // The kernel may take a moment.
    for (int look = 0; look < 50 && !routed; ++look)
      routed = client.heard->wait_for_open(client.net->dial(*where));
    REQUIRE(routed);
    const auto id = client.net->dial({"203.0.113.7", where->port});
    const bool opened = client.heard->wait_for_open(id);
    CAPTURE(client.heard->with(id, [](auto& h) { return h.reason; }));
    CHECK(opened);
    const auto private_one = client.net->dial({"10.0.0.7", where->port});
    REQUIRE(client.heard->wait_for_close(private_one));
    CHECK(client.heard->with(private_one, [](auto& h) { return h.reason; })
              .find("network is unreachable")
          != std::string::npos);
  });
}
#endif
