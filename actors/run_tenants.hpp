/// The tenants of a bootstrap peer: auxiliary peers that average for runs, each
/// in one run, behind the bootstrap's own port (runtime/uv/faces.hpp).
///
/// Stands beside the bootstrap peer, which tells it who comes and goes and
/// where others reach both (`peer_config::beside`). For whom there is one
/// `tenancy` says, and how much may pass in a month `traffic_allowance`.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "actors/peer.hpp"
#include "runtime/lines/traffic_allowance.hpp"
#include "runtime/membership/tenancy.hpp"

namespace potluck::limits {

/// How often it looks whether a tenant is to begin or to end.
constexpr auto tenants_interval = 1s;

} // namespace potluck::limits

namespace potluck {

/// A tenant's peer is over, as its observer has heard.
struct tenant_over {
  std::string run;
  std::string problem; ///< Empty: the run is finished.
};

/// A tenant has completed a round.
struct tenant_worked {
  std::string run;
};

using run_tenants_actor
    = caf::typed_actor<caf::reacts_to<peer_joined>, caf::reacts_to<peer_left>,
                       caf::reacts_to<reachable_at>,
                       caf::reacts_to<tenant_over>,
                       caf::reacts_to<tenant_worked>, caf::reacts_to<leave_run>,
                       caf::reacts_to<tick>>;

struct run_tenants_config {
  tenancy::rules rules;
  /// The peer for a run.
  /// @param where Others reach the bootstrap, and its tenants; an empty host:
  ///     nobody has said.
  std::function<peer_config(const std::string& run, const address& where)> make;
  /// What they may hold together; null: as much as they need.
  std::shared_ptr<memory_allowance> memory;
  /// Of all that passes here; none: as much as it takes.
  std::optional<traffic_allowance> allowance;
  /// Bytes so far, of both directions.
  std::function<std::uint64_t()> traffic;
  std::function<std::int64_t()> unix_seconds;
  /// Becomes whether the month's traffic is used up.
  std::shared_ptr<std::atomic<bool>> used_up
      = std::make_shared<std::atomic<bool>>(false);
};

class run_tenants_state {
public:
  void init(run_tenants_actor::pointer self,
            std::pair<run_tenants_config, observer_actor> config);

  void on(const peer_joined& x);
  void on(const peer_left& x);
  void on(const reachable_at& x);
  void on(const tenant_over& x);
  void on(const tenant_worked& x);
  void on(const leave_run& x);
  void on(const tick&);
  void on_down(const caf::down_msg& x);

private:
  struct tenant {
    peer_id id;
    peer_actor peer;
    observer_actor observer;
    bool finished = false; ///< Its run.
    std::string reason;    ///< Of its end.
  };

  void begin(const std::string& run);
  void end(const std::string& run, const std::string& reason);
  void look_at_traffic();
  void say(const std::string& sentence);

  run_tenants_actor::pointer self_ = nullptr;
  run_tenants_config config_;
  observer_actor observer_;
  std::optional<tenancy> tenancy_;
  std::map<std::string, tenant> tenants_;
  address where_; ///< Others reach them, as far as anybody has said.
  traffic_allowance::standing traffic_ = traffic_allowance::standing::ample;
  bool leaving_ = false;
};

/// Ends when it is told to leave and the tenants have.
run_tenants_actor spawn_run_tenants(caf::actor_system& system,
                                    run_tenants_config config,
                                    observer_actor observer);

} // namespace potluck

POTLUCK_LOCAL_MESSAGE(tenant_over)
POTLUCK_LOCAL_MESSAGE(tenant_worked)
