/// The cell: how this trainer takes part when there are more than average in
/// one group (runtime/ways/cells).
///
/// Chooses between member and contributor and tells the roster whom to be
/// connected with. As a sponsor it asks contributors for their gradients when
/// the conductor wants them, and passes whole ones on; as a contributor it
/// sends what the conductor hands over.
#pragma once

#include <map>
#include <set>

#include "actors/handles.hpp"
#include "runtime/membership/deadline_estimator.hpp"
#include "runtime/step/credit.hpp"
#include "runtime/ways/cells/cell_choice.hpp"
#include "runtime/ways/cells/mean_chain.hpp"

namespace potluck::limits {

using namespace std::chrono_literals;

/// Between two looks at who averages and who contributes: choices by chance
/// settle slowly enough for news of them to spread.
constexpr auto cell_interval = 1s;
/// Before the first choice: the roster tells a new actor what it knows.
constexpr auto cell_beginning = 100ms;
/// Between two looks while contributions are being gathered: their deadlines.
constexpr auto gathering_interval = 250ms;
/// For a contribution, before any of its sender was observed; then from those.
/// A batch under way and a gradient over a household's uplink.
constexpr auto contribution_patience = 10s;
constexpr auto contribution_floor = 2s;
constexpr auto contribution_cap = 20s;
/// Keys cost nothing, so all contributors that brought nothing when they were
/// asked last may keep a sponsor waiting for so long at once, and a tenth of
/// the time. Then it asks none of them until there is time for one.
constexpr auto vain_gathering = 20s;
constexpr int vain_gathering_share = 10;

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
  /// Asks whom it is time to ask; ends the gathering when nobody is left.
  void go_on();
  void answer(const peer_id& to, std::uint64_t number, bool accepted,
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
  std::uint64_t requests_ = 0;
  std::optional<gathering> gathering_;
  clock_time began_;           ///< The gathering.
  duration lines_patience_{0}; ///< For what its gradients take on the way.
  std::map<peer_id, clock_time> asked_at_;
  std::set<peer_id> gave_; ///< When they were asked last.
  /// Time for which all others together may be waited for in vain.
  credit in_vain_{limits::vain_gathering, limits::vain_gathering_share};
  clock_time charged_until_;            ///< What it has cost of this gathering.
  std::map<peer_id, packing> packings_; ///< Of their contributions.
  std::map<peer_id, chain_place> chains_;
  std::map<peer_id, contact> better_;
  /// Passed to the conductor, which has not said yet; with their requests.
  std::map<peer_id, std::uint64_t> passed_on_;
  /// From a request to the last chunk.
  deadline_estimator contributions_{{limits::contribution_floor,
                                     limits::contribution_cap,
                                     limits::contribution_patience}};
};

cell_actor::behavior_type cell(cell_actor::stateful_pointer<cell_state> self,
                               cell_config config);

} // namespace potluck
