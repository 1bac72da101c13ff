#include "tools/lab/sim/population.hpp"

#include <algorithm>
#include <stdexcept>

#include "runtime/state/checkpoint.hpp"
#include "tools/lab/network/made_up_signatures.hpp"
#include "tools/lab/scenario/faulty_line.hpp"
#include "tools/lab/sim/mean_watch.hpp"
#include "tools/lab/sim/simulated_model.hpp"

namespace potluck::simulation {

namespace {

// What streams are for: mixed into the seed.
enum peer_stream : std::uint64_t {
  of_an_order = 103,
  of_an_identity,
  of_a_disk = 107,
  of_a_stranger,
  of_rare_paths,
};

/// Where peers of groups with `writes_checkpoints` save their state, and after
/// how many steps each time.
const std::string checkpoint_path = "run.checkpoint";
constexpr std::uint64_t checkpoint_every = 5;
const std::string addresses_path = "addresses";
/// Samples that peers compute at a time at most where computing is replaced by
/// its duration: they have no memory that could be too small for more.
constexpr std::uint32_t weightless_batch = 256;

/// @param life 0 as long as it keeps its disk.
peer_id identity_of(std::uint64_t seed, std::size_t number,
                    std::uint64_t life = 0) {
  random_stream identity{mix(mix(seed, of_an_identity), mix(number, life))};
  return identity.draw<peer_id>();
}

role role_named(const std::string& name) {
  return name == "bootstrap"   ? role::bootstrap
         : name == "auxiliary" ? role::auxiliary
         : name == "trainer"   ? role::trainer
                               : role::expert;
}

} // namespace

population::population(const scenario& what, const fault_plan& plan,
                       customs how, sim_network& network, turns& time,
                       run_judge& judge, expert_staff& experts)
    : what_{what}, plan_{plan}, how_{std::move(how)}, network_{network},
      time_{time}, judge_{judge}, experts_{experts}, addresses_{what, plan} {
  if (how_.settings.admission != "open")
    close_run();
}

void population::close_run() {
  for (auto& x : plan_.peers())
    if (group_of(x.number).role == "bootstrap") {
      const auto id = identity_of(how_.seed, x.number);
      closed_ = std::make_unique<closed_run>(
          how_.settings, contact{id, addresses_.open(x.number)}, made_up(id));
      return;
    }
  throw std::runtime_error{"run: its authority is the first bootstrap, and "
                           "there is none."};
}

std::size_t population::strange_keys() const {
  std::size_t result = 0;
  for (auto& x : what_.strangers)
    result += x.identities + x.addresses; // Each machine has a mute one, too.
  return result;
}

population::~population() {
  for (auto& x : all_)
    if (x.box->running()) {
      network_.crash(x.host, true);
      x.box->switch_off();
    }
}

inhabitant& population::at(std::size_t number) {
  while (all_.size() <= number) {
    const auto n = all_.size();
    const auto& plan = plan_.peers().at(n);
    inhabitant x;
    x.box
        = std::make_unique<machine>(plan, mix(mix(how_.seed, of_an_order), n));
    if (how_.rare_paths) {
      const auto run = mix(how_.seed, of_rare_paths);
      x.box->rare = std::make_unique<fault_points>(run, mix(run, n));
    }
    x.host = addresses_.host_of(n);
    network_.set_line(x.host, usual_line(plan, group_of(n)));
    if (network_.number_of(x.host) != n)
      throw std::logic_error{"Hosts are named in the order of peers."};
    const auto router = router_named(group_of(n).router);
    if (router != router_kind::none)
      network_.put_behind(x.host, router, addresses_.move_in(n));
    time_.add(*x.box);
    all_.push_back(std::move(x));
  }
  return all_[number];
}

std::uint64_t population::wall_clock(const machine& box) const {
  const auto now = std::max(time_.now(), box.now());
  return static_cast<std::uint64_t>(now / std::chrono::milliseconds{1});
}

peer_config population::configure(const inhabitant& x) const {
  const auto& plan = x.box->plan();
  const auto& group = group_of(plan.number);
  peer_config c;
  c.self = x.id;
  c.signs = made_up(x.id);
  c.wall_clock = [this, box = x.box.get()] { return wall_clock(*box); };
  c.role = role_named(group.role);
  c.run = c.role == role::bootstrap ? "" : how_.settings.run;
  c.listen = {"0.0.0.0", addresses_.port_of(plan.number)};
  if (c.role == role::bootstrap)
    c.announce = {x.host, c.listen.port}; // The others find out.
  for (auto& seed : addresses_.seeds())
    if (seed.host != x.host)
      c.seeds.push_back(seed);
  if (group.invited)
    for (const auto& other : all_)
      for (const auto& seed : c.seeds)
        if (other.lives > 0 && other.host == seed.host)
          c.pins[seed] = other.id;
  if (c.role == role::auxiliary)
    c.pieces = x.pieces;
  c.make_transport = [&network = network_, host = x.host, who = x.id] {
    return network.make_transport(host, who);
  };
  c.make_trainer = [values = what_.model_values, weightless = how_.weightless,
                    tallies = tally_distance(how_.settings)](const charter&) {
    return std::make_unique<simulated_model>(values, tallies, weightless);
  };
  if (how_.weightless)
    c.micro_batch = weightless_batch;
  c.propose = [settings = how_.settings] { return charter{settings, ""}; };
  c.upload_bytes_per_second = plan.upload;
  c.download_bytes_per_second = plan.download;
  c.seed = mix(plan.seed, x.lives) | 1;
  c.shows_status = false; // Nobody looks on.
  c.always_computes = how_.all_compute;
  c.guards = how_.guards;
  if (group.writes_checkpoints) {
    c.checkpoints = std::make_shared<checkpoint_files>(
        checkpoint_files::places{checkpoint_path, {}, 1, x.disk.get()});
    c.checkpoint_every = checkpoint_every;
  }
  if (how_.settings.redraws_groups() && x.honest && !how_.weightless)
    c.state_shown
        = [this, number = plan.number](const training_state& s, bool redrawn) {
            if (redrawn)
              time_.note(number,
                         [this, number, step = s.step, values = s.parameters] {
                           judge_.of<near_parameters>().seen_at(
                               {number}, time_.now(), step, values);
                         });
          };
  return c;
}

void population::take_up_checkpoint(const inhabitant& x, peer_config& c) {
  auto file = x.disk->find(checkpoint_path);
  if (!file)
    return;
  std::size_t at = 0;
  auto saved = read_checkpoint(
      checkpoint_path, file->size(),
      [&](void* out, std::size_t size) {
        if (size > file->size() - at)
          return false;
        std::copy_n(file->data() + at, size, static_cast<std::uint8_t*>(out));
        at += size;
        return true;
      },
      how_.guards);
  auto number = x.box->plan().number;
  if (!saved) {
    how_.told(number, event{"checkpoint_refused", {{"detail", saved.error()}}});
    return;
  }
  if (x.honest)
    judge_.resumed(number, time_.now(), saved->state.step,
                   saved->state.history_samples,
                   to_string(digest_of_state(saved->state)));
  how_.told(number, event{"resumed", {{"step", saved->state.step}}});
  c.known = saved->charter;
  c.state = std::make_shared<training_state>(std::move(saved->state));
  c.history = std::move(saved->history);
}

void population::take_up_addresses(const inhabitant& x, peer_config& c) {
  address_keeping keeping;
  keeping.path = addresses_path;
  keeping.where = x.disk.get();
  keeping.unix_seconds
      = [this, box = x.box.get()] { return wall_clock(*box) / 1000; };
  if (auto file = x.disk->find(addresses_path)) {
    auto known = kept_addresses::read({file->begin(), file->end()});
    if (known)
      keeping.known = std::move(*known);
    else
      how_.told(x.box->plan().number,
                event{"addresses_refused", {{"detail", known.error()}}});
  }
  c.keeping = std::move(keeping);
}

void population::settle_in(std::size_t number, inhabitant& x, bool keeps_disk) {
  ++x.lives;
  if (x.lives == 1 || !keeps_disk) {
    x.id = identity_of(how_.seed, number, keeps_disk ? 0 : x.lives);
  }
  if (!x.disk || !keeps_disk)
    x.disk = std::make_unique<sim_disk>(
        mix(mix(how_.seed, of_a_disk), mix(number, x.lives)),
        [this, box = x.box.get()] {
          return std::max(time_.now(), box->now());
        });
  x.pieces = group_of(number).role == "auxiliary"
                 ? std::make_shared<memory_pieces>()
                 : nullptr;
  if (!keeps_disk)
    experts_.forget(number);
  if (x.honest)
    judge_.of<fair_blame>().add_honest(short_name(x.id));
  x.leaving = false;
}

void population::start_stranger(inhabitant& x) {
  const auto& plan = x.box->plan();
  const auto first = static_cast<std::size_t>(
      std::find_if(what_.groups.begin(), what_.groups.end(), is_stranger)
      - what_.groups.begin());
  const auto& like = what_.strangers[plan.group - first];
  stranger_config c;
  c.manner = like.manner;
  c.seed = mix(mix(how_.seed, of_a_stranger), plan.number);
  c.rate = like.rate / static_cast<double>(like.addresses);
  c.identities = (like.identities + like.addresses - 1) / like.addresses;
  c.until = like.until.value_or(duration::max());
  c.run = how_.settings.run;
  c.targets = addresses_.dialable();
  c.model_values = what_.model_values;
  c.listen = {x.host, addresses_.port_of(plan.number)};
  c.new_key
      = [](random_stream& chance) { return made_up(chance.draw<peer_id>()); };
  c.make_transport = [this, host = x.host](const peer_id& who) {
    return network_.make_transport(host, who);
  };
  c.wall_clock = [this, box = x.box.get()] { return wall_clock(*box); };
  if (like.manner == "uninvited")
    c.got = [this, number = plan.number](bool parameters) {
      time_.note(number, [this, number, parameters] {
        judge_.of<looked_at<stays_inside>>().check(
            !parameters, time_.now(), [number] {
              return "stranger " + std::to_string(number)
                     + " got parameters of the run";
            });
      });
    };
  auto it = std::make_unique<stranger>(std::move(c));
  if (!it->reads()) {
    auto line = usual_line(plan, what_.groups[plan.group]);
    line.deaf = true;
    network_.set_line(x.host, line);
  }
  x.box->start(std::move(it));
}

void population::start(std::size_t number, bool keeps_disk) {
  auto& x = at(number);
  const auto strange = is_stranger(group_of(number));
  if (x.box->running() || (strange && !how_.strangers))
    return;
  x.honest = x.honest && !strange;
  x.started = time_.now();
  x.newcomer = judge_.how_far().highest_step() > 0;
  settle_in(number, x, keeps_disk);
  if (strange)
    start_stranger(x);
  else
    start_peer(x);
  ++running_;
  present_.insert(number);
  most_ = std::max(most_, running_);
  time_.touch(number);
}

void population::start_peer(inhabitant& x) {
  const auto number = x.box->plan().number;
  machine::audience audience;
  audience.told = [this, number](const event& e) {
    time_.note(number, [this, number, e] { how_.told(number, e); });
  };
  audience.over = [this, number](const peer_over& e) {
    time_.note(number, [this, number, e] { how_.over(number, e); });
  };
  auto config = configure(x);
  if (config.checkpoints)
    take_up_checkpoint(x, config);
  if (group_of(number).keeps_addresses)
    take_up_addresses(x, config);
  if (closed_)
    closed_->equip(config);
  auto beside = experts_.equip(x.box->plan(), x.lives, config);
  x.box->start(std::move(config), std::move(audience), time_.now(), beside);
}

void population::end(std::size_t number, bool silent) {
  auto& x = all_[number];
  if (!x.box->running())
    return;
  network_.crash(x.host, silent);
  const auto left = x.box->switch_off();
  --running_;
  present_.erase(number);
  if (!x.leaving) // Who leaves in order has written everything.
    x.disk->cut();
  judge_.of<looked_at<leaves_nothing>>().check(left == 0, time_.now(), [&] {
    return std::to_string(left) + " actors of peer " + std::to_string(number)
           + " did not end";
  });
  judge_.ended({number});
  x.newcomer = false;
  x.box->stopped = false;
  x.box->slowness = 1;
}

void population::retire(std::size_t number, const std::string& why) {
  auto& x = all_[number];
  x.leaving = true;
  present_.erase(number);
  x.box->leave(why);
  time_.touch(number);
}

} // namespace potluck::simulation
