/// What a stranger does beside keeping up its lines. Private to sim/, but for
/// its tests.
#pragma once

#include <cstdint>
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

// Each is described by `stranger_manners()`.
owned_manner make_finishers();
owned_manner make_impersonator();
owned_manner make_phantoms();
owned_manner make_names_others();
owned_manner make_sybils();
owned_manner make_long_history();
owned_manner make_far_step();
owned_manner make_idle();
owned_manner make_identities();
owned_manner make_auxiliaries();
owned_manner make_big_claim();
owned_manner make_never_leads();
owned_manner make_empty_handed();
owned_manner make_fresh_keys();
owned_manner make_false_leaders();
owned_manner make_turncoats();
owned_manner make_last_moment();
owned_manner make_unread();
owned_manner make_short_bodies();
owned_manner make_mutator();
owned_manner make_uninvited();
owned_manner make_calls_off();
owned_manner make_made_up_means();
owned_manner make_talks();
owned_manner make_commits();
owned_manner make_gives_up();
owned_manner make_freezes();
owned_manner make_trickles();

} // namespace potluck::simulation
