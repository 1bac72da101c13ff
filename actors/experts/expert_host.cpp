#include "actors/experts/expert_host.hpp"

#include <algorithm>

#include "actors/behavior.hpp"
#include "runtime/config.hpp"
#include "runtime/experts/call_values.hpp"
#include "runtime/experts/expert_kind_digest.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

void expert_host_state::init(expert_host_actor::pointer self,
                             expert_host_config config) {
  self_ = self;
  config_ = std::move(config);
  queue_.emplace(config_.hosting.bounds);
  device_ = std::make_shared<worker>(config_.mode, config_.niceness);
  auto now = self_->clock().now();
  next_news_ = now;
  next_save_ = now + config_.hosting.save_interval;
  self_->set_exit_handler([this](caf::exit_msg& x) {
    // Restarted, not leaving: the successor loads from the shelf right now.
    if (!leaving_) {
      self_->quit(x.reason);
      return;
    }
    exiting_ = true;
    quit_when_saved();
  });
  // Those of the other hosts, and our own that were others' for a while: what
  // lies with our own is older then. Found by the simulation, experts.json with
  // seeds 8 and 17.
  for (auto& uid : config_.hosting.shelves.adopted->uids())
    on(adopt_expert{uid});
  for (auto& uid : config_.hosting.uids) {
    auto [i, fresh] = experts_.try_emplace(to_string(uid));
    if (!fresh)
      continue;
    i->second.name = uid;
    start(i->first, i->second);
  }
  start_replicator();
  self_->send(self_, tick{});
}

expert_host_state::~expert_host_state() {
  for (auto& [uid, x] : experts_)
    if (x.actor)
      caf::anon_send_exit(x.actor, caf::exit_reason::user_shutdown);
  if (replicator_)
    caf::anon_send_exit(replicator_, caf::exit_reason::user_shutdown);
}

void expert_host_state::start_replicator() {
  expert_replicator_config c;
  c.self = config_.self;
  c.run = config_.run;
  c.kind = digest_of_kind(config_.hosting.kind);
  c.spare = config_.hosting.spare.value_or(config_.hosting.uids.size());
  c.shelves = config_.hosting.shelves;
  c.host = caf::actor_cast<expert_host_actor>(self_);
  c.mode = config_.mode;
  replicator_ = self_->spawn<caf::monitored>(expert_replicator, c);
  if (config_.expert_started)
    config_.expert_started("expert_replicator",
                           caf::actor_cast<caf::actor>(replicator_));
}

void expert_host_state::start(const std::string& uid, hosted& x) {
  expert_config c;
  c.uid = uid;
  c.kind = config_.hosting.kind;
  c.seed = config_.hosting.seed;
  c.make = config_.hosting.make;
  c.shelf = x.adopted ? config_.hosting.shelves.adopted
                      : config_.hosting.shelves.own;
  c.device = device_;
  c.host = caf::actor_cast<expert_host_actor>(self_);
  c.save_every = config_.hosting.save_every;
  x.ready = false;
  x.actor = self_->spawn<caf::monitored>(expert, c);
  if (config_.expert_started)
    config_.expert_started(uid, caf::actor_cast<caf::actor>(x.actor));
}

void expert_host_state::on(const wiring& w) {
  wired_ = w;
  self_->send(replicator_, w);
}

void expert_host_state::on(const peer_joined& x) {
  connected_[x.who.id] = x;
  self_->send(replicator_, x);
}

void expert_host_state::on(const peer_left& x) {
  connected_.erase(x.id);
  queue_->forget(x.id);
  seen_.forget(x.id);
  self_->send(replicator_, x);
}

void expert_host_state::on(const reachable_at& x) {
  where_ = x.where;
  self_->send(replicator_, x);
}

// ---- calls
// ----------------------------------------------------------------------

void expert_host_state::on(const letter& x) {
  if (auto request = std::get_if<expert_request>(&x.content))
    serve(x.from, *request, x.body);
  else
    self_->send(replicator_, x);
}

void expert_host_state::serve(const peer_id& from, const expert_request& x,
                              const shared_bytes& body) {
  if (!seen_.first(from, x.number))
    return; // Its answer is on the way.
  auto i = experts_.find(x.uid);
  if (i == experts_.end() || !i->second.actor) {
    refuse(from, x.number, expert_outcome::not_here,
           "this host has no such expert");
    return;
  }
  const auto& e = i->second;
  // What it learns now would be lost on the way to its next host.
  if (leaving_ && (e.handed_over || x.pass == expert_pass::backward)) {
    refuse(from, x.number, expert_outcome::busy, "this host is leaving");
    return;
  }
  if (!e.ready) {
    refuse(from, x.number, expert_outcome::busy, "the expert is being loaded");
    return;
  }
  // A forward pass has none, and a backward pass some: verified.
  auto gradients = x.pass == expert_pass::backward ? e.shape.outputs : 0;
  auto wanted = e.shape.inputs + gradients;
  auto outputs = std::max(e.shape.inputs, e.shape.outputs);
  if (x.values != wanted || x.gradients != gradients
      || std::uint64_t{x.samples} * outputs > max_sample_values) {
    refuse(from, x.number, expert_outcome::wrong_shape,
           "a sample of this call has " + std::to_string(x.values)
               + " values where the expert takes " + std::to_string(wanted)
               + ", or its answer would not fit a frame");
    return;
  }
  expert_task task;
  task.caller = from;
  task.number = x.number;
  task.samples = x.samples;
  task.packing = x.packing;
  task.arrived = self_->clock().now();
  task.useless = task.arrived + std::chrono::milliseconds{x.patience_ms};
  // A copy: a body that is held stops its connection from being read.
  auto size = size_of(x);
  task.values.resize(size.inputs + size.gradients);
  if (!read_values(x.packing, body, size, task.values.data())) {
    refuse(from, x.number, expert_outcome::wrong_values,
           "a value of the call is not finite, or wrongly packed");
    // No honest caller sends them, whatever the network does.
    if (wired_.roster)
      self_->send(wired_.roster,
                  offence_seen{from, misconduct::witness::alone,
                               "call " + std::to_string(x.number),
                               "called an expert with values that are not "
                               "finite, or wrongly packed"});
    return;
  }
  switch (queue_->offer(x.uid, x.pass, std::move(task))) {
    case task_pool::verdict::queued:
      pump();
      break;
    case task_pool::verdict::busy:
      ++figures_.refused;
      refuse(from, x.number, expert_outcome::busy,
             "too many calls are waiting");
      break;
    case task_pool::verdict::too_large:
      refuse(from, x.number, expert_outcome::wrong_shape,
             "the call has more samples than the "
                 + std::to_string(config_.hosting.bounds.pool.most_samples)
                 + " of a batch");
      break;
  }
}

void expert_host_state::answer(const peer_id& to, expert_answer x,
                               shared_bytes body) {
  if (to != config_.self)
    self_->send(wired_.gateway, parcel{to, std::move(x), std::move(body)});
  else if (wired_.expert_caller)
    self_->send(wired_.expert_caller,
                letter{to, std::move(x), std::move(body)});
}

void expert_host_state::refuse(const peer_id& to, std::uint64_t number,
                               expert_outcome why,
                               const std::string& sentence) {
  expert_answer x;
  x.number = number;
  x.outcome = why;
  x.sentence = sentence;
  answer(to, std::move(x));
}

void expert_host_state::pump() {
  if (running_)
    return;
  auto now = self_->clock().now();
  auto next = queue_->next(now);
  if (!next) {
    auto wake = queue_->wake();
    if (wake && wake != wake_)
      self_->delayed_send(self_, *wake - now, deadline_passed{});
    wake_ = wake;
    return;
  }
  wake_.reset();
  running_ = std::make_shared<const batch_queue::batch>(std::move(*next));
  self_->send(experts_.at(running_->uid).actor,
              run_batch{++batch_number_, running_});
}

void expert_host_state::on(const batch_computed& x) {
  if (!running_ || x.number != batch_number_)
    return;
  if (config_.hosting.batch_time && !x.lasted) {
    auto later = x;
    later.lasted = true;
    std::uint32_t samples = 0;
    for (auto& task : running_->tasks)
      samples += task.samples;
    self_->delayed_send(self_, config_.hosting.batch_time(samples), later);
    return;
  }
  auto batch = std::move(running_);
  running_ = nullptr;
  experts_.at(x.uid).updates = x.updates;
  if (leaving_)
    save_dirty();
  ++figures_.batches;
  const float* at = x.values->data();
  for (auto& task : batch->tasks) {
    auto count = std::size_t{task.samples} * x.width;
    if (all_finite(at, count)) {
      expert_answer done;
      done.number = task.number;
      done.samples = task.samples;
      done.values = x.width;
      done.version = x.version;
      done.packing = task.packing;
      answer(task.caller, done,
             body_of(task.packing, x.values, at, {count, 0}));
      ++figures_.calls;
      figures_.samples += task.samples;
    } else {
      ++figures_.failed;
      refuse(task.caller, task.number, expert_outcome::failed,
             "the expert's values are not finite");
    }
    at += count;
  }
  pump();
}

void expert_host_state::on(const deadline_passed&) {
  wake_.reset();
  pump();
}

// ---- telling others
// -------------------------------------------------------------

void expert_host_state::announce() {
  if (!wired_.router || where_.host.empty() || where_.port == 0)
    return;
  auto due
      = announcements_.due(self_->clock().now(), limits::announcements_at_once);
  for (auto& uid : due.uids) {
    const auto& e = experts_.at(uid);
    self_->send(wired_.router,
                publish_record{host_record(config_.run, uid,
                                           {{config_.self, where_},
                                            e.shape.inputs,
                                            e.shape.outputs,
                                            e.updates,
                                            e.term}),
                               {}});
  }
  for (auto& [prefix, coordinates] : due.prefixes) {
    auto records = prefix_records(config_.run, prefix, coordinates);
    publish_record x{records.front(), {}};
    x.others.assign(records.begin() + 1, records.end());
    self_->send(wired_.router, std::move(x));
  }
}

void expert_host_state::tell_figures() {
  auto ready = static_cast<std::size_t>(
      std::count_if(experts_.begin(), experts_.end(),
                    [](auto& e) { return e.second.ready; }));
  const auto& f = figures_;
  auto before = told_;
  if (ready == told_ready_ && f.calls == before.calls
      && f.refused == before.refused && f.failed == before.failed)
    return;
  told_ = f;
  told_ready_ = ready;
  std::uint64_t updates = 0;
  for (auto& [uid, e] : experts_)
    updates += e.updates;
  self_->send(wired_.observer,
              event{"experts",
                    {{"hosted", static_cast<std::uint64_t>(experts_.size())},
                     {"ready", static_cast<std::uint64_t>(ready)},
                     {"calls", f.calls},
                     {"samples", f.samples},
                     {"batches", f.batches},
                     {"waiting", static_cast<std::uint64_t>(queue_->calls())},
                     {"busy", f.refused},
                     {"failed", f.failed},
                     {"updates", updates}}});
}

void expert_host_state::on(const tick&) {
  auto now = self_->clock().now();
  announce();
  pump();
  if (now >= next_save_) {
    next_save_ = now + config_.hosting.save_interval;
    save_dirty();
  }
  if (now >= next_news_ && wired_.observer) {
    next_news_ = now + limits::expert_news_interval;
    tell_figures();
  }
  self_->delayed_send(self_, limits::expert_interval, tick{});
}

expert_host_actor::behavior_type
expert_host(expert_host_actor::stateful_pointer<expert_host_state> self,
            expert_host_config config) {
  return behave<expert_host_actor, expert_host_state>(self, std::move(config));
}

} // namespace potluck
