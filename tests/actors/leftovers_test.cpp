/// Peers on the real transport: their threads and file descriptors end with
/// them, however they end.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <vector>

#include "actors/peer.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/await.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

std::size_t entries(const char* folder) {
  std::size_t count = 0;
  for (auto& x : std::filesystem::directory_iterator{folder}) {
    (void)x;
    ++count;
  }
  return count;
}
std::size_t threads() {
  return entries("/proc/self/task");
}
std::size_t descriptors() {
  return entries("/proc/self/fd");
}

uv_transport_options of(const key_pair& key) {
  uv_transport_options how;
  how.key = key;
  return how;
}

class deaf : public transport_listener {
public:
  void on_accepted(connection_id, const address&, const peer_id&) override {
  }
  void on_connected(connection_id, const address&, const peer_id&) override {
  }
  void on_frame(connection_id, incoming_frame) override {
  }
  void on_closed(connection_id, const std::string&) override {
  }
};

/// Peers in an actor system of their own, on loopback.
struct leftovers_street {
  leftovers_street() {
    config.set("scheduler.max-threads", 2);
    system = std::make_unique<caf::actor_system>(config);
    // The first loop of a process opens a pipe for signals, which libuv keeps.
    auto nobody = make_uv_transport(of(key_pair::generate()));
    nobody->start(std::make_shared<deaf>());
    nobody->stop();
    nobody.reset();
    threads_before = threads();
    descriptors_before = descriptors();
    // Ids come from keys, and of three the smallest one's owner reduces no
    // chunk. Every run shall have it in the same house: the second.
    for (int i = 0; i < 3; ++i)
      keys.push_back(key_pair::generate());
    auto smallest = std::min_element(
        keys.begin(), keys.end(),
        [](const auto& a, const auto& b) { return a.id() < b.id(); });
    std::iter_swap(smallest, keys.begin() + 1);
  }
  /// Actors of a failed test would keep its system waiting for ever.
  ~leftovers_street() {
    move_out();
  }

  struct house {
    nursery children;
    peer_actor it;
    std::unique_ptr<fake<observer_actor>> observer;

    address listens() const {
      auto told = (*observer)->events("listening");
      auto text = field<std::string>(told.front(), "address");
      auto colon = text.rfind(':');
      return {text.substr(0, colon),
              static_cast<std::uint16_t>(std::stoul(text.substr(colon + 1)))};
    }
    bool finished() const {
      return !(*observer)->events("finished").empty();
    }
    std::uint64_t step() const {
      auto steps = (*observer)->events("step");
      return steps.empty() ? 0 : field<std::uint64_t>(steps.back(), "step");
    }
    bool over() const {
      return (*observer)->count<peer_over>() != 0;
    }
  };

  peer_config settings(std::uint64_t steps) {
    auto number = static_cast<std::uint8_t>(houses.size() + 1);
    auto c = tiny_peer(unused, number, {}, steps);
    c.listen = {"127.0.0.1", 0};
    c.announce = {};
    auto key = houses.size() < keys.size() ? keys[houses.size()]
                                           : key_pair::generate();
    c.self = key.id();
    c.signs = signatures_of(key);
    c.make_transport = [key] { return make_uv_transport(of(key)); };
    c.batch_time
        = [](std::uint32_t samples) { return samples * duration{500us}; };
    return c;
  }
  house& move_in(peer_config c) {
    auto& h = *houses.emplace_back(std::make_unique<house>());
    h.observer = std::make_unique<fake<observer_actor>>(*system);
    c.child_started = h.children.witness();
    h.it = spawn_peer(*system, std::move(c), h.observer->handle);
    return h;
  }

  void move_out() {
    caf::scoped_actor waiter{*system};
    for (auto& h : houses) {
      h->children.forget();
      caf::anon_send(h->it, leave_run{"enough"});
      waiter->wait_for(h->it);
      h->it = nullptr;
      caf::anon_send_exit(h->observer->handle, caf::exit_reason::kill);
    }
    houses.clear();
  }

  void check_that_nothing_is_left() {
    move_out();
    // A thread is joined before it has left the kernel's list.
    support::await([&] { return threads() == threads_before; }, 10s);
    CHECK(threads() == threads_before);
    CHECK(descriptors() == descriptors_before);
    CHECK(
        support::await([&] { return system->registry().running() == 0; }, 10s));
  }

  memory_network unused;
  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  std::vector<std::unique_ptr<house>> houses;
  std::vector<key_pair> keys; ///< Of the first houses.
  std::size_t threads_before = 0;
  std::size_t descriptors_before = 0;
};

} // namespace

TEST_CASE("after crashes of every actor no thread and no socket is left") {
  leftovers_street x;
  auto& first = x.move_in(x.settings(60));
  REQUIRE(
      (*first.observer)
          ->wait(
              [&] { return !(*first.observer)->events("listening").empty(); },
              30s));
  for (int i = 0; i < 2; ++i) {
    auto c = x.settings(60);
    c.seeds.push_back(first.listens());
    x.move_in(std::move(c));
  }
  auto kinds = trainers_children;
  kinds.push_back("session");
  kinds.push_back("chunk_reducer");
  std::uint64_t step = 6;
  std::size_t whose = 0;
  for (auto& kind : kinds) {
    CAPTURE(kind);
    REQUIRE(
        support::await([&] { return x.houses[whose]->step() >= step; }, 60s));
    // Not everybody has everything: the second house reduces no chunk.
    for (int i = 0; i < 2 && x.houses[whose]->children.starts(kind) == 0; ++i)
      whose = (whose + 1) % 3;
    auto& children = x.houses[whose]->children;
    REQUIRE(children.starts(kind) > 0);
    children.kill(kind);
    whose = (whose + 1) % 3;
    step += 4;
  }
  for (auto& h : x.houses) {
    REQUIRE(support::await([&] { return h->over(); }, 90s));
    CHECK((*h->observer)->last<peer_over>().problem.empty());
    CHECK(h->finished());
  }
  x.check_that_nothing_is_left();
}

TEST_CASE("after failed starts no thread and no socket is left") {
  leftovers_street x;
  auto& first = x.move_in(x.settings(100'000));
  REQUIRE(
      (*first.observer)
          ->wait(
              [&] { return !(*first.observer)->events("listening").empty(); },
              30s));
  auto taken = x.settings(10);
  taken.listen = first.listens();
  auto& second = x.move_in(std::move(taken));
  auto starved = x.settings(10);
  starved.make_trainer = [](const charter&) -> std::unique_ptr<trainer> {
    throw std::bad_alloc{};
  };
  auto& third = x.move_in(std::move(starved));
  auto unheard = x.settings(10);
  unheard.make_transport
      = []() -> std::unique_ptr<transport> { throw std::bad_alloc{}; };
  auto& fourth = x.move_in(std::move(unheard));
  for (auto* h : {&second, &third, &fourth}) {
    REQUIRE(support::await([&] { return h->over(); }, 30s));
    CHECK_FALSE((*h->observer)->last<peer_over>().problem.empty());
  }
  CHECK_FALSE(first.over());
  x.check_that_nothing_is_left();
}
