/// What people call the safeguards that a simulation can do without.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "runtime/safeguards.hpp"

namespace potluck::simulation {

struct safeguard_trait {
  safeguard which;
  std::string name;   ///< For `--without`: "repeated-part", ...
  std::string guards; ///< One line: what holds because of it.
};

constexpr std::size_t safeguard_count
    = static_cast<std::size_t>(safeguard::count);

/// In the order of `safeguard`.
const std::array<safeguard_trait, safeguard_count>& safeguards();

/// By its name; nothing when there is none.
std::optional<safeguard> safeguard_named(const std::string& name);

} // namespace potluck::simulation
