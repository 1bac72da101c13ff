/// What each step promises by itself.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "tools/lab/judge/promise.hpp"

namespace potluck {

/// A step is made of the whole target batch; a step of redrawn groups, of which
/// each has a part of it, of one sample at least. Groups are redrawn only in a
/// run that does so.
class full_batches : public promise {
public:
  full_batches(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  std::string seen() const override {
    return "the least was " + std::to_string(least_);
  }

private:
  std::uint64_t target_batch_;
  bool redraws_;
  std::uint64_t least_ = 0;
};

/// A peer's steps follow each other, none twice and none left out, and its
/// history grows by what each of them counts. A download or a checkpoint begins
/// anew.
class steps_in_order : public promise {
public:
  steps_in_order(ledger& all, const terms& run);

  void told(const teller& who, duration at, const event& x) override;
  void resumed(std::size_t peer, std::uint64_t step, std::uint64_t history);
  void ended(const teller& who) override {
    peers_.erase(who.peer);
  }
  std::string seen() const override {
    return counted(steps_, "step") + " of all peers";
  }

private:
  struct record {
    std::optional<std::uint64_t> step;
    std::optional<std::uint64_t> history;
  };

  std::uint64_t target_batch_;
  std::map<std::size_t, record> peers_;
  std::size_t steps_ = 0;
};

} // namespace potluck
