#include "tools/lab/judge/promise.hpp"

#include "tools/lab/scenario/scenario.hpp"

namespace potluck {

namespace {

/// Enough to see what is wrong; a broken run would fill the memory.
constexpr std::size_t most_violations = 100;

} // namespace

void ledger::note(bool holds, duration at, const std::string& sentence) {
  ++checks_;
  if (!holds && violations_.size() < most_violations)
    violations_.push_back("at " + std::to_string(to_seconds(at))
                          + " s: " + sentence);
}

std::string counted(std::size_t n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

} // namespace potluck
