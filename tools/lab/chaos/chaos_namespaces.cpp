// Peers on hosts of their own, whose packets we pass on.

#include <atomic>
#include <csignal>
#include <deque>
#include <mutex>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

#include "tools/lab/chaos/chaos_network.hpp"
#include "tools/lab/child_process.hpp"
#include "tools/lab/netlab/await_news.hpp"
#include "tools/lab/netlab/packet_carrier.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;
using netlab::namespace_host;

/// On which every peer listens: each has an address of its own.
constexpr std::uint16_t port = 7000;
/// Clocks are apart by so much at most.
constexpr double clock_range = 10.0 * 24 * 3600;

time_point now() {
  return std::chrono::steady_clock::now();
}

/// Calls `what` in a thread of its own, whose namespaces end with it.
void apart(const std::function<void()>& what) {
  std::thread{what}.join();
}

/// Whether children start at all with other clocks: kernels before 6.1 refuse.
bool clocks_can_shift() {
  bool result = false;
  apart([&] {
    if (!netlab::shift_clocks_of_children(1s))
      return;
    auto family = child_group::make();
    result = static_cast<bool>(family);
  });
  return result;
}

class namespaces : public chaos_network {
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

  expected<address> add(machine x) override {
    const auto ip = netlab::host_address(x);
    expected<namespace_host> made = failure{""};
    apart([&] { made = namespace_host::make(ip); });
    if (!made)
      return failure{"A host cannot be made (" + made.error() + ")."};
    {
      std::lock_guard guard{mutex_};
      network_.add(ip);
      hosts_.push_back(std::move(*made));
    }
    wake();
    return address{netlab::dotted(ip), port};
  }

  std::vector<std::string> words_of(machine x) const override {
    return {
        "--listen="
        + to_string(address{netlab::dotted(netlab::host_address(x)), port})};
  }

  expected<bool> within(machine x,
                        const std::function<expected<bool>()>& what) override {
    expected<bool> result = failure{"A host cannot be entered."};
    apart([&] {
      if (!hosts_[x].enter())
        return;
      random_stream chance{mix(seed_, 2 + x)};
      auto ahead
          = std::chrono::duration<double>{clock_range * chance.uniform01()};
      if (clocks_shift_
          && !netlab::shift_clocks_of_children(
              std::chrono::duration_cast<duration>(ahead)))
        result = failure{"A clock cannot be shifted."};
      else
        result = what();
    });
    return result;
  }

  void set_line(machine x, const access_line& line,
                const line_faults& faults) override {
    std::lock_guard guard{mutex_};
    network_.set_line(x, line, faults);
  }

  std::uint64_t part(std::set<machine> side) override {
    std::lock_guard guard{mutex_};
    return network_.part(std::move(side));
  }
  void reunite(std::uint64_t partition) override {
    std::lock_guard guard{mutex_};
    network_.reunite(partition);
  }

  void cut(machine x) override {
    {
      std::lock_guard guard{mutex_};
      network_.cut(now(), x);
    }
    wake();
  }

  statistics totals() const override {
    std::lock_guard guard{mutex_};
    const auto& x = network_.totals();
    return {x.connections, x.bytes, x.lost,
            x.corrupted,   x.cut,   packets_.late_share()};
  }

private:
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
        due = packets_.step();
        waits.assign(1, {wake_.get(), POLLIN, 0});
        for (const auto& x : hosts_)
          waits.push_back({x.line(), POLLIN, 0});
      }
      netlab::await_news(waits, due);
      std::uint64_t ignored = 0;
      if (waits[0].revents != 0) [[maybe_unused]]
        auto size = ::read(waits[0].fd, &ignored, sizeof(ignored));
    }
  }

  const std::uint64_t seed_;
  mutable std::mutex mutex_; ///< Of what follows, as far as it changes.
  faulty_network network_;
  std::deque<namespace_host> hosts_;
  netlab::packet_carrier<faulty_network, std::deque<namespace_host>> packets_{
      network_, hosts_};
  file_descriptor wake_;
  const bool clocks_shift_;
  std::atomic<bool> over_{false};
  std::thread carrier_;
};

} // namespace

expected<std::unique_ptr<chaos_network>>
make_namespace_network(std::uint64_t seed) {
  if (auto root = netlab::become_root_inside(); !root)
    return failure{root.error()};
  expected<namespace_host> trial = failure{""};
  apart([&] { trial = namespace_host::make(netlab::host_address(0)); });
  if (!trial)
    return failure{trial.error()};
  return std::unique_ptr<chaos_network>{std::make_unique<namespaces>(seed)};
}

} // namespace potluck::tools
