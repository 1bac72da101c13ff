#include "tools/lab/chaos/chaos_run.hpp"

#include <algorithm>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;

/// Between two looks at the faults: a slow peer's turns are this fine.
constexpr timespec look_interval{0, 10'000'000};
constexpr auto log_interval = 100ms;
constexpr auto measure_interval = 500ms;
/// From the start to the first step, on a busy machine with many peers.
constexpr auto start_patience = 180s;
/// From the first who finished to the last.
constexpr auto finish_patience = 90s;
constexpr auto goodbye_patience = 3s;
/// Planned events that are counted: a rule without an end plans for ever.
constexpr std::size_t many_events = 1000;

double seconds_since(std::chrono::steady_clock::time_point x) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - x)
      .count();
}

std::uint64_t number_in(const std::vector<setting>& settings,
                        const std::string& name) {
  for (const auto& x : settings)
    if (x.name == name)
      return std::stoull(x.value);
  return 0;
}

bool separates(fault_kind x) {
  return x == fault_kind::isolate || x == fault_kind::stop
         || x == fault_kind::deafen || x == fault_kind::delay
         || x == fault_kind::lose || x == fault_kind::throttle
         || x == fault_kind::slow || x == fault_kind::cut
         || x == fault_kind::router_reboots || x == fault_kind::address_changes;
}

} // namespace

chaos_run::chaos_run(chaos_plan plan,
                     std::unique_ptr<netlab::host_network> network,
                     demo_screen& screen, const sigset_t& signals)
    : plan_(std::move(plan)), screen_(screen), signals_(signals),
      due_(plan_.what, plan_.seed), network_(std::move(network)),
      faults_(plan_.what, due_, *network_, peers_), began_(clock::now()),
      calm_since_(began_), next_measure_(began_) {
  view_.steps = number_in(chaos_settings(plan_.what), "steps");
}

// ---- starting --------------------------------------------------------------

/// Machines for all peers that the plan knows of by now.
expected<bool> chaos_run::add_peers() {
  while (peers_.size() < due_.peers().size()) {
    auto number = peers_.size();
    const auto& group = plan_.what.groups[due_.peers()[number].group];
    auto host = network_->add({}, router_named(group.router));
    const auto port = group.role == "bootstrap" && network_->carries_packets()
                              && plan_.what.needs_port_443()
                          ? 443
                          : 0;
    auto front = host ? network_->open(*host, port) : failure{host.error()};
    if (!front)
      return failure{front.error()};
    peers_.emplace_back("peer-" + std::to_string(number), group.role, *front);
    faults_.draw_line(number);
  }
  return true;
}

std::vector<std::string> chaos_run::words_of(std::size_t number) const {
  const auto& peer = peers_[number];
  const auto& group = plan_.what.groups[due_.peers()[number].group];
  std::vector<std::string> words{plan_.program};
  if (group.role == "bootstrap")
    words.insert(words.end(), {"bootstrap", "--config-file=/dev/null"});
  else
    words.insert(words.end(),
                 {"join", "--config-file=/dev/null", "--role=" + group.role});
  for (auto& word : network_->words_of(number))
    words.push_back(std::move(word));
  // Every peer knows the bootstraps; without any, the first peer.
  for (const auto& other : peers_)
    if (other.role() == "bootstrap" && &other != &peer)
      words.push_back("--peer=" + to_string(other.front()));
  if (peers_[0].role() != "bootstrap" && number != 0
      && std::none_of(peers_.begin(), peers_.end(),
                      [](const auto& x) { return x.role() == "bootstrap"; }))
    words.push_back("--peer=" + to_string(peers_[0].front()));
  if (group.role == "bootstrap")
    return words;
  for (const auto& x : chaos_settings(plan_.what))
    words.push_back("--" + x.name + "=" + x.value);
  if (group.role == "trainer")
    words.insert(words.end(),
                 {"--data=" + plan_.data, "--threads=1", "--device=cpu",
                  "--micro-batch=8",
                  "--checkpoint-every="
                      + std::string{group.writes_checkpoints ? "10" : "0"},
                  "--checkpoint=" + plan_.directory + "/" + peer.name()
                      + ".checkpoint"});
  return words;
}

expected<bool> chaos_run::start(std::size_t number, bool fresh) {
  faults_.power_on(number);
  return network_->within(number, [&] {
    return peers_[number].start(*family_, plan_.directory, words_of(number),
                                fresh);
  });
}

// ---- what befalls them -----------------------------------------------------

expected<bool> chaos_run::carry_out_due() {
  std::set<std::size_t> there;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i].present())
      there.insert(i);
  auto told = due_.history().size();
  for (const auto& x : due_.due(plan_time(), there))
    if (auto done = carry_out(x); !done)
      return done;
  auto history = due_.history();
  for (; told < history.size(); ++told)
    screen_.say(history[told]);
  return true;
}

expected<bool> chaos_run::carry_out(const fault_event& x) {
  using what = fault_event::what;
  calm_since_ = clock::now();
  switch (x.action) {
    case what::join:
    case what::back: {
      if (auto added = add_peers(); !added)
        return added;
      for (auto peer : x.peers) {
        if (x.action == what::back)
          screen_.say("peer-" + std::to_string(peer) + " returns"
                      + (x.keeps_disk ? "" : " without its files"));
        if (auto started = start(peer, !x.keeps_disk); !started)
          return started;
      }
      return true;
    }
    case what::begin:
      faults_.begin(x);
      return true;
    case what::end:
      if (faults_.end(x))
        screen_.say(to_string(x.kind) + " ends for "
                    + std::to_string(x.peers.size()));
      return true;
  }
  return true;
}

// ---- following -------------------------------------------------------------

void chaos_run::follow() {
  for (auto& peer : peers_)
    for (const auto& x : peer.news()) {
      if (x.name == "step") {
        if (!first_step_) {
          first_step_ = clock::now();
          screen_.say("the first step is taken: the scenario's time begins");
        }
        if (x.count("step") > view_.step) {
          calm_since_ = clock::now();
          view_.step = x.count("step");
          view_.loss = x.number("loss");
          view_.samples_per_second = speed_of(x);
        }
      }
      tell(peer, x);
    }
}

void chaos_run::tell(const chaos_peer& peer, const logged_event& x) {
  if (x.name == "island")
    screen_.say("  " + peer.name()
                + " gives own steps up for a longer history");
  else if (x.name == "fault" && x.text("what") != "malformed frame"
           && x.text("detail").rfind("This is the same identity", 0) != 0)
    screen_.say("  " + peer.name() + " reports: " + x.text("what") + " "
                + x.text("detail"));
  else if (x.name == "finished") {
    screen_.say("  " + peer.name() + " finished step "
                + std::to_string(x.count("step")) + " with digest "
                + x.text("digest").substr(0, 8));
    if (!finishing_) {
      finishing_ = true;
      calm_since_ = clock::now();
      faults_.end_all();
    }
  }
}

/// Time on the scenario's clock: it stands from the first trainer's start to
/// the first step, since starting many processes takes what it takes.
duration chaos_run::plan_time() const {
  if (first_step_)
    return clock::now() - *first_step_;
  auto started = std::any_of(peers_.begin(), peers_.end(), [](const auto& x) {
    return x.role() == "trainer" && x.lives() > 0;
  });
  return started ? duration{0} : duration{clock::now() - began_};
}

/// False when the run is over.
bool chaos_run::look_after() {
  auto now = clock::now();
  bool anybody = false;
  for (auto& peer : peers_) {
    peer.turn(now);
    auto runs = peer.running();
    anybody = anybody || (runs && peer.role() != "bootstrap");
  }
  if (now >= next_measure_) {
    next_measure_ = now + measure_interval;
    for (auto& peer : peers_)
      peer.measure();
  }
  if (!first_step_ || faults_.any_under_way())
    calm_since_ = finishing_ ? calm_since_ : now;
  else if (!finishing_)
    longest_pause_ = std::max(longest_pause_, seconds_since(calm_since_));
  if (!anybody && (finishing_ || !due_.next()))
    return false;
  if (!first_step_ && now - began_ > start_patience)
    trouble_ = "no step was taken in the first "
               + std::to_string(start_patience.count()) + " s";
  else if (finishing_ && now - calm_since_ > finish_patience)
    trouble_ = "not everybody finished within "
               + std::to_string(finish_patience.count())
               + " s after the first who did";
  else if (!finishing_
           && seconds_since(calm_since_)
                  > to_seconds(plan_.what.expects.recovers_within) + 5)
    trouble_ = "no step was taken for "
               + readable_seconds(seconds_since(calm_since_));
  else if (plan_time() > plan_.what.lasts)
    trouble_ = "the run had not ended after "
               + readable_seconds(to_seconds(plan_.what.lasts));
  return trouble_.empty();
}

void chaos_run::show() {
  std::vector<peer_view> rows;
  for (const auto& peer : peers_)
    rows.push_back(peer.view());
  view_.seconds = seconds_since(began_);
  screen_.show(rows, view_);
}

// ---- the whole -------------------------------------------------------------

expected<chaos_outcome> chaos_run::run() {
  auto family = child_group::make();
  if (!family)
    return failure{family.error()};
  family_.emplace(std::move(*family));
  auto done = add_peers();
  auto next_look = clock::now();
  while (done) {
    if (clock::now() >= next_look) {
      follow();
      show();
      next_look = clock::now() + log_interval;
    }
    if (!finishing_)
      done = carry_out_due();
    if (!done || !look_after())
      break;
    if (auto caught = sigtimedwait(&signals_, nullptr, &look_interval);
        caught > 0)
      done = failure{"interrupted"};
  }
  follow();
  show();
  if (!done) {
    peers_.clear(); // Ends them.
    return failure{done.error()};
  }
  return conclude();
}

chaos_outcome chaos_run::conclude() {
  chaos_outcome result;
  for (auto& peer : peers_)
    if (peer.role() == "bootstrap")
      peer.leave();
  auto deadline = clock::now() + goodbye_patience;
  auto any = [&] {
    return std::any_of(peers_.begin(), peers_.end(), [](auto& x) {
      return x.role() == "bootstrap" && x.running();
    });
  };
  while (any() && clock::now() < deadline
         && sigtimedwait(&signals_, nullptr, &look_interval) <= 0) {
  }
  auto& record = result.record;
  const auto settings = chaos_settings(plan_.what);
  auto& run = record.run;
  run.steps = number_in(settings, "steps");
  run.target_batch = number_in(settings, "target-batch");
  run.redraws = std::any_of(settings.begin(), settings.end(), [](auto& x) {
    return x.name == "averaging" && x.value == "moshpit";
  });
  run.expects = plan_.what.expects;
  run.may_give_up = true;
  for (const auto& rule : plan_.what.faults)
    run.may_part = run.may_part || separates(rule.kind);
  record.longest_pause = longest_pause_;
  record.trouble = trouble_;
  result.history = due_.history();
  result.seconds = seconds_since(began_);
  result.network = network_->totals();
  while (due_.next() && result.not_reached < many_events) {
    due_.due(*due_.next(), {});
    ++result.not_reached;
  }
  if (result.history.empty() && result.not_reached > 0
      && record.trouble.empty())
    record.trouble = "the run was over before its first fault; give it more "
                     "--steps";
  for (auto& peer : peers_) {
    if (peer.running())
      record.left_behind.push_back(peer.name() + " still ran at the end");
    for (auto& life : peer.take_lives())
      record.lives.push_back(std::move(life));
  }
  peers_.clear();
  return result;
}

} // namespace potluck::tools
