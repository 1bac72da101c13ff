/// Virtual time: what is to be done when.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>

#include "runtime/clock.hpp"

namespace potluck {

class sim_agenda {
public:
  duration now() const {
    return now_;
  }
  /// Where deeds of a turn are done, which may be earlier than others' were.
  void set_now(duration x) {
    now_ = x;
  }

  /// Things are done in order of time, then of being asked for.
  void later(duration when, std::function<void()> what);

  /// When the next thing is to be done; nothing when none is.
  std::optional<duration> next() const;

  /// Does what is to be done until `end`, and what comes up meanwhile. Returns
  /// how many things there were.
  std::size_t run_until(duration end);

  /// Forgets everything: it holds connections, and those hold hosts.
  void clear() {
    due_ = {};
  }

private:
  struct task {
    duration at;
    std::uint64_t sequence;
    std::function<void()> run;

    friend bool operator<(const task& a, const task& b) {
      return a.at != b.at ? a.at > b.at : a.sequence > b.sequence;
    }
  };

  duration now_{0};
  std::uint64_t sequence_ = 0;
  std::priority_queue<task> due_;
};

} // namespace potluck
