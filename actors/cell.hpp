/// The cell: how this trainer takes part when there are more than average in
/// one group (runtime/ways/cells).
///
/// Chooses between member and contributor and tells the roster whom to be
/// connected with. As a sponsor (runtime/ways/cells/sponsorship.hpp) it asks
/// contributors for their gradients when the conductor wants them, and passes
/// whole ones on; as a contributor it sends what the conductor hands over.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "actors/handles.hpp"
#include "runtime/ways/cells/cell_choice.hpp"
#include "runtime/ways/cells/mean_chain.hpp"
#include "runtime/ways/cells/sponsorship.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at who averages and who contributes: choices by chance
/// settle slowly enough for news of them to spread.
constexpr auto cell_interval = 1s;
/// Before the first choice: the roster tells a new actor what it knows.
constexpr auto cell_beginning = 100ms;

} // namespace potluck::limits

namespace potluck {

struct cell_config {
  peer_id self;
  charter agreed;
  std::uint64_t seed = 0;
};

class cell_state {
public:
  void init(cell_actor::pointer self, cell_config config);

  void on(const cell_handles& w);
  void on(const letter& x);
  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const report_heard& x);
  void on(const run_looked_up& x);
  void on(const gather_contributions& x);
  void on(const contribution_taken& x);
  void on(const hand_over& x);
  void on(const contributor_pace& x) {
    pace_ = x;
  }
  void on(const reach_known& x);
  void on(const averaged_without_us& x);
  void on(const deadline_passed&);
  void on(const tick&);

private:
  using clock_time = caf::actor_clock::time_point;

  /// Groups are drawn anew for every step (runtime/ways/moshpit), of whoever is
  /// connected: everybody averages.
  bool redraws() const {
    return config_.agreed.settings().redraws_groups();
  }
  std::size_t most_members() const;
  void read(const peer_id& from, const contribution_request& x);
  void read(const letter& x, const contribution_part& part);
  void read(const peer_id& from, const contribution_answer& x);
  /// For the first time, once it is known who is there.
  void choose_first();
  void choose();
  /// Where the sponsor says that it stands among its other contributors.
  void take_place(const contribution_request& x);
  void leave_chain();
  /// Tells the state keeper who is nearer to the sponsor, while it is here.
  void tell_relay();
  /// What is to be done as a sponsor.
  void carry_out(sponsorship::actions what);
  void carry_out(sponsorship::letter& x);
  void carry_out(sponsorship::whole& x);
  void carry_out(const sponsorship::refused& x);
  void carry_out(const sponsorship::done& x);
  /// The sponsor gets no gradient.
  void refuse(const peer_id& to, std::uint64_t number,
              const std::string& reason);

  cell_actor::pointer self_ = nullptr;
  cell_config config_;
  cell_handles wired_;
  std::optional<cell_choice> choice_;
  std::set<peer_id> connected_;
  std::set<peer_id> direct_; ///< Of these, by a line of their own.
  bool looked_up_ = false;   ///< The roster has told who is in the run.
  clock_time wired_at_;
  std::optional<cell_standing> told_;
  std::optional<links_wanted> wanted_;
  contributor_pace pace_;
  /// How the sponsor wants what it asked for last.
  packing wanted_as_ = packing::float32;
  chain_place place_; ///< In the sponsor's chains.
  contact advice_;    ///< The sponsor that the last one would rather see.
  peer_id told_relay_;
  std::optional<sponsorship> contributors_; ///< Of this peer, as a sponsor.
};

cell_actor::behavior_type cell(cell_actor::stateful_pointer<cell_state> self,
                               cell_config config);

} // namespace potluck
