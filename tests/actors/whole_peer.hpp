/// A whole peer with a tiny model, in virtual time or on threads.
#pragma once

#include <map>
#include <mutex>
#include <sstream>

#include "actors/peer.hpp"
#include "runtime/random.hpp"
#include "tests/support/test_world.hpp"
#include "tests/support/tiny_trainer.hpp"
#include "tools/lab/network/made_up_signatures.hpp"

namespace potluck {

/// Who was started last under which name. Any thread.
class nursery {
public:
  supervisor::witness witness() {
    return [this](const std::string& name, const caf::actor& child) {
      std::lock_guard<std::mutex> guard{mutex_};
      children_[name] = child;
      ++starts_[name];
    };
  }
  void kill(const std::string& name) {
    std::lock_guard<std::mutex> guard{mutex_};
    caf::anon_send_exit(children_.at(name), caf::exit_reason::kill);
  }
  template <class Message>
  void tell(const std::string& name, Message x) {
    std::lock_guard<std::mutex> guard{mutex_};
    caf::anon_send(children_.at(name), std::move(x));
  }
  int starts(const std::string& name) const {
    std::lock_guard<std::mutex> guard{mutex_};
    auto i = starts_.find(name);
    return i == starts_.end() ? 0 : i->second;
  }
  void forget() {
    std::lock_guard<std::mutex> guard{mutex_};
    children_.clear();
  }

private:
  mutable std::mutex mutex_;
  std::map<std::string, caf::actor> children_;
  std::map<std::string, int> starts_;
};

/// The names of a trainer's children, eldest first.
inline const std::vector<std::string> trainers_children{
    "gateway", "roster",      "router",   "registrar", "state_keeper",
    "compute", "matchmaking", "averager", "conductor"};

inline peer_config tiny_peer(memory_network& network, std::uint8_t number,
                             std::vector<std::uint8_t> seeds,
                             std::uint64_t steps, std::uint64_t seed = 1) {
  peer_config c;
  c.self = peer(number);
  c.signs = made_up(c.self);
  c.wall_clock = [&network] { return network.wall_ms(); };
  c.run = "soup";
  c.listen = {"0.0.0.0", 1000};
  c.announce = {host(number), 1000};
  for (auto x : seeds)
    c.seeds.push_back({host(x), 1000});
  c.make_transport = [&network, number] {
    return network.make_transport(host(number), peer(number));
  };
  c.make_trainer
      = [](const charter&) { return std::make_unique<tiny_trainer>(); };
  c.propose = [steps, seed] { return tiny_charter(steps, 64, seed); };
  c.seed = mix(seed, number);
  return c;
}

/// In virtual time.
struct whole_peer {
  whole_peer(test_world& world, peer_config config)
      : system(world.add_system()), observer(system.pretend<observer_actor>()),
        before((*system).registry().running()) {
    config.workers = worker_mode::immediate;
    if (!config.batch_time)
      config.batch_time
          = [](std::uint32_t samples) { return samples * duration{2000000}; };
    config.child_started = children.witness();
    it = spawn_peer(*system, std::move(config), observer.handle);
  }
  whole_peer(test_world& world, std::uint8_t number,
             std::vector<std::uint8_t> seeds, std::uint64_t steps)
      : whole_peer(world,
                   tiny_peer(world.network, number, std::move(seeds), steps)) {
  }
  /// Leaves when the test has not made it leave before.
  ~whole_peer() {
    leave();
    system.run();
    // A host of experts looks for others to take them; nobody answers here.
    for (int seconds = 0; seconds < 30 && (seconds == 0 || running() > 0);
         ++seconds) {
      system.advance(std::chrono::seconds{1});
      system.run();
    }
  }

  void leave() {
    children.forget();
    if (it)
      caf::anon_send(it, leave_run{"enough"});
    it = nullptr;
  }
  bool finished() const {
    return !observer->events("finished").empty();
  }
  bool over() const {
    return observer->count<peer_over>() != 0;
  }
  std::uint64_t step() const {
    auto steps = observer->events("step");
    return steps.empty() ? 0 : field<std::uint64_t>(steps.back(), "step");
  }
  /// Of the state that it finished with.
  std::string digest() const {
    auto all = observer->events("finished");
    return all.empty() ? "" : field<std::string>(all.back(), "digest");
  }
  /// Everything that it told its user.
  std::string log() const {
    std::ostringstream text;
    for (auto& x : observer->all<event>())
      text << to_json(x, 0) << '\n';
    return text.str();
  }
  /// Its actors that have not ended.
  std::size_t running() {
    return (*system).registry().running() - before;
  }

  test_system& system;
  fake<observer_actor> observer;
  std::size_t before;
  nursery children;
  peer_actor it;
};

} // namespace potluck
