#include "actors/run_tenants.hpp"

#include <algorithm>
#include <utility>

#include "actors/behavior.hpp"
#include "runtime/dialable.hpp"
#include "runtime/strangers/home_of.hpp"

namespace potluck {

namespace {

const std::pair<std::string, event::value> committed{"outcome",
                                                     std::string{"committed"}};

/// Passes on what a tenant's peer says, with the name of its run.
class tenant_observer_state {
public:
  struct config {
    std::string run;
    run_tenants_actor keeper;
    observer_actor observer;
  };

  void init(observer_actor::pointer self, config c) {
    self_ = self;
    config_ = std::move(c);
  }
  void on(const event& x) {
    // Who comes and goes here the bootstrap says as well.
    if (x.name == "listening" || x.name == "join" || x.name == "departure")
      return;
    if (x.name == "round"
        && std::count(x.fields.begin(), x.fields.end(), committed) != 0)
      self_->send(config_.keeper, tenant_worked{config_.run});
    auto told = x;
    auto names_run = [](auto& field) { return field.first == "run"; };
    if (std::none_of(x.fields.begin(), x.fields.end(), names_run))
      told.fields.insert(told.fields.begin(), {"run", config_.run});
    self_->send(config_.observer, std::move(told));
  }
  void on(const run_status&) {
  }
  void on(const peer_over& x) {
    self_->send(config_.keeper, tenant_over{config_.run, x.problem});
  }

private:
  observer_actor::pointer self_ = nullptr;
  config config_;
};

observer_actor::behavior_type
tenant_observer(observer_actor::stateful_pointer<tenant_observer_state> self,
                tenant_observer_state::config config) {
  return behave<observer_actor, tenant_observer_state>(self, std::move(config));
}

run_tenants_actor::behavior_type
run_tenants(run_tenants_actor::stateful_pointer<run_tenants_state> self,
            std::pair<run_tenants_config, observer_actor> config) {
  return behave<run_tenants_actor, run_tenants_state>(self, std::move(config));
}

} // namespace

run_tenants_actor spawn_run_tenants(caf::actor_system& system,
                                    run_tenants_config config,
                                    observer_actor observer) {
  return system.spawn(run_tenants,
                      std::make_pair(std::move(config), std::move(observer)));
}

void run_tenants_state::init(
    run_tenants_actor::pointer self,
    std::pair<run_tenants_config, observer_actor> config) {
  self_ = self;
  config_ = std::move(config.first);
  observer_ = std::move(config.second);
  tenancy_.emplace(config_.rules);
  self_->send(self_, tick{});
}

void run_tenants_state::on(const peer_joined& x) {
  // Auxiliary peers of two bootstraps would keep each other here.
  if (x.role != role::trainer)
    return;
  // Who is in the house is no stranger.
  const auto& host = x.who.where.host;
  tenancy_->joined(x.who.id, x.run,
                   x.relayed         ? "of hubs"
                   : is_public(host) ? prefix_of(host)
                                     : "");
}

void run_tenants_state::on(const peer_left& x) {
  tenancy_->left(x.id, self_->clock().now());
}

void run_tenants_state::on(const reachable_at& x) {
  if (x.where.host.empty() || x.where == where_)
    return;
  where_ = x.where;
  tenancy_->move();
}

void run_tenants_state::on(const tick&) {
  if (leaving_)
    return;
  look_at_traffic();
  const auto work = tenancy_->due(self_->clock().now());
  for (auto& [run, why] : work.end)
    end(run, why);
  for (auto& run : work.begin)
    begin(run);
  self_->delayed_send(self_, limits::tenants_interval, tick{});
}

void run_tenants_state::look_at_traffic() {
  if (!config_.allowance)
    return;
  auto& month = *config_.allowance;
  const auto now = month.observe(config_.traffic(), config_.unix_seconds());
  if (std::exchange(traffic_, now) == now)
    return;
  using standing = traffic_allowance::standing;
  tenancy_->pause(now == standing::used_up);
  *config_.used_up = now == standing::used_up;
  const auto gigabytes
      = std::to_string(static_cast<std::uint64_t>(month.bytes() / 1e9)) + " GB";
  say(now == standing::used_up
          ? "The month's traffic of " + gigabytes
                + " is used up: this peer averages for nobody and passes "
                  "nothing on until the month ends, and still introduces peers."
      : now == standing::nearly_used
          ? "Nine tenths of the month's traffic of " + gigabytes + " are used."
          : "A new month has begun, with " + gigabytes + " of traffic.");
}

void run_tenants_state::say(const std::string& sentence) {
  self_->send(observer_, event{"notice", {{"message", sentence}}});
}

void run_tenants_state::begin(const std::string& run) {
  auto config = config_.make(run, where_);
  tenant fresh;
  fresh.id = config.self;
  fresh.observer = self_->home_system().spawn(
      tenant_observer,
      tenant_observer_state::config{
          run, caf::actor_cast<run_tenants_actor>(self_), observer_});
  fresh.peer
      = spawn_peer(self_->home_system(), std::move(config), fresh.observer);
  self_->monitor(fresh.peer);
  self_->send(observer_, event{"tenant",
                               {{"run", run},
                                {"what", std::string{"joined"}},
                                {"peer", short_name(fresh.id)}}});
  tenants_[run] = std::move(fresh);
}

void run_tenants_state::end(const std::string& run, const std::string& reason) {
  auto& x = tenants_.at(run);
  x.reason = reason;
  self_->send(x.peer, leave_run{reason});
}

void run_tenants_state::on(const tenant_over& x) {
  const auto found = tenants_.find(x.run);
  if (found == tenants_.end() || !found->second.reason.empty())
    return;
  found->second.finished = x.problem.empty();
  end(x.run, x.problem.empty() ? "the run is finished" : x.problem);
}

void run_tenants_state::on(const tenant_worked& x) {
  tenancy_->worked(x.run, self_->clock().now());
}

void run_tenants_state::on(const leave_run& x) {
  leaving_ = true;
  for (auto& [run, t] : tenants_)
    if (t.reason.empty())
      end(run, x.reason);
  if (config_.allowance)
    if (auto saved = config_.allowance->save(); !saved)
      say(saved.error());
  if (tenants_.empty())
    self_->quit();
}

void run_tenants_state::on_down(const caf::down_msg& x) {
  const auto found
      = std::find_if(tenants_.begin(), tenants_.end(), [&](auto& t) {
          return t.second.peer.address() == x.source;
        });
  if (found == tenants_.end())
    return;
  const auto& [run, gone] = *found;
  self_->send_exit(gone.observer, caf::exit_reason::user_shutdown);
  if (config_.memory)
    config_.memory->release(gone.id);
  self_->send(
      observer_,
      event{"tenant",
            {{"run", run},
             {"what", std::string{"left"}},
             {"peer", short_name(gone.id)},
             {"reason", gone.reason.empty() ? cause_of(x) : gone.reason}}});
  tenancy_->ended(run, gone.finished, self_->clock().now());
  tenants_.erase(found);
  if (leaving_ && tenants_.empty())
    self_->quit();
}

} // namespace potluck
