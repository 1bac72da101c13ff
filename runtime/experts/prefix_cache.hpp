/// What look-ups of prefixes found lately, for all calls of a layer.
///
/// An answer is believed for a few seconds. That there is nobody is not
/// remembered: hosts may just have arrived. Any thread may call.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clock.hpp"

namespace potluck {

class prefix_cache {
public:
  /// The coordinates that follow `prefix`, if they are known.
  std::optional<std::vector<std::uint32_t>> find(const std::string& prefix,
                                                 time_point now) const;

  void keep(const std::string& prefix, std::vector<std::uint32_t> coordinates,
            time_point now);

private:
  struct entry {
    std::vector<std::uint32_t> coordinates;
    time_point expires;
  };

  mutable std::mutex mutex_;
  std::map<std::string, entry> entries_;
};

} // namespace potluck
