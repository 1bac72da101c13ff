#include "tools/library/session.hpp"

#include <cmath>

#include "runtime/lines/rate.hpp"
#include "runtime/state/checkpoint.hpp"
#include "tools/library/loop_peer.hpp"
#include "tools/library/outside_model.hpp"
#include "tools/library/outside_trainer.hpp"
#include "tools/library/run_creation.hpp"
#include "tools/library/without_signals.hpp"

namespace potluck::library {

// ---- before it is opened ----------------------------------------------------

void session::must_be(stage x) const {
  if (at_ == x)
    return;
  if (at_ == stage::closed)
    throw complaint{"the run is not opened yet; call potluck_open first"};
  throw complaint{
      x == stage::closed
          ? "the run is open; this has to be said before potluck_open"
          : "the run was left"};
}

void session::set(const std::string& name, const std::string& value) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  options_.set(name, value);
}

void session::declare(const std::string& name, std::vector<std::int64_t> shape,
                      bool decays, const float* values) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  first_.declare(name, std::move(shape), decays, values);
}

void session::load(const std::string& path) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  first_.load(path);
}

void session::set_moments(std::uint64_t step, const float* const* first,
                          const float* const* second) {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  first_.set_moments(options_.settings("seed"), step, first, second);
}

std::string session::create() {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  auto text = create_run(options_, first_);
  options_.set("invitation", text);
  return text;
}

// ---- opening ----------------------------------------------------------------

void session::take_part(peer_config& config, const run_settings& settings) {
  config.demanded = options_.demanded();
  if (options_.text("invitation").empty())
    config.propose
        = [settings, layout = first_.layout(), files = options_.artifacts(),
           folder = artifacts_of(options_)] {
            return charter_with(settings, layout, files, folder);
          };
  config.own_artifacts = options_.artifacts();
  config.artifacts_folder = artifacts_of(options_).path();
  // Read once before.
  config.max_artifacts
      = static_cast<std::uint64_t>(*read_bytes(options_.text("max-artifacts")));
  config.make_trainer = [layout = first_.layout(), with = with_, heard = heard_,
                         learnt = learnt_](const charter& of) {
    if (auto problem = difference_from(of, layout); !problem.empty()) {
      heard->fail(problem);
      with->ends();
      throw std::runtime_error(problem);
    }
    learnt->agree(of);
    with->begins(of.settings().delayed_updates());
    return std::make_unique<outside_trainer>(layout, with);
  };
  config.vault = vault_;
  first_.give(config, identity_.folder(), settings);
}

run_settings session::proposed() {
  auto result = options_.settings("seed");
  if (only_calls())
    return result;
  return options_.settings(to_string(first_.whole(result).recent.front()));
}

void session::open() {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::closed);
  const auto settings = proposed();
  if (const auto& log = options_.text("log-json"); !log.empty())
    heard_->write_to(log);
  std::vector<std::string> told;
  auto config = loop_peer(options_, settings, first_, identity_, told);
  config.role = only_calls() ? role::expert : role::trainer;
  threads_ = config.threads;
  {
    const without_signals unheard; // It has a thread.
    experts_ = std::make_shared<expert_client>();
  }
  config.expert_calls = experts_->line();
  if (!only_calls())
    take_part(config, settings);
  else if (config.seeds.empty())
    throw complaint{"whoever only calls experts has to find their run: set "
                    "peer to the HOST:PORT of one of its peers, or invitation"};
  for (auto& sentence : told)
    heard_->hear(event{"notice", {{"message", sentence}}});
  peer_ = std::make_unique<hosted_peer>(std::move(config), heard_, with_);
  at_ = stage::open;
}

// ---- the loop ---------------------------------------------------------------

int session::add(tensors<const float> gradients, std::uint64_t samples,
                 double loss, duration patience) {
  std::optional<charter> run;
  {
    std::lock_guard<std::mutex> lock{mutex_};
    must_be(stage::open);
    must_train();
    run = agreed();
  }
  if (!with_->look().has_parameters || !run)
    throw complaint{"there is no parameter yet that this gradient could be of; "
                    "call potluck_take until it gives them"};
  const auto most = 2 * run->settings().target_batch;
  if (samples == 0 || samples > most)
    throw complaint{"samples is " + std::to_string(samples)
                    + ", but must be 1 to twice the target batch, which is "
                    + std::to_string(run->settings().target_batch)};
  if (!std::isfinite(loss))
    throw complaint{"the loss is not finite", POTLUCK_NOT_FINITE};
  switch (with_->add(samples, loss * static_cast<double>(samples), patience,
                     [&](float* sum, bool begins) {
                       values().add_to(sum, begins, gradients,
                                       static_cast<float>(samples));
                     })) {
    case meeting::outcome::late:
      return POTLUCK_TIMEOUT;
    case meeting::outcome::over:
      return over();
    default:
      return POTLUCK_OK;
  }
}

int session::take(tensors<float> parameters, duration patience) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    if (at_ == stage::closed)
      must_be(stage::open);
    must_train();
  }
  switch (with_->take(
      patience, [&](const float* held) { values().give(held, parameters); })) {
    case meeting::outcome::done:
      return POTLUCK_OK;
    case meeting::outcome::same:
      return POTLUCK_SAME;
    case meeting::outcome::over:
      break;
    default:
      return POTLUCK_TIMEOUT;
  }
  const auto result = over();
  copy_last(parameters);
  return result;
}

int session::over() const {
  if (const auto problem = heard_->look().problem; !problem.empty())
    throw complaint{problem, POTLUCK_FAILED};
  return POTLUCK_OVER;
}

void session::copy_last(const tensors<float>& parameters) {
  read([&](const training_state& held) {
    values().give(held.parameters.data(), parameters);
    with_->took_last(held.step);
  });
}

void session::must_train() const {
  if (only_calls())
    throw complaint{"this handle has no tensors, so it calls experts and "
                    "trains nothing"};
}

expert_desk session::experts_of(unsigned long layer) const {
  std::lock_guard<std::mutex> lock{mutex_};
  must_be(stage::open);
  const auto heard = heard_->look();
  if (!heard.problem.empty())
    throw complaint{heard.problem, POTLUCK_FAILED};
  if (heard.closed)
    throw complaint{"the run is over here; open a handle without tensors to "
                    "call its experts"};
  const auto run = agreed();
  auto called
      = experts_in(run ? run->settings() : options_.settings("seed"), layer);
  if (!called)
    throw complaint{called.error()};
  return {experts_, known_experts_, std::move(called->layer), called->width};
}

// ---- looking ----------------------------------------------------------------

template <class Job>
void session::read(Job job) const {
  const meeting::pause quiet{*with_};
  std::lock_guard<std::mutex> lock{vault_->busy};
  if (!vault_->state)
    throw complaint{"the run is not opened yet; call potluck_open first"};
  job(*vault_->state);
}

std::string session::get(const std::string& name) const {
  std::lock_guard<std::mutex> lock{mutex_};
  if (name == "id") {
    if (!identity_.key())
      throw complaint{"the peer has no id before potluck_open"};
    return to_string(identity_.key()->id());
  }
  if (name == "address")
    return heard_->look().address;
  const auto run = agreed();
  if (name == "settings") {
    std::string text;
    for (auto& x : run ? run->table() : to_table(options_.settings("seed")))
      text += x.name + "=" + x.value + "\n";
    return text;
  }
  if (name == "layout")
    return to_layout_text(first_.layout());
  const std::string artifact = "artifact:";
  if (name.compare(0, artifact.size(), artifact) == 0) {
    if (!run)
      throw complaint{"the run's artifacts are not here yet; call potluck_take "
                      "until it gives parameters"};
    auto path = artifacts_of(options_).find(*run, name.substr(artifact.size()));
    if (!path)
      throw complaint{path.error()};
    return *path;
  }
  if (run)
    for (auto& x : to_table(run->settings()))
      if (x.name == name && name != "run")
        return x.value;
  return options_.get(name);
}

void session::look(struct potluck_status& x) const {
  std::lock_guard<std::mutex> lock{mutex_};
  glance{at_, only_calls(), heard_->look(), with_->look(), agreed()}.fill(x);
}

std::optional<std::string> session::next_event(std::size_t room,
                                               duration patience) {
  return heard_->next(room, patience);
}

std::string session::digest() const {
  std::string result;
  read([&](const training_state& held) {
    result = to_string(held.recent.empty() ? digest_of_state(held)
                                           : held.recent.front());
  });
  return result;
}

void session::save(const std::string& path) const {
  const auto run = agreed();
  if (!run)
    throw complaint{"the run's settings are not known yet; call potluck_take "
                    "until it gives parameters"};
  read([&](const training_state& held) {
    if (auto done = save_checkpoint(path, *run, held); !done)
      throw complaint{done.error()};
  });
}

std::uint64_t session::moments(float* const* first,
                               float* const* second) const {
  std::uint64_t step = 0;
  read([&](const training_state& held) {
    values().give_moments(held.first_moment, first);
    values().give_moments(held.second_moment, second);
    step = held.step;
  });
  return step;
}

// ---- the end ----------------------------------------------------------------

void session::begin_to_leave() {
  std::lock_guard<std::mutex> lock{mutex_};
  if (at_ != stage::open)
    return;
  at_ = stage::leaving;
  with_->ends();
  peer_->leave();
}

int session::leave(duration patience) {
  {
    std::lock_guard<std::mutex> lock{mutex_};
    if (at_ == stage::left)
      return POTLUCK_OK;
    if (at_ == stage::closed)
      must_be(stage::open);
  }
  if (heard_->look().finished)
    heard_->wait_for_end(patience / 2, true);
  begin_to_leave();
  if (!heard_->wait_for_end(patience, false))
    return POTLUCK_TIMEOUT;
  std::lock_guard<std::mutex> lock{mutex_};
  peer_.reset(); // Its actors are gone, so this takes no time.
  identity_.release();
  at_ = stage::left;
  return POTLUCK_OK;
}

std::string session::problem() const {
  auto last = learnt_->problem();
  return last.empty() ? heard_->look().problem : last;
}

} // namespace potluck::library
