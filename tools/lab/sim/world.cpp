#include "tools/lab/sim/world.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "messages/codec.hpp"
#include "runtime/membership/restart_budget.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/planning/chunk_size.hpp"
#include "runtime/state/checkpoint.hpp"
#include "tools/lab/judge/moshpit_drift.hpp"
#include "tools/lab/sim/simulated_model.hpp"

namespace potluck::simulation {

namespace {

// What streams are for: mixed into the seed.
enum stream_kind : std::uint64_t {
  of_the_network = 101,
  of_accidents,
  of_an_order,
  of_an_identity,
  of_a_run,
  of_a_life,
  of_a_disk,
};

constexpr std::uint16_t port = 31337;
/// Where peers of groups with `writes_checkpoints` save their state, and after
/// how many steps each time.
const std::string checkpoint_path = "run.checkpoint";
constexpr std::uint64_t checkpoint_every = 5;
/// How often machines and queues are held against their limits.
constexpr duration between_looks = std::chrono::seconds{1};
/// From so many peers on there is enough to do at a time for spans. A constant,
/// so that a history does not depend on the machine that simulates it.
constexpr std::size_t crowd = 256;
/// Samples that peers compute at a time at most where computing is replaced by
/// its duration: they have no memory that could be too small for more.
constexpr std::uint32_t weightless_batch = 256;
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

std::string host_of(std::size_t number) {
  return "10." + std::to_string(number >> 16 & 255) + "."
         + std::to_string(number >> 8 & 255) + "."
         + std::to_string(number & 255);
}

run_settings settings_of(const scenario& what, std::uint64_t seed) {
  run_settings s;
  s.run = "simulation";
  s.steps = 100;
  s.warmup_steps = 1;
  s.learning_rate = 0.05;
  s.target_batch = 256;
  s.chunk_values = 256;
  s.seed = seed;
  for (auto& x : what.run)
    if (auto done = assign(s, x.name, x.value); !done)
      throw std::runtime_error{"run: " + done.error()};
  if (auto problem = problem_with(s); !problem.empty())
    throw std::runtime_error{"run: " + problem};
  return s;
}

bool has_experts(const scenario& what) {
  return std::any_of(what.groups.begin(), what.groups.end(), [](auto& x) {
    return x.role == "expert" || x.role == "caller";
  });
}

} // namespace

world::world(const scenario& what, options how)
    : what_(what), how_(std::move(how)),
      plan_(what, how_.seed), chance_{mix(how_.seed, of_accidents)},
      settings_(settings_of(what, mix(how_.seed, of_a_run))),
      network_{mix(how_.seed, of_the_network)},
      in_spans_(plan_.peers().size() >= crowd && !has_experts(what)),
      crew_(in_spans_ ? how_.threads : 1) {
  network_.take_turns();
  terms run;
  run.steps = settings_.steps;
  run.target_batch = settings_.target_batch;
  run.expects = what_.expects;
  run.rounded = settings_.packing != to_string(packing::float32);
  run.expert_may_lose = expert_most_lost;
  run.redraws = settings_.redraws_groups();
  if (run.redraws) {
    std::size_t trainers = 0;
    for (auto& x : plan_.peers())
      trainers += what_.groups[x.group].role == "trainer";
    run.most_drift
        = most_moshpit_drift(std::max<std::size_t>(1, trainers),
                             settings_.group_size, settings_.learning_rate);
  }
  judge_ = std::make_unique<run_judge>(run);
  for (auto role : {"bootstrap", "trainer"})
    for (auto& x : plan_.peers())
      if (what_.groups[x.group].role == role
          && !what_.groups[x.group].behind_nat && seeds_.size() < 3)
        seeds_.push_back({host_of(x.number), port});
  network_.watch([this](const std::string& from, const outgoing_frame& x) {
    if (x.body.size < sizeof(float) || how_.weightless)
      return;
    auto content = decode(x.head.data(), x.head.size(), x.body.size);
    auto number = network_.number_of(from);
    auto mean = content ? std::get_if<chunk_mean>(&*content) : nullptr;
    if (mean && has_tally(*mean, x.body) && lives_[number].honest
        && !what_.expects.may_ban)
      judge_->of<counted_once>().tally({number}, now_,
                                       tally_of(mean->packing, x.body));
  });
}

std::uint32_t world::tally_distance() const {
  const auto least = least_chunk_values(settings_.chunk_values);
  return least % least_chunk_step == 0 ? least_chunk_step : least;
}

bool world::has_tally(const chunk_mean& x, const shared_bytes& body) const {
  if (!settings_.redraws_groups())
    return true;
  // Of a shorter one, the last, nobody here knows where it begins.
  const auto length = body.size / sizeof(float);
  return length % least_chunk_values(settings_.chunk_values) == 0
         && x.chunk * length < what_.model_values;
}

float world::tally_of(packing how, const shared_bytes& body) const {
  if (how == packing::float32) // Nearly always: no need to read all values.
    return *reinterpret_cast<const float*>(body.data);
  // Rounds cut the gradient as they like: the body says how long it is.
  std::size_t values = 0;
  for (auto step = std::size_t{1} << 31; step > 0; step /= 2)
    if (packed_bytes(how, values + step) <= body.size)
      values += step;
  std::vector<float> mean(values);
  if (values > 0 && unpack(how, body.data, body.size, mean.data(), values))
    return mean.front();
  return std::numeric_limits<float>::quiet_NaN();
}

world::~world() {
  for (auto& x : lives_)
    if (x.box && x.box->running()) {
      network_.crash(x.host, true);
      x.box->switch_off();
    }
}

// ---- peers
// ---------------------------------------------------------------------

world::life& world::life_of(std::size_t number) {
  while (lives_.size() <= number) {
    auto n = lives_.size();
    life x;
    const auto& plan = plan_.peers().at(n);
    x.box
        = std::make_unique<machine>(plan, mix(mix(how_.seed, of_an_order), n));
    x.host = host_of(n);
    network_.set_line(x.host, usual_line(plan));
    if (network_.number_of(x.host) != n)
      throw std::logic_error{"Hosts are named in the order of peers."};
    network_.behind_nat(x.host, what_.groups[plan.group].behind_nat);
    lives_.push_back(std::move(x));
  }
  return lives_[number];
}

sim_network::line world::usual_line(const planned_peer& x) const {
  const auto& profile = what_.groups[x.group].line;
  sim_network::line line;
  line.delay = x.delay;
  // One draw decides a peer's jitter; the network draws for each frame.
  random_stream own{mix(x.seed, of_a_life)};
  line.jitter = to_duration(profile.jitter.draw(own));
  line.upload = x.upload;
  line.download = x.download;
  line.loss = profile.loss;
  line.duplicate = profile.duplicate;
  line.reorder = profile.reorder;
  line.corrupt = profile.corrupt;
  return line;
}

peer_config world::configure(life& x) const {
  const auto& plan = x.box->plan();
  const auto& group = what_.groups[plan.group];
  peer_config c;
  c.self = x.id;
  c.role = group.role == "bootstrap"   ? role::bootstrap
           : group.role == "auxiliary" ? role::auxiliary
           : group.role == "trainer"   ? role::trainer
                                       : role::expert;
  if (c.role != role::bootstrap)
    c.run = settings_.run;
  else
    c.run.clear();
  c.listen = {"0.0.0.0", port};
  if (c.role == role::bootstrap)
    c.announce = {x.host, port}; // The others find out.
  for (auto& seed : seeds_)
    if (seed.host != x.host)
      c.seeds.push_back(seed);
  auto& network = const_cast<sim_network&>(network_);
  c.make_transport = [&network, host = x.host, who = x.id] {
    return network.make_transport(host, who);
  };
  auto values = what_.model_values;
  auto chunk_values = tally_distance();
  auto weightless = how_.weightless;
  c.make_trainer = [=](const charter&) {
    return std::make_unique<simulated_model>(values, chunk_values, weightless);
  };
  if (weightless)
    c.micro_batch = weightless_batch;
  c.propose = [settings = settings_] { return charter{settings, ""}; };
  c.upload_bytes_per_second = plan.upload;
  c.download_bytes_per_second = plan.download;
  c.seed = mix(plan.seed, x.lives) | 1;
  c.shows_status = false; // Nobody looks on.
  if (group.writes_checkpoints) {
    c.checkpoint_path = checkpoint_path;
    c.checkpoint_every = checkpoint_every;
    c.checkpoint_disk = x.disk.get();
  }
  return c;
}

void world::take_up_checkpoint(const life& x, peer_config& c) {
  auto file = x.disk->find(checkpoint_path);
  if (!file)
    return;
  std::size_t at = 0;
  auto saved = read_checkpoint(
      checkpoint_path, file->size(), [&](void* out, std::size_t size) {
        if (size > file->size() - at)
          return false;
        std::copy_n(file->data() + at, size, static_cast<std::uint8_t*>(out));
        at += size;
        return true;
      });
  auto number = x.box->plan().number;
  if (!saved) {
    heard(number, event{"checkpoint_refused", {{"detail", saved.error()}}});
    return;
  }
  if (x.honest)
    judge_->resumed(number, now_, saved->state.step,
                    saved->state.history_samples,
                    to_string(digest_of_state(saved->state)));
  heard(number, event{"resumed", {{"step", saved->state.step}}});
  c.known = saved->charter;
  c.state = std::make_shared<training_state>(std::move(saved->state));
}

void world::start(std::size_t number, bool keeps_disk) {
  auto& x = life_of(number);
  if (x.box->running())
    return;
  ++x.lives;
  if (x.lives == 1 || !keeps_disk) {
    random_stream identity{mix(mix(how_.seed, of_an_identity),
                               mix(number, keeps_disk ? 0 : x.lives))};
    x.id = identity.draw<peer_id>();
  }
  if (!x.disk || !keeps_disk)
    x.disk = std::make_unique<sim_disk>(
        mix(mix(how_.seed, of_a_disk), mix(number, x.lives)),
        [this, box = x.box.get()] { return std::max(now_, box->now()); });
  if (x.honest)
    judge_->of<fair_blame>().add_honest(short_name(x.id));
  if (!keeps_disk) {
    x.shelves = {};
    judge_->of<sound_experts>().forget(number);
  }
  x.finished = false;
  x.leaving = false;
  machine::audience audience;
  audience.told = [this, number](const event& e) {
    note(number, [this, number, e] { heard(number, e); });
  };
  audience.over = [this, number](const peer_over& e) {
    note(number, [this, number, e] { over(number, e); });
  };
  auto config = configure(x);
  if (!config.checkpoint_path.empty())
    take_up_checkpoint(x, config);
  add_experts(x, config);
  auto beside = caller_of(x);
  if (settings_.redraws_groups() && x.honest && !how_.weightless)
    config.state_shown = [this, number](const training_state& s, bool redrawn) {
      if (!redrawn)
        return;
      note(number, [this, number, step = s.step, values = s.parameters] {
        judge_->of<near_parameters>().seen_at({number}, now_, step, values);
      });
    };
  x.box->start(std::move(config), std::move(audience), now_, beside);
  ++running_;
  present_.insert(number);
  most_peers_ = std::max(most_peers_, running_);
  touch(number);
}

void world::end_process(life& x, bool silent) {
  if (!x.box->running())
    return;
  network_.crash(x.host, silent);
  auto left = x.box->switch_off();
  auto number = x.box->plan().number;
  --running_;
  present_.erase(number);
  if (!x.leaving) // Who leaves in order has written everything.
    x.disk->cut();
  judge_->of<looked_at<leaves_nothing>>().check(left == 0, now_, [&] {
    return std::to_string(left) + " actors of peer " + std::to_string(number)
           + " did not end";
  });
  judge_->ended({number});
  x.box->stopped = false;
  x.box->slowness = 1;
}

void world::retire(std::size_t number, const std::string& why) {
  auto& x = lives_[number];
  x.leaving = true;
  present_.erase(number);
  x.box->leave(why);
  touch(number);
}

void world::heard(std::size_t number, const event& x) {
  auto line = x;
  line.fields.insert(line.fields.begin(),
                     {"node", static_cast<std::uint64_t>(number)});
  auto text = to_json(line, to_seconds(now_));
  auto both = std::string(log_.bytes.begin(), log_.bytes.end()) + text;
  log_ = digest_of(both.data(), both.size());
  if (how_.log)
    how_.log(text);
  auto& life = lives_[number];
  if (!life.honest)
    return;
  teller who{number};
  who.trains = what_.groups[life.box->plan().group].role == "trainer";
  judge_->told(who, now_, x);
  if (x.name == "finished" && !std::exchange(finishing_, true))
    // But who is held up by a fault is not left behind because of that.
    plan_.wind_down();
}

void world::over(std::size_t number, const peer_over& x) {
  auto& life = lives_[number];
  life.finished = x.problem.empty();
  ended_.push_back(number);
  // Who comes when the others have finished finds nobody to join. And chance
  // may want more of a supervisor than its budget of restarts.
  if (life.honest && !finishing_ && !worn_out(life))
    judge_->of<looked_at<ends_well>>().check(x.problem.empty(), now_, [&] {
      return "peer " + std::to_string(number) + " gave up: " + x.problem;
    });
}

bool world::worn_out(const life& x) const {
  auto lately
      = std::count_if(x.crashes.begin(), x.crashes.end(), [&](duration at) {
          return now_ - at <= limits::restart_window;
        });
  return static_cast<std::size_t>(lately) > limits::restarts;
}

// ---- time
// ----------------------------------------------------------------------

void world::touch(std::size_t number) {
  ready_.insert(number);
}

void world::advance(duration latest) {
  auto next = latest;
  if (auto x = network_.next())
    next = std::min(next, *x);
  if (!alarms_.empty())
    next = std::min(next, alarms_.top().first);
  now_ = std::max(now_, next);
}

void world::look_around() {
  auto gradient = what_.model_values * sizeof(float);
  auto queue = network_.totals().highest_queue;
  bound(queue <= queue_gradients * gradient + queue_slack, [&] {
    return "a connection's queue held " + std::to_string(queue) + " bytes";
  });
  auto peers = lives_.size();
  // With gradients redrawn groups average parameters.
  auto vectors = settings_.redraws_groups() ? 2u : 1u;
  auto shortest
      = std::max(1u, least_chunk_values(settings_.chunk_values) / 4 * 3);
  auto chunks = vectors * what_.model_values / shortest + 1;
  for (auto& x : lives_) {
    if (!x.box->running() || !x.honest)
      continue;
    auto actors = x.box->actors();
    auto most = own_actors + 2 * peers + chunks;
    auto has = [&](std::size_t count, const char* what) {
      return "peer " + std::to_string(x.box->plan().number) + " has "
             + std::to_string(count) + what;
    };
    bound(actors <= most, [&] { return has(actors, " actors"); });
    // Who is banned calls again and again: each call leaves a timer for hello.
    auto calls = what_.expects.may_ban ? 2 : 1;
    auto timers = x.box->timers();
    bound(timers <= timers_per_actor * most * calls,
          [&] { return has(timers, " timers"); });
  }
  auto recovers = what_.expects.recovers_within;
  if (finishing_ || !plan_.over(now_) || !trains()) {
    calm_since_.reset();
  } else {
    if (!calm_since_)
      calm_since_ = now_;
    auto last = std::max(*calm_since_, how_far().last_progress());
    judge_->of<looked_at<goes_on>>().check(now_ - last <= recovers, now_, [&] {
      return "no step for " + std::to_string(to_seconds(now_ - last))
             + " s after the last fault";
    });
  }
}

bool world::all_over() const {
  return finishing_
         && std::none_of(lives_.begin(), lives_.end(), [&](const life& x) {
              return x.box->running() && x.honest
                     && what_.groups[x.box->plan().group].role != "bootstrap";
            });
}

report world::run() {
  report result;
  auto next_look = between_looks;
  while (now_ < what_.lasts && !all_over()
         && judge_->all().violations().size() < enough_violations) {
    auto next = std::min(next_look, what_.lasts);
    if (auto x = plan_.next())
      next = std::min(next, *x);
    advance(next);
    if (plan_.next().value_or(duration::max()) <= now_) {
      for (auto& x : plan_.due(now_, present_))
        carry_out(x);
      shortest_way_ = network_.shortest_way();
    }
    auto stop = std::min(next_look, what_.lasts);
    if (auto x = plan_.next())
      stop = std::min(stop, *x);
    work(stop);
    if (now_ >= next_look) {
      next_look = now_ + between_looks;
      look_around();
      if (how_.watch && !how_.watch(*this)) {
        result.interrupted = true;
        break;
      }
    }
  }
  close(result);
  return result;
}

void world::close(report& result) {
  result.lasted = now_;
  auto& judge = *judge_;
  const auto& all = judge.all();
  if (!result.interrupted && all.violations().size() < enough_violations) {
    if (what_.expects.finishes)
      judge.of<all_finish>().check(all_over(), now_, [&] {
        return "the run has not finished: step "
               + std::to_string(how_far().highest_step()) + " of "
               + std::to_string(settings_.steps);
      });
    judge.of<sound_experts>().all_answer(now_ - experts_answer_within, now_);
    judge.close(now_);
  }
  // Everybody leaves; then nothing may be left.
  for (std::size_t i = 0; i < lives_.size(); ++i)
    if (lives_[i].box->running() && !lives_[i].leaving)
      retire(i, "finished");
  auto end = now_ + aftermath;
  while (now_ < end) {
    advance(end);
    work(end);
  }
  auto& leftovers = judge.of<looked_at<leaves_nothing>>();
  leftovers.check(running() == 0, now_, [&] {
    return std::to_string(running()) + " peers did not leave";
  });
  leftovers.check(network_.open_connections() == 0, now_, [&] {
    return std::to_string(network_.open_connections())
           + " connections are left open";
  });
  result.violations = all.violations();
  result.passed = result.violations.empty() && !result.interrupted;
  result.steps = how_far().highest_step();
  result.samples = how_far().longest_history();
  result.first_try = how_far().first_try();
  result.splits = judge.of<equal_states>().splits();
  result.loss = how_far().last_loss();
  result.drift = judge.of<near_parameters>().drift();
  result.most_drift = judge.of<near_parameters>().most();
  result.checks = all.checks();
  result.expert_updates = judge.of<sound_experts>().updates();
  result.expert_moves = judge.of<sound_experts>().moves();
  result.messages = messages_;
  result.most_peers = most_peers_;
  result.faults = plan_.counts();
  result.history = plan_.history();
  result.network = network_.totals();
  result.log = log_;
}

} // namespace potluck::simulation
