#include "runtime/portmap/mapping_keeper.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "runtime/portmap/nat_pmp.hpp"
#include "runtime/portmap/upnp.hpp"

namespace potluck {

namespace {

bool is_same(const port_mapping& a, const port_mapping& b) {
  return a.outside == b.outside && a.problem == b.problem;
}

/// What the thread works on; it holds it, since it may outlive the keeper.
struct work {
  std::vector<std::unique_ptr<port_opener>> protocols;
  std::chrono::milliseconds unit;

  std::mutex mutex;
  std::condition_variable changed;
  // All below is guarded.
  port_mapper::listener told;
  std::optional<port_mapping> last;
  std::uint16_t port = 0;
  bool anew = false; ///< Ask now.
  bool stopping = false;
  bool done = false;

  void run() {
    std::unique_lock<std::mutex> lock{mutex};
    port_opener* by = nullptr; ///< That opened a port,
    std::uint16_t of = 0;      ///< this one of the machine's.
    while (!stopping) {
      anew = false;
      const auto before = std::exchange(of, port);
      lock.unlock();
      if (by && before != of)
        by->close(before);
      auto is = ask(by, of);
      lock.lock();
      if (stopping)
        break;
      if (of != port)
        continue;
      const bool news = !last || !is_same(*last, is);
      last = is;
      if (news && told)
        told(is); // Within the lock: none comes after the end.
      const std::chrono::seconds pause
          = is.outside.port == 0
                ? std::chrono::seconds{mapping_pause}
                : std::max(std::chrono::seconds{1}, is.lease / 2);
      changed.wait_for(lock, pause.count() * unit,
                       [&] { return stopping || anew; });
    }
    lock.unlock();
    if (by)
      by->close(of);
    lock.lock();
    done = true;
    changed.notify_all();
  }

  /// @param by Which is asked first, since it did before; then, which did now.
  port_mapping ask(port_opener*& by, std::uint16_t local_port) {
    std::string problems;
    auto* before = std::exchange(by, nullptr);
    auto opens = [&](port_opener* x, port_mapping& is) {
      is = x->open(local_port);
      if (is.outside.port != 0)
        by = x;
      else
        problems += (problems.empty() ? "" : "; ") + is.problem;
      return by != nullptr;
    };
    port_mapping is;
    if (before && opens(before, is))
      return is;
    for (auto& x : protocols)
      if (x.get() != before && opens(x.get(), is))
        return is;
    return {{}, {}, "", problems.empty() ? "no protocol is known" : problems};
  }
};

class mapping_keeper final : public port_mapper {
public:
  mapping_keeper(std::vector<std::unique_ptr<port_opener>> protocols,
                 std::chrono::milliseconds unit)
      : work_(std::make_shared<work>()) {
    work_->protocols = std::move(protocols);
    work_->unit = unit;
  }

  ~mapping_keeper() override {
    std::unique_lock<std::mutex> lock{work_->mutex};
    work_->stopping = true;
    work_->told = nullptr;
    work_->changed.notify_all();
    if (started_)
      work_->changed.wait_for(lock, closing_patience,
                              [&] { return work_->done; });
  }

  void start(std::uint16_t local_port, listener told) override {
    std::lock_guard<std::mutex> lock{work_->mutex};
    work_->told = std::move(told);
    if (std::exchange(work_->port, local_port) != local_port)
      work_->last.reset(); // That was of another port.
    if (work_->last)
      work_->told(*work_->last);
    if (started_) {
      work_->anew = true;
      work_->changed.notify_all();
      return;
    }
    started_ = true;
    // Its own, since routers that do not answer must not hold up the end.
    std::thread{[x = work_] { x->run(); }}.detach();
  }

private:
  std::shared_ptr<work> work_;
  bool started_ = false;
};

} // namespace

std::unique_ptr<port_mapper>
keep_mapping(std::vector<std::unique_ptr<port_opener>> protocols,
             std::chrono::milliseconds unit) {
  return std::make_unique<mapping_keeper>(std::move(protocols), unit);
}

std::unique_ptr<port_mapper> make_port_mapper() {
  std::vector<std::unique_ptr<port_opener>> all;
  all.push_back(make_nat_pmp());
  all.push_back(make_upnp());
  return keep_mapping(std::move(all));
}

} // namespace potluck
