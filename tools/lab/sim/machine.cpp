#include "tools/lab/sim/machine.hpp"

#include <cmath>
#include <stdexcept>

#include <caf/logger.hpp>

#include "runtime/experts/replication_plan.hpp"
#include "tools/lab/network/forgery.hpp"

namespace potluck::simulation {

namespace {

/// Messages in a row without time passing: far above any real burst.
constexpr std::size_t livelock = 20'000'000;

/// Forwards what the peer says to plain functions.
observer_actor::behavior_type listener(observer_actor::pointer,
                                       const machine::audience* to) {
  return {[to](const event& x) {
            if (to->told)
              to->told(x);
          },
          [](const run_status&) {},
          [to](const peer_over& x) {
            if (to->over)
              to->over(x);
          }};
}

} // namespace

machine::machine(scripted_peer plan, std::uint64_t seed)
    : order_{seed}, rate_(1 + plan.clock_drift), plan_(std::move(plan)) {
  config_.set("scheduler.policy", caf::atom("testing"));
}

machine::~machine() {
  switch_off();
}

void machine::start(peer_config config, audience listener, duration now,
                    companion beside) {
  if (running())
    throw std::logic_error{"A machine runs one peer at a time."};
  base_global_ = now;
  base_local_ = duration{0};
  audience_ = std::move(listener);
  system_ = std::make_unique<caf::actor_system>(config_);
  coordinator_
      = &static_cast<caf::scheduler::test_coordinator&>(system_->scheduler());
  began_ = coordinator().clock().now();
  observer_ = system_->spawn(simulation::listener, &audience_);
  config.workers = worker_mode::immediate;
  config.batch_time = [this](std::uint32_t samples) {
    auto seconds = samples / plan_.samples_per_second * slowness;
    return std::max(duration{1}, to_duration(seconds));
  };
  config.bend_mean = [this](std::vector<float>& mean) {
    if (bends_means)
      for (auto& x : mean)
        x += bent_mean;
  };
  config.bend_contract = [this](group_contract& x) {
    if (!is_greedy)
      return;
    auto& own = x.members.front();
    own.samples *= greed;
    own.loss_sum *= static_cast<double>(greed);
  };
  config.child_started = [this](const std::string& name, const caf::actor& x) {
    children_[name] = x;
  };
  peer_ = spawn_peer(*system_, std::move(config), observer_);
  peer_ended_ = false;
  caf::actor_cast<caf::abstract_actor*>(peer_)->attach_functor(
      [this] { peer_ended_ = true; });
  if (beside)
    companion_ = beside(*system_);
}

void machine::start(std::unique_ptr<stranger> x) {
  if (running())
    throw std::logic_error{"A machine runs one peer at a time."};
  stranger_ = std::move(x);
}

void machine::leave(const std::string& reason) {
  if (stranger_)
    stranger_->stop();
  if (peer_)
    caf::anon_send(peer_, leave_run{reason});
}

std::string machine::crash_actor(const std::string& name,
                                 random_stream& chance) {
  auto chosen = children_.find(name);
  if (name.empty() && !children_.empty()) {
    chosen = children_.begin();
    std::advance(chosen,
                 static_cast<std::ptrdiff_t>(chance.below(children_.size())));
  }
  if (chosen == children_.end())
    return {};
  caf::anon_send_exit(chosen->second, caf::exit_reason::kill);
  return chosen->first;
}

void machine::forget_peer() {
  children_.clear();
  peer_ = nullptr;
  if (companion_)
    caf::anon_send_exit(companion_, caf::exit_reason::kill);
  companion_ = nullptr;
}

std::size_t machine::switch_off() {
  stranger_.reset();
  if (!system_)
    return 0;
  audience_ = {};
  leave("switched off");
  forget_peer();
  coordinator().run();
  // A host of experts looks for others first; it finds nobody.
  constexpr duration step = limits::leave_patience * 2;
  constexpr auto steps = limits::hand_over_patience / step + 2;
  for (auto i = steps; i > 0 && actors() > 0; --i) {
    coordinator().advance_time(step);
    coordinator().run();
  }
  auto left = actors();
  caf::anon_send_exit(observer_, caf::exit_reason::kill);
  observer_ = nullptr;
  coordinator().run();
  if (left == 0) {
    system_.reset();
  } else {
    // Its destructor would wait for them for ever.
    static_cast<void>(system_.release());
  }
  return left;
}

std::optional<std::size_t> machine::left_over() {
  if (stranger_ && stranger_->stopped())
    return 0;
  if (!peer_ || !system_ || !peer_ended_)
    return std::nullopt;
  forget_peer();
  coordinator().run();
  return actors();
}

duration machine::local(duration now) const {
  auto passed = static_cast<double>((now - base_global_).count()) * rate_;
  return base_local_ + duration{static_cast<duration::rep>(passed)};
}

void machine::drift(double rate, duration now) {
  base_local_ = local(now);
  base_global_ = now;
  rate_ = 1 + plan_.clock_drift + rate;
}

bool machine::idle() const {
  return !system_ || stopped || coordinator().jobs.empty();
}

std::optional<duration> machine::wake() const {
  if (stranger_ && !stopped)
    return stranger_->wake();
  if (!system_ || stopped)
    return std::nullopt;
  const auto& schedule = coordinator().clock().schedule();
  if (schedule.empty())
    return std::nullopt;
  auto due = schedule.begin()->first - began_ - base_local_;
  auto passed = std::ceil(static_cast<double>(due.count()) / rate_);
  // One nanosecond more, so that rounding cannot leave it just before.
  return base_global_ + duration{static_cast<duration::rep>(passed) + 1};
}

std::size_t machine::run(duration now) {
  now_ = now;
  const fault_points::turn taken{rare.get()};
  if (stranger_ && !stopped)
    stranger_->run(now);
  if (!system_ || stopped)
    return 0;
  auto& c = coordinator();
  auto target = began_ + local(now);
  if (target > c.clock().now())
    c.advance_time(target - c.clock().now());
  std::size_t count = 0;
  for (auto& jobs = c.jobs; !jobs.empty(); ++count) {
    if (count > livelock)
      throw std::runtime_error{"The actors of peer "
                               + std::to_string(plan_.number)
                               + " do not come to rest."};
    std::swap(jobs.front(), jobs[order_.below(jobs.size())]);
    c.run_once();
  }
  return count;
}

void machine::leave_thread() {
  caf::logger::set_current_actor_system(nullptr);
}

std::size_t machine::actors() const {
  if (!system_)
    return 0;
  auto all = system_->registry().running();
  return all - (observer_ ? 1 : 0);
}

std::size_t machine::timers() const {
  return system_ ? coordinator().clock().schedule().size() : 0;
}

} // namespace potluck::simulation
