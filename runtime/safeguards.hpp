/// The checks that the simulation must be able to miss: each can be taken away,
/// one at a time, to prove that a run without it fails (tests/simulation).
///
/// Only `potluck sim --without NAME` and tests take one away. The state is the
/// process's: set it before anything runs, and not while something does. All
/// are on by default, and no other command can change that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace potluck {

enum class safeguard : std::size_t {
  repeated_part,
  equal_digests,
  target_batch,
  frozen_gradient,
  batch_number,
  restart_gradient,
  group_ids,
  longer_history,
  piece_digest,
  naming,
  audit,
  checkpoint_sum,
  avoidance,
  finite_part,
  mean_parameters,
  group_majority,
  count, ///< How many there are.
};

struct safeguard_trait {
  safeguard which;
  std::string name;   ///< For `--without`: "repeated-part", ...
  std::string guards; ///< One line: what would happen without it.
};

constexpr std::size_t safeguard_count
    = static_cast<std::size_t>(safeguard::count);

/// In the order of `safeguard`.
const std::array<safeguard_trait, safeguard_count>& safeguards();

/// By its name; nothing when there is none.
std::optional<safeguard> safeguard_named(const std::string& name);

/// Which of the safeguards are there: all, but in a laboratory. Given to what
/// makes the checks when it is constructed, so that two peers of one process
/// may differ.
class safeguard_set {
public:
  /// Whether the check is to be made.
  bool has(safeguard x) const {
    return (away_ >> static_cast<unsigned>(x) & 1u) == 0;
  }
  safeguard_set without(safeguard x) const {
    auto result = *this;
    result.away_ |= 1u << static_cast<unsigned>(x);
    return result;
  }

private:
  std::uint32_t away_ = 0;
};

namespace detail {
extern std::array<bool, safeguard_count> safeguard_is_off;
}

/// Whether the check is to be made. Costs one load.
inline bool guarded(safeguard x) {
  return !detail::safeguard_is_off[static_cast<std::size_t>(x)];
}

/// Takes a safeguard away as long as it lives. Do NOT make one while actors
/// run: other threads read the state without a lock.
class without_safeguard {
public:
  explicit without_safeguard(safeguard x);
  ~without_safeguard();
  without_safeguard(const without_safeguard&) = delete;
  without_safeguard& operator=(const without_safeguard&) = delete;

private:
  safeguard which_;
  bool before_;
};

} // namespace potluck
