/// What a peer waits for before its run begins, in words, at growing intervals.
/// Pure.
#pragma once

#include <optional>
#include <string>

#include "runtime/membership/run_witnesses.hpp"

namespace potluck {

class founding_wait {
public:
  /// What is waited for is said after this, and then after twice as long each
  /// time up to the cap.
  static constexpr duration first_word = std::chrono::seconds{5};
  static constexpr duration longest_silence = std::chrono::seconds{60};

  /// Where the peer stands.
  struct standing {
    /// Who has a charter, or is to have one before this peer; null: nobody.
    const run_witnesses::each::value_type* before_us = nullptr;
    bool had_lines = false;
    bool has_manifest = false; ///< Of a created run.
    bool can_found = false;
  };

  /// @param run As people see it. @param created By an organiser.
  founding_wait(std::string run, bool created)
      : run_(std::move(run)), created_(created) {
  }

  /// Whether others can dial this peer.
  void reachable(bool yes) {
    reachable_ = yes;
  }
  /// A sentence for a person, if it is time for one.
  std::optional<std::string> look(const standing& at,
                                  const run_witnesses& others, time_point now);
  /// It is over.
  void end() {
    brief_.clear();
  }
  /// In a few words; empty: for nothing, or not for long.
  const std::string& brief() const {
    return brief_;
  }

private:
  enum class cause {
    nothing,
    charter_there,
    its_turn,
    no_connection,
    no_founder
  };
  struct words {
    cause why = cause::nothing;
    std::string sentence;
    std::string brief;
  };
  words find(const standing& at, const run_witnesses& others) const;
  std::string reason(const run_witnesses::each::value_type& who,
                     const run_witnesses& others) const;
  std::string no_line(const run_witnesses::witness& x,
                      const run_witnesses& others) const;

  std::string run_;
  bool created_;
  bool reachable_ = true;
  cause why_ = cause::nothing;
  std::string brief_;
  time_point next_word_{};
  duration silence_{};
};

} // namespace potluck
