/// Ports are asked for, renewed and closed, whatever the router does.
#include "runtime/portmap/mapping_keeper.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

constexpr auto patience = 10s;

/// A router, as one protocol sees it.
struct fake_router {
  std::mutex mutex;
  std::condition_variable changed;
  port_mapping answer{{"203.0.113.1", 4000}, 20s, "a fake", ""};
  int asked = 0;
  int closed = 0;
  std::set<std::uint16_t> ports; ///< That are open.
  std::chrono::milliseconds takes{0};

  void refuses(const std::string& why) {
    std::lock_guard<std::mutex> lock{mutex};
    answer = {{}, {}, "a fake", why};
  }
  bool wait_until_asked(int times) {
    std::unique_lock<std::mutex> lock{mutex};
    return changed.wait_for(lock, patience, [&] { return asked >= times; });
  }
};

class opener_of_fake : public port_opener {
public:
  explicit opener_of_fake(std::shared_ptr<fake_router> router)
      : router_(std::move(router)) {
  }
  port_mapping open(std::uint16_t port) override {
    std::unique_lock<std::mutex> lock{router_->mutex};
    ++router_->asked;
    router_->ports.insert(port);
    router_->changed.notify_all();
    const auto takes = router_->takes;
    auto answer = router_->answer;
    lock.unlock();
    std::this_thread::sleep_for(takes);
    return answer;
  }
  void close(std::uint16_t port) override {
    std::lock_guard<std::mutex> lock{router_->mutex};
    ++router_->closed;
    router_->ports.erase(port);
  }

private:
  std::shared_ptr<fake_router> router_;
};

/// What a listener heard.
struct ear {
  port_mapper::listener listener() {
    return [this](const port_mapping& x) {
      std::lock_guard<std::mutex> lock{mutex};
      heard.push_back(x);
      changed.notify_all();
    };
  }
  port_mapping wait(std::size_t number) {
    std::unique_lock<std::mutex> lock{mutex};
    REQUIRE(changed.wait_for(lock, patience,
                             [&] { return heard.size() >= number; }));
    return heard[number - 1];
  }
  std::size_t count() {
    std::lock_guard<std::mutex> lock{mutex};
    return heard.size();
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<port_mapping> heard;
};

struct scene {
  scene() {
    std::vector<std::unique_ptr<port_opener>> all;
    all.push_back(std::make_unique<opener_of_fake>(first));
    all.push_back(std::make_unique<opener_of_fake>(second));
    mapper = keep_mapping(std::move(all), 1ms); // Seconds are short.
  }
  std::shared_ptr<fake_router> first = std::make_shared<fake_router>();
  std::shared_ptr<fake_router> second = std::make_shared<fake_router>();
  ear heard;
  std::unique_ptr<port_mapper> mapper;
};

} // namespace

TEST_CASE("a port is opened, kept open, told once and closed at the end") {
  scene s;
  s.mapper->start(7000, s.heard.listener());
  CHECK(s.heard.wait(1).outside == address{"203.0.113.1", 4000});
  CHECK(s.first->wait_until_asked(4)); // Each half of its lease.
  CHECK(s.heard.count() == 1);
  CHECK(s.second->asked == 0);
  s.mapper.reset();
  CHECK(s.first->closed == 1);
  CHECK(s.second->closed == 0);
}

TEST_CASE("where one protocol fails the next one is asked") {
  scene s;
  s.first->refuses("speaks another language");
  s.mapper->start(7000, s.heard.listener());
  CHECK(s.heard.wait(1).outside.port == 4000);
  CHECK(s.second->asked >= 1);
  // A router that changes its mind is news, too.
  s.second->refuses("has enough");
  CHECK(s.heard.wait(2).outside.port == 0);
  CHECK(s.heard.wait(2).problem == "has enough; speaks another language");
  s.mapper.reset();
  CHECK(s.second->closed == 0); // It has closed the port itself.
}

TEST_CASE("another listener hears how things are") {
  scene s;
  s.mapper->start(7000, s.heard.listener());
  s.heard.wait(1);
  ear other;
  s.mapper->start(7000, other.listener());
  CHECK(other.wait(1).outside.port == 4000);
}

TEST_CASE("a router that has forgotten the port is asked anew") {
  scene s;
  s.first->answer.lease = 2000s * 1000; // As good as for ever.
  s.mapper->start(7000, s.heard.listener());
  s.heard.wait(1);
  s.mapper->start(7000, s.heard.listener());
  CHECK(s.first->wait_until_asked(2));
}

TEST_CASE("a peer that listens elsewhere gets that port opened instead") {
  scene s;
  s.first->answer.lease = 2000s * 1000; // As good as for ever.
  s.mapper->start(7000, s.heard.listener());
  s.heard.wait(1);
  s.mapper->start(7001, s.heard.listener());
  CHECK(s.heard.wait(2).outside.port == 4000);
  CHECK(s.first->ports == std::set<std::uint16_t>{7001});
  s.mapper.reset();
  CHECK(s.first->ports.empty());
}

TEST_CASE("a mapper that was never used ends at once") {
  scene s;
  s.mapper.reset();
  CHECK(s.first->asked == 0);
}

TEST_CASE("a router that does not answer does not hold up the end") {
  scene s;
  s.first->takes = 5s;
  std::atomic<bool> told{false};
  s.mapper->start(7000, [&](const port_mapping&) { told = true; });
  REQUIRE(s.first->wait_until_asked(1));
  const auto begin = clock_type::now();
  s.mapper.reset();
  CHECK(clock_type::now() - begin < closing_patience + 1s);
  CHECK_FALSE(told);
}
