/// What a stranger does beside keeping up its lines. Private to sim/, but for
/// its tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "tools/lab/sim/strangers/stranger.hpp"

namespace potluck::simulation {

/// Tries between two rounds of reports: at the usual rate one a second.
constexpr unsigned tries_a_report = 10;
/// No run gets there.
constexpr std::uint64_t absurd_step = 1'000'000'000;

class manner {
public:
  virtual ~manner() = default;

  /// Whether it says hello, and then answers heartbeats.
  virtual bool greets() const {
    return true;
  }
  /// Whether it reads what comes: else it speaks without having been greeted.
  virtual bool reads() const {
    return true;
  }
  virtual potluck::role role() const {
    return role::trainer;
  }
  virtual bool is_hub() const {
    return false;
  }
  /// It draws so many for each key that it uses: the one with the smallest id.
  virtual std::size_t keys_drawn() const {
    return 1;
  }

  /// Something can be said on that line from now on.
  virtual void opened(stranger&, stranger::line&) {
  }
  virtual void heard(stranger&, stranger::line&, const message&,
                     const incoming_frame&) {
  }
  /// As often as its rate says.
  virtual void tries(stranger&) {
  }
};

using owned_manner = std::unique_ptr<manner>;

/// Throws std::invalid_argument when there is no manner of that name.
owned_manner make_manner(const std::string& name);

/// Each is described by `stranger_manners()`.
using manner_makers = std::map<std::string, owned_manner (*)()>;

template <class Manner>
owned_manner make() {
  return std::make_unique<Manner>();
}

manner_makers false_states();
manner_makers false_words();
manner_makers idle_company();
manner_makers level_company();
manner_makers lying_records();
manner_makers spoilt_frames();
manner_makers uninvited_company();

} // namespace potluck::simulation
