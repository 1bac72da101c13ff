/// Virtual time of a simulation, and how machines take turns in it, alone or at
/// the same time (README.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <set>
#include <vector>

#include "tools/lab/network/sim_network.hpp"
#include "tools/lab/sim/crew.hpp"
#include "tools/lab/sim/machine.hpp"

namespace potluck::simulation {

class turns {
public:
  /// Hears what follows from turns; may touch machines.
  struct listener {
    /// A machine's peer ended in its turn; `left` of its actors did not.
    std::function<void(std::size_t number, std::size_t left)> ended;
    /// Nobody has anything to do at this moment.
    std::function<void()> rested;
  };

  /// @param spans Whether a turn lasts as long as nobody can hear of anybody
  /// else's; else it is a moment.
  /// @param threads That take turns at the same time.
  turns(sim_network& network, bool spans, unsigned threads);

  /// The next machine, which the network knows by the same number.
  void add(machine& x);

  /// Where the present span begins, or a deed is done.
  duration now() const {
    return now_;
  }
  std::uint64_t messages() const {
    return messages_; ///< That actors handled.
  }

  /// The machine has something to do at once.
  void touch(std::size_t number) {
    ready_.insert(number);
  }
  /// Does `deed` in its place among what the machine asks of the network.
  void note(std::size_t number, std::function<void()> deed) {
    network_.at(number).ask(std::move(deed));
  }
  /// Lines are not what they were.
  void lines_changed() {
    shortest_way_ = network_.shortest_way();
  }

  /// Moves on to the next moment at which anything is due, `latest` at most.
  void advance(duration latest);
  /// Lets everybody do what is due now; with spans, until shortly before `stop`
  /// at most.
  void work(duration stop, const listener& to);

private:
  /// Of one machine.
  struct seat {
    machine* box = nullptr;
    std::size_t handled = 0; ///< Messages, in its turn.
    std::optional<duration> wake;
    std::optional<std::size_t> left_over;
    /// When it wakes next; what else waits in `alarms_` is old.
    std::optional<duration> alarm;
  };
  using alarm = std::pair<duration, std::size_t>;

  void wake_those_due();
  void take_all(const std::vector<std::size_t>& numbers);
  void take_some(const std::vector<std::size_t>& numbers, std::size_t at,
                 std::size_t end);
  /// One machine's part of the present span.
  void take(std::size_t number);
  void conclude(std::size_t number, const listener& to);

  sim_network& network_;
  const bool spans_;
  crew crew_;
  std::vector<seat> seats_; ///< By number.
  duration now_{0};
  duration until_{0}; ///< Where the span ends: all up to then is done.
  duration from_{0};  ///< Where turns begin in it.
  duration shortest_way_{0};
  std::set<std::size_t> ready_; ///< Machines with work to do now.
  std::priority_queue<alarm, std::vector<alarm>, std::greater<alarm>> alarms_;
  std::uint64_t messages_ = 0;
};

} // namespace potluck::simulation
