/// What callers remember of experts: what look-ups of prefixes found lately,
/// and who fails. Any thread may call.
///
/// An answer is believed for a few seconds. That there is nobody is not
/// remembered: hosts may just have arrived. An expert that fails five times in
/// a row is left alone for a second, then doubled with each further failure, as
/// if it were not announced; an answer clears it. Fewer failures say little
/// where calls fail by chance.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/experts/failing_hosts.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// A mixture of experts believes what prefixes lead to so long: short against
/// the life of an announcement, long against a training step.
constexpr auto expert_prefix_life = 3s;
/// Failures of one expert in a row until it is left alone: where one call in
/// ten fails by chance, a hundred thousand calls look so once.
constexpr unsigned expert_failures = 5;
/// Failing experts that a caller remembers: a grid of 256x256.
constexpr std::size_t experts_failing = 65536;

} // namespace potluck::limits

namespace potluck {

class expert_memory {
public:
  using coordinates = std::vector<std::uint32_t>;

  /// The coordinates that follow `prefix`, if they are known; without experts
  /// that are left alone.
  std::optional<coordinates> find(const std::string& prefix,
                                  time_point now) const;

  /// Remembers what a look-up found, and returns it without experts that are
  /// left alone.
  coordinates keep(const std::string& prefix, coordinates found,
                   time_point now);

  void answered(const std::string& uid);
  void failed(const std::string& uid, time_point now);

private:
  struct entry {
    coordinates found;
    time_point expires;
  };

  coordinates without_failing(const std::string& prefix, const coordinates& all,
                              time_point now) const;

  mutable std::mutex mutex_;
  std::map<std::string, entry> entries_;
  failing<std::string> failing_{limits::experts_failing,
                                limits::expert_failures};
};

} // namespace potluck
