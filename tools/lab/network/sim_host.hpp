/// One machine of the simulated network, as its programs see it: what it hands
/// them and when, and what they ask of the network.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/clock.hpp"
#include "tools/lab/network/home_router.hpp"

namespace potluck {

struct sim_endpoint;

class sim_host {
public:
  /// What a program asked for in its turn, and when.
  struct deed {
    duration at;
    std::function<void()> run;
  };

  sim_host(std::string name, std::size_t number)
      : name_{std::move(name)}, number_{number} {
  }

  const std::string& name() const {
    return name_;
  }
  std::size_t number() const {
    return number_;
  }

  // ---- what arrives

  /// Gives it to the program: now, in its next turn if it takes turns, or when
  /// the machine has thawed.
  void hand_over(duration now, bool takes_turns, std::function<void()> what);
  void freeze() {
    frozen_ = true;
  }
  bool frozen() const {
    return frozen_;
  }
  /// What has waited, in order; it is to be handed over again.
  std::deque<std::function<void()>> thaw();
  /// As `hand_over`, but before a deaf machine reads it.
  void keep_unread(std::function<void()> what) {
    unread_.push_back(std::move(what));
  }
  std::deque<std::function<void()>> take_unread() {
    return std::exchange(unread_, {});
  }
  /// Nobody is there to get any of it.
  void forget_mail();

  // ---- turns

  void begin_turn(duration now);
  /// Hands over what arrived by `at`.
  void deliver(duration at);
  /// When the next thing arrived that was not handed over.
  std::optional<duration> mail() const;
  void end_turn() {
    in_turn_ = false;
  }
  bool in_turn() const {
    return in_turn_;
  }
  /// Does it; in a turn, notes it.
  void ask(std::function<void()> what);
  std::vector<deed> take_deeds() {
    return std::exchange(deeds_, {});
  }

  // ---- who is there

  /// Transports, some of which may be gone.
  std::vector<std::weak_ptr<sim_endpoint>> endpoints;
  std::size_t running = 0; ///< Transports that are not stopped.
  /// A local port for a dial, another than the last ones.
  std::uint16_t fresh_port();
  /// Before it; null: others dial it by its name.
  std::shared_ptr<home_router> router;
  /// With whom it shares one of these it can have no connection.
  std::set<std::uint64_t> estrangements;

private:
  std::string name_;
  std::size_t number_;
  std::uint16_t last_port_ = 40000;
  bool frozen_ = false;
  bool in_turn_ = false;
  duration moment_{0}; ///< Of its turn.
  std::deque<std::function<void()>> frozen_mail_;
  std::deque<std::function<void()>> unread_;
  /// What waits for its turn, and since when.
  std::deque<std::pair<duration, std::function<void()>>> inbox_;
  std::vector<deed> deeds_;
};

} // namespace potluck
