#include "tools/lab/demo/demo_run.hpp"

#include <algorithm>

#include "runtime/numbers.hpp"

namespace potluck::tools {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// Between two looks at the logs: as smooth as an eye asks for.
constexpr timespec look_interval{0, 100'000'000};
/// Far longer than any step, or than learning the tokenizer, takes.
constexpr auto patience = 90s;
constexpr auto goodbye_patience = 3s;

constexpr std::uint64_t longest_warmup = 50;

constexpr auto victim = "peer-2";

/// A transformer small enough for several on one laptop, and a rate at which it
/// learns the most in a minute: at half of it the loss falls more slowly, at
/// twice it stays at what the tokens' frequencies alone explain.
const std::vector<std::string> model_settings{
    "--vocabulary=2000",       "--sequence-length=32", "--embedding-size=64",
    "--hidden-size=128",       "--layers=1",           "--heads=4",
    "--intermediate-size=256", "--learning-rate=0.02",
};

} // namespace

demo_run::demo_run(demo_plan plan, demo_screen& screen, const sigset_t& signals)
    : plan_(std::move(plan)), screen_(screen), signals_(signals) {
  view_.steps = plan_.steps;
  began_ = last_news_ = clock::now();
}

// ---- starting --------------------------------------------------------------

expected<bool> demo_run::start(const child_group& family,
                               const std::string& name, const std::string& role,
                               const std::vector<std::string>& options) {
  std::vector<std::string> words{plan_.program};
  if (role == "bootstrap")
    words.insert(words.end(), {"bootstrap", "--config-file=/dev/null"});
  else
    words.insert(words.end(),
                 {"join", "--role=" + role, "--run=demo",
                  "--config-file=/dev/null", "--peer=" + contact_});
  if (role == "trainer")
    // One thread each and no GPU: the peers share this machine.
    words.insert(
        words.end(),
        {"--data=" + plan_.data, "--threads=1", "--device=cpu",
         "--micro-batch=16", "--checkpoint-every=0",
         "--checkpoint=" + plan_.directory + "/" + name + ".checkpoint"});
  words.insert(words.end(), {"--listen=127.0.0.1:0",
                             "--identity-dir=" + plan_.directory + "/" + name});
  words.insert(words.end(), options.begin(), options.end());
  auto peer = demo_peer::start(family, plan_.directory, name, role, words);
  if (!peer)
    return failure{peer.error()};
  peers_.push_back(std::move(*peer));
  return true;
}

/// Any of the trainers may found the run, so all know how it should be; whoever
/// comes later asks them.
expected<bool> demo_run::start_first_peers(const child_group& family) {
  auto options = model_settings;
  options.push_back("--steps=" + std::to_string(plan_.steps));
  options.push_back(
      "--warmup-steps="
      + std::to_string(std::min(longest_warmup, plan_.steps / 10)));
  options.push_back("--target-batch=" + std::to_string(plan_.target_batch));
  for (std::uint64_t i = 1; i <= plan_.trainers; ++i) {
    auto done = start(family, "peer-" + std::to_string(i), "trainer", options);
    if (!done)
      return done;
  }
  screen_.say("the bootstrap listens at " + contact_ + "; "
              + std::to_string(plan_.trainers)
              + " trainers and an auxiliary contact it");
  return start(family, "auxiliary", "auxiliary", {});
}

/// Kills one trainer and starts another, when the victim's log says it is time.
expected<bool> demo_run::swap_peers(const child_group& family) {
  auto i = std::find_if(peers_.begin(), peers_.end(),
                        [](const auto& x) { return x.name() == victim; });
  if (i == peers_.end() || i->record().end == life_record::how::killed
      || i->view().step < std::max<std::uint64_t>(1, plan_.steps / 3))
    return true;
  i->kill();
  auto newcomer = "peer-" + std::to_string(plan_.trainers + 1);
  screen_.say(i->name() + " killed (kill -9) after step "
              + std::to_string(i->view().step) + "; " + newcomer
              + " started to join late");
  auto done = start(family, newcomer, "trainer", {});
  if (done)
    peers_.back().mark_late();
  return done;
}

// ---- following -------------------------------------------------------------

void demo_run::follow() {
  for (auto& peer : peers_)
    for (const auto& x : peer.news()) {
      last_news_ = clock::now();
      if (x.name == "listening" && &peer == &bootstrap())
        contact_ = x.text("address");
      if (x.name == "step" && x.count("step") > view_.step) {
        view_.step = x.count("step");
        view_.loss = x.number("loss");
        view_.samples_per_second = speed_of(x);
      }
      tell(peer, x);
    }
}

void demo_run::tell(const demo_peer& peer, const logged_event& x) {
  auto once = [this](const std::string& message) {
    if (told_.insert(message).second)
      screen_.say(message);
  };
  auto step = "step " + std::to_string(x.count("step"));
  if (x.name == "charter" && peer.view().role == "trainer") {
    once(peer.name() + (x.number("founded") > 0 ? " founded" : " joined")
         + " the run");
  } else if (x.name == "state_download") {
    if (x.text("donor").empty())
      once(peer.name() + " came as far as " + step
           + " before its download failed");
    else
      once(peer.name() + " downloaded the state of " + step + " from "
           + name_of(x.text("donor")) + " ("
           + readable(x.number("bytes") / 1e6, 2) + " MB)");
  } else if (x.name == "departure" && x.number("orderly") == 0) {
    once("the others noticed that " + name_of(x.text("peer")) + " is gone");
  } else if (x.name == "round" && x.text("outcome") != "committed") {
    once("an averaging round for " + step + " was given up; it is tried again");
  } else if (x.name == "fault") {
    once(peer.name() + " reports a fault: " + x.text("what") + " "
         + x.text("detail"));
  } else if (x.name == "island") {
    once(peer.name() + " gave up steps of its own for the others' history");
  } else if (x.name == "finished") {
    once(peer.name() + " finished " + step + " with digest "
         + x.text("digest").substr(0, 8));
  }
}

std::string demo_run::name_of(const std::string& short_id) const {
  for (const auto& peer : peers_)
    for (const auto& x : peer.record().events)
      if (x.name == "listening" && x.text("peer") == short_id)
        return peer.name();
  return short_id;
}

bool demo_run::all_done() {
  return peers_.size() > 1
         && std::none_of(peers_.begin() + 1, peers_.end(),
                         [](auto& x) { return x.running(); });
}

/// Whether going on is no use; says whose fault it is.
bool demo_run::in_trouble() {
  if (!bootstrap().running())
    bootstrap().blame("ended before the others");
  if (clock::now() - last_news_ > patience)
    for (auto& peer : peers_)
      if (peer.running())
        peer.blame("still ran when no peer had logged anything for "
                   + std::to_string(patience.count()) + " s");
  return std::any_of(peers_.begin(), peers_.end(), [](auto& x) {
    x.running();
    return !x.record().trouble.empty();
  });
}

void demo_run::show() {
  std::vector<peer_view> rows;
  for (const auto& peer : peers_)
    rows.push_back(peer.view());
  view_.seconds = std::chrono::duration<double>(clock::now() - began_).count();
  screen_.show(rows, view_);
}

// ---- the whole -------------------------------------------------------------

expected<run_record> demo_run::run() {
  auto family = child_group::make();
  if (!family)
    return failure{family.error()};
  auto done = start(*family, "bootstrap", "bootstrap", {});
  if (!done)
    return failure{done.error()};
  while (done) {
    follow();
    if (peers_.size() == 1 && !contact_.empty())
      done = start_first_peers(*family);
    else
      done = swap_peers(*family);
    show();
    if (!done || in_trouble() || all_done())
      break;
    if (auto caught = sigtimedwait(&signals_, nullptr, &look_interval);
        caught > 0)
      done = failure{"interrupted"};
  }
  if (auto& trouble = bootstrap().record().trouble; done && !trouble.empty())
    done = failure{"the bootstrap " + trouble};
  if (!done) {
    peers_.clear(); // Ends them.
    return failure{done.error()};
  }
  follow(); // What they wrote between the last look and their end.
  show();
  return conclude();
}

run_record demo_run::conclude() {
  run_record result;
  result.run.steps = plan_.steps;
  result.run.target_batch = plan_.target_batch;
  bootstrap().stop();
  auto deadline = clock::now() + goodbye_patience;
  while (bootstrap().running() && clock::now() < deadline
         && sigtimedwait(&signals_, nullptr, &look_interval) <= 0) {
  }
  for (auto& peer : peers_) {
    if (&peer == &bootstrap())
      continue;
    const auto& life = peer.record();
    if (life.role == "trainer" && life.end != life_record::how::killed)
      peer.read_checkpoint();
    if (peer.running())
      result.left_behind.push_back(peer.name() + " still ran at the end");
    result.lives.push_back(life);
  }
  peers_.clear(); // Ends whoever still runs.
  return result;
}

} // namespace potluck::tools
