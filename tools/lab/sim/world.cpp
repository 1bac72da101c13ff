#include "tools/lab/sim/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/membership/restart_budget.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/chunk_size.hpp"
#include "runtime/state/setting_kinds.hpp"
#include "tools/lab/judge/moshpit_drift.hpp"

namespace potluck::simulation {

namespace {

// What streams are for: mixed into the seed.
enum world_stream : std::uint64_t {
  of_the_network = 101,
  of_accidents,
  of_a_run = 105,
};

/// How often machines and queues are held against their limits.
constexpr duration between_looks = std::chrono::seconds{1};
/// From so many peers on there is enough to do at a time for spans. A constant,
/// so that a history does not depend on the machine that simulates it.
constexpr std::size_t crowd = 256;
/// More than this is wrong: the rest would be more of the same.
constexpr std::size_t enough_violations = 20;
/// Actors of a peer that stand for nobody else, with some air.
constexpr std::size_t own_actors = 32;
constexpr std::size_t timers_per_actor = 8;
/// Of one connection, one way: a gradient, its means and the news about them.
constexpr std::uint64_t queue_gradients = 8;
constexpr std::uint64_t queue_slack = 16 << 20;
/// At the end every expert must have answered a call in this time.
constexpr duration experts_answer_within = std::chrono::seconds{60};
/// After everybody has finished: goodbyes and last timers.
constexpr duration aftermath = std::chrono::seconds{30};

run_settings settings_of(const scenario& what, std::uint64_t seed) {
  run_settings s;
  s.run = "simulation";
  s.steps = 100;
  s.warmup_steps = 1;
  s.learning_rate = 0.05;
  s.target_batch = 256;
  s.chunk_values = 256;
  s.seed = seed;
  if (auto done = assign(s, what.run); !done)
    throw std::runtime_error{"run: " + done.error()};
  // The first bootstrap is (`population::close_run`).
  if (s.admission != "open" && s.authority == "none")
    s.authority = authority_text({random_stream{seed}.draw<peer_id>(), {}});
  if (auto problem = problem_with(s); !problem.empty())
    throw std::runtime_error{"run: " + problem};
  return s;
}

bool trains(const scenario& what) {
  return std::any_of(what.groups.begin(), what.groups.end(),
                     [](auto& x) { return x.role == "trainer"; });
}

terms terms_of(const scenario& what, const run_settings& s,
               const fault_plan& plan) {
  terms result;
  result.steps = s.steps;
  result.target_batch = s.target_batch;
  result.expects = what.expects;
  result.rounded = s.packing != to_string(packing::float32);
  result.expert_may_lose = expert_most_lost;
  result.redraws = s.redraws_groups();
  if (result.redraws) {
    std::size_t trainers = 0;
    for (auto& x : plan.peers())
      trainers += what.groups[x.group].role == "trainer";
    result.most_drift = most_moshpit_drift(std::max<std::size_t>(1, trainers),
                                           s.group_size, s.learning_rate);
  }
  return result;
}

/// So many that turns at the same time are worth it. The promises of experts
/// look at all hosts at once.
bool is_crowd(const scenario& what, const fault_plan& plan) {
  return plan.peers().size() >= crowd && !has_experts(what);
}

/// More actors of it failed lately than its supervisor may start again.
bool worn_out(const inhabitant& x, duration now) {
  auto lately
      = std::count_if(x.crashes.begin(), x.crashes.end(), [&](duration at) {
          return now - at <= limits::restart_window;
        });
  return static_cast<std::size_t>(lately) > limits::restarts;
}

} // namespace

world::world(const scenario& what, options how)
    : what_(with_strangers(what)), how_(std::move(how)),
      settings_(settings_of(what_, mix(how_.seed, of_a_run))),
      plan_(what_, how_.seed), network_{mix(how_.seed, of_the_network)},
      judge_{terms_of(what_, settings_, plan_)}, time_{network_,
                                                       is_crowd(what_, plan_),
                                                       is_crowd(what_, plan_)
                                                           ? how_.threads
                                                           : 1},
      experts_{what_, plan_, judge_.of<sound_experts>(),
               [this] { return time_.now(); }},
      peers_{what_, plan_, customs(), network_, time_, judge_, experts_},
      accidents_{mix(how_.seed, of_accidents), peers_, network_, time_, judge_},
      means_{settings_, what_.model_values} {
  if (!how_.weightless && !what_.expects.may_ban)
    network_.watch([this](const std::string& from, const outgoing_frame& x) {
      judge_mean(from, x);
    });
}

population::customs world::customs() {
  population::customs result;
  result.seed = how_.seed;
  result.settings = settings_;
  result.weightless = how_.weightless;
  result.all_compute = how_.all_compute;
  result.guards = how_.guards;
  result.strangers = how_.strangers;
  result.rare_paths = how_.fault_points;
  result.told
      = [this](std::size_t number, const event& x) { heard(number, x); };
  result.over
      = [this](std::size_t number, const peer_over& x) { over(number, x); };
  return result;
}

// ---- what peers say --------------------------------------------------------

void world::heard(std::size_t number, const event& x) {
  auto line = x;
  line.fields.insert(line.fields.begin(),
                     {"node", static_cast<std::uint64_t>(number)});
  auto text = to_json(line, to_seconds(now()));
  auto both = std::string(log_.bytes.begin(), log_.bytes.end()) + text;
  log_ = digest_of(both.data(), both.size());
  if (how_.log)
    how_.log(text);
  if (!peers_.all()[number].honest)
    return;
  teller who{number};
  who.trains = peers_.group_of(number).role == "trainer";
  judge_.told(who, now(), x);
  if (x.name == "step")
    stepped(peers_.at(number));
  if (x.name == "finished" && !std::exchange(finishing_, true))
    // But who is held up by a fault is not left behind because of that.
    plan_.wind_down();
}

void world::stepped(inhabitant& x) {
  if (std::exchange(x.newcomer, false))
    slowest_entry_ = std::max(slowest_entry_, now() - x.started);
}

void world::over(std::size_t number, const peer_over& x) {
  ended_.push_back(number);
  // Who comes when the others have finished finds nobody to join. And chance
  // may want more of a supervisor than its budget of restarts.
  const auto& peer = peers_.all()[number];
  if (peers_.group_of(number).role == "trainer")
    stepped(peers_.at(number)); // One that gave up before never came in.
  if (peer.honest && !finishing_ && !worn_out(peer, now()))
    judge_.of<looked_at<ends_well>>().check(x.problem.empty(), now(), [&] {
      return "peer " + std::to_string(number) + " gave up: " + x.problem;
    });
}

void world::judge_mean(const std::string& from, const outgoing_frame& x) {
  const auto tally = means_.tally_of(x);
  const auto number = network_.number_of(from);
  if (tally && peers_.all()[number].honest)
    judge_.of<counted_once>().tally({number}, now(), *tally);
}

turns::listener world::followers() {
  turns::listener result;
  result.ended = [this](std::size_t number, std::size_t left) {
    judge_.of<looked_at<leaves_nothing>>().check(left == 0, now(), [&] {
      return std::to_string(left) + " actors of peer " + std::to_string(number)
             + " outlived it";
    });
    peers_.end(number, false);
  };
  result.rested = [this] {
    for (auto number : std::exchange(ended_, {}))
      peers_.retire(number, "finished");
  };
  return result;
}

// ---- what must hold --------------------------------------------------------

void world::look_at(const inhabitant& x) {
  // With gradients redrawn groups average parameters.
  const auto vectors = settings_.redraws_groups() ? 2u : 1u;
  const auto shortest
      = std::max(1u, least_chunk_values(settings_.chunk_values) / 4 * 3);
  const auto chunks = vectors * what_.model_values / shortest + 1;
  const auto most
      = own_actors + 2 * (peers_.all().size() + peers_.strange_keys()) + chunks;
  auto has = [&](std::size_t count, const char* what) {
    return "peer " + std::to_string(x.box->plan().number) + " has "
           + std::to_string(count) + what;
  };
  const auto actors = x.box->actors();
  bound(actors <= most, [&] { return has(actors, " actors"); });
  // Who is banned calls again and again, and strangers do: each call leaves a
  // timer for hello.
  const auto calls = what_.expects.may_ban || !what_.strangers.empty() ? 2 : 1;
  const auto timers = x.box->timers();
  bound(timers <= timers_per_actor * most * calls,
        [&] { return has(timers, " timers"); });
}

void world::look_for_progress() {
  if (finishing_ || !plan_.over(now()) || !trains(what_)) {
    calm_since_.reset();
    return;
  }
  if (!calm_since_)
    calm_since_ = now();
  const auto pause = now() - std::max(*calm_since_, how_far().last_progress());
  judge_.of<looked_at<goes_on>>().check(
      pause <= what_.expects.recovers_within, now(), [&] {
        return "no step for " + std::to_string(to_seconds(pause))
               + " s after the last fault";
      });
}

void world::look_around() {
  const auto gradient = what_.model_values * sizeof(float);
  const auto queue = network_.highest_queue();
  bound(queue <= queue_gradients * gradient + queue_slack, [&] {
    return "a connection's queue held " + std::to_string(queue) + " bytes";
  });
  for (auto& x : peers_.all())
    if (x.box->running() && x.honest)
      look_at(x);
  look_for_progress();
}

bool world::all_over() const {
  return finishing_
         && std::none_of(peers_.all().begin(), peers_.all().end(),
                         [&](auto& x) {
                           return x.box->running() && x.honest
                                  && peers_.group_of(x.box->plan().number).role
                                         != "bootstrap";
                         });
}

void world::judge_the_end() {
  for (std::size_t i = 0; i < peers_.all().size(); ++i)
    if (auto& x = peers_.at(i);
        x.box->running() && peers_.group_of(i).role == "trainer")
      stepped(x); // Not to the end.
  if (what_.expects.finishes)
    judge_.of<all_finish>().check(all_over(), now(), [&] {
      return "the run has not finished: step "
             + std::to_string(how_far().highest_step()) + " of "
             + std::to_string(settings_.steps);
    });
  judge_.of<sound_experts>().all_answer(now() - experts_answer_within, now());
  judge_.close(now());
}

void world::send_home() {
  for (std::size_t i = 0; i < peers_.all().size(); ++i)
    if (auto& x = peers_.all()[i]; x.box->running() && !x.leaving)
      peers_.retire(i, "finished");
  const auto end = now() + aftermath;
  const auto then = followers();
  while (now() < end) {
    time_.advance(end);
    time_.work(end, then);
  }
  auto& leftovers = judge_.of<looked_at<leaves_nothing>>();
  leftovers.check(running() == 0, now(), [&] {
    return std::to_string(running()) + " peers did not leave";
  });
  leftovers.check(network_.open_connections() == 0, now(), [&] {
    return std::to_string(network_.open_connections())
           + " connections are left open";
  });
}

// ---- the run ---------------------------------------------------------------

report world::run() {
  bool interrupted = false;
  const auto then = followers();
  auto next_look = between_looks;
  auto enough
      = [&] { return judge_.all().violations().size() >= enough_violations; };
  auto next_event = [&](duration otherwise) {
    return std::min({otherwise, what_.lasts, plan_.next().value_or(otherwise)});
  };
  while (now() < what_.lasts && !all_over() && !enough() && !interrupted) {
    time_.advance(next_event(next_look));
    if (plan_.next().value_or(duration::max()) <= now()) {
      for (auto& x : plan_.due(now(), peers_.present()))
        accidents_.carry_out(x);
      time_.lines_changed();
    }
    time_.work(next_event(next_look), then);
    if (now() >= next_look) {
      next_look = now() + between_looks;
      look_around();
      interrupted = how_.watch && !how_.watch(*this);
    }
  }
  const auto lasted = now();
  if (!interrupted && !enough())
    judge_the_end();
  send_home();
  auto result = tell();
  result.lasted = lasted;
  result.interrupted = interrupted;
  result.passed = result.violations.empty() && !interrupted;
  return result;
}

report world::tell() const {
  report result;
  result.violations = judge_.all().violations();
  result.steps = how_far().highest_step();
  result.last_step = how_far().last_progress();
  result.slowest_entry = slowest_entry_;
  result.samples = how_far().longest_history();
  result.first_try = how_far().first_try();
  result.splits = judge_.of<equal_states>().splits();
  result.loss = how_far().last_loss();
  result.drift = judge_.of<near_parameters>().drift();
  result.most_drift = judge_.of<near_parameters>().most();
  result.checks = judge_.all().checks();
  result.expert_updates = judge_.of<sound_experts>().updates();
  result.expert_moves = judge_.of<sound_experts>().moves();
  result.messages = time_.messages();
  result.most_peers = peers_.most_at_a_time();
  result.faults = plan_.counts();
  for (auto& x : peers_.all())
    if (x.box->rare)
      for (std::size_t i = 0; i < result.rare_paths.size(); ++i)
        result.rare_paths[i] += x.box->rare->struck()[i];
  result.history = plan_.history();
  result.network = network_.totals();
  result.highest_queue = network_.highest_queue();
  result.log = log_;
  return result;
}

} // namespace potluck::simulation
