#include "tools/lab/bench/averaging_member.hpp"

#include "actors/averager.hpp"
#include "actors/behavior.hpp"
#include "actors/gateway.hpp"
#include "actors/matchmaking.hpp"
#include "actors/roster.hpp"
#include "actors/router.hpp"
#include "actors/wiring.hpp"
#include "runtime/uv/uv_transport.hpp"
#include "runtime/uv/wall_clock.hpp"
#include "tools/lab/bench/averaging_conductor.hpp"

namespace potluck::bench {

namespace {

/// The observer of all of the member's actors: what goes wrong is said.
observer_actor::behavior_type watcher(observer_actor::pointer,
                                      std::ostream* out) {
  return {
      [out](const event& x) {
        if (x.name == "fault")
          *out << to_json(x, 0) << std::endl;
      },
      [](const run_status&) {},
      [out](const peer_over& x) {
        *out << to_json(event{"fault", {{"what", x.problem}}}, 0) << std::endl;
      }};
}

/// Takes the root's place: hears where the gateway listens.
class doorman_state {
public:
  void init(supervisor_actor::pointer, std::ostream* out) {
    out_ = out;
  }
  void on(const gateway_ready& x) {
    *out_ << to_json(event{"listening", {{"address", to_string(x.bound)}}}, 0)
          << std::endl;
  }
  template <class Other>
  void on(const Other&) {
  }

private:
  std::ostream* out_ = nullptr;
};

supervisor_actor::behavior_type
doorman(supervisor_actor::stateful_pointer<doorman_state> self,
        std::ostream* out) {
  return behave<supervisor_actor, doorman_state>(self, out);
}

/// One whose id follows those of all members with smaller numbers: peers tell
/// those with small ids first, since one of them leads.
key_pair key_of_member(std::uint32_t number) {
  for (;;) {
    auto key = key_pair::generate();
    if (key.id().bytes[0] / (256 / most_members) == number)
      return key;
  }
}

} // namespace

bool take_part(caf::actor_system& system, averaging_member_config config,
               std::ostream& out) {
  auto key = key_of_member(config.number);
  const auto& self = key.id();
  wiring wired;
  wired.observer = system.spawn(watcher, &out);
  wired.supervisor = system.spawn(doorman, &out);
  gateway_config door;
  door.introduction.id = self;
  door.introduction.run = run_name;
  door.listen = config.listen;
  door.make_transport = [key, insecure = config.insecure,
                         dial_from = config.dial_from, line = config.line] {
    uv_transport_options how;
    how.key = key;
    how.insecure = insecure;
    how.dial_from = dial_from;
    how.max_upload = line;
    how.max_download = line;
    return make_uv_transport(how);
  };
  auto intake = std::make_shared<round_intake>();
  door.intake = intake;
  door.supervisor = wired.supervisor;
  door.observer = wired.observer;
  wired.gateway = system.spawn(gateway, door);
  roster_config people;
  people.self = self;
  people.run = run_name;
  people.seeds = config.seeds;
  people.announce = config.announce;
  people.seed = config.number + 1;
  wired.roster = system.spawn(roster, people);
  wired.router
      = system.spawn(router, router_config{self, config.number + 1, false,
                                           signatures_of(key), wall_clock_ms});
  matchmaking_config groups;
  groups.self = self;
  groups.settings.target_batch = config.members;
  groups.settings.chunk_values = config.chunk_values;
  groups.settings.packing = to_string(config.packing);
  groups.settings.shares = to_string(config.rule);
  groups.seed = config.number + 1;
  auto awaited = std::make_shared<awaited_group>();
  groups.awaited = awaited;
  wired.matchmaking = system.spawn(matchmaking, groups);
  averager_config rounds;
  rounds.self = self;
  rounds.packing = config.packing;
  rounds.intake = intake;
  rounds.awaited = awaited;
  wired.averager = system.spawn(averager, rounds);
  auto result = std::make_shared<member_outcome>();
  result->problem = "ended before its rounds were done";
  wired.conductor = system.spawn(
      member, member_start{std::move(config), self, &out, result});
  caf::scoped_actor main{system};
  auto for_all = [&](auto what) {
    what(wired.gateway);
    what(wired.router);
    what(wired.matchmaking);
    what(wired.averager);
    what(wired.conductor);
    what(wired.roster); // Speaks to the others as soon as it can.
  };
  hand_out(wired, [&](auto& x, auto& handles) { main->send(x, handles); });
  main->wait_for(wired.conductor);
  main->send(wired.gateway, leave_run{"all rounds are done"});
  main->wait_for(wired.gateway);
  for_all(
      [&](auto& x) { main->send_exit(x, caf::exit_reason::user_shutdown); });
  main->send_exit(wired.observer, caf::exit_reason::user_shutdown);
  main->send_exit(wired.supervisor, caf::exit_reason::user_shutdown);
  return result->problem.empty();
}

} // namespace potluck::bench
