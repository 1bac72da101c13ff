#include "actors/compute.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "runtime/optimizer/run_optimizer.hpp"
#include "runtime/optimizer/schedules/schedule.hpp"
#include "runtime/state/setting_kinds.hpp"
#include "tests/actors/compute_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Throws in its second batch.
class fragile_trainer : public tiny_trainer {
public:
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    if (++batches_ == 2)
      throw std::runtime_error("out of memory");
    return tiny_trainer::accumulate(request, parameters, gradient, cancelled);
  }

private:
  int batches_ = 0;
};

/// What calls of `keeping_trainer` say.
struct keeping_log {
  std::vector<digest> states; ///< Of parameters, of each batch.
  int collected = 0;
};

/// Keeps sums to itself until they are collected, as one on a graphics card.
class keeping_trainer : public tiny_trainer {
public:
  explicit keeping_trainer(std::shared_ptr<keeping_log> log)
      : log_(std::move(log)) {
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float*, const std::atomic<bool>& cancelled) override {
    log_->states.push_back(request.state);
    return tiny_trainer::accumulate(request, parameters, kept_.data(),
                                    cancelled);
  }
  void collect(float* gradient) override {
    ++log_->collected;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      gradient[i] += kept_[i];
    drop();
  }
  void drop() override {
    std::fill(kept_.begin(), kept_.end(), 0.0f);
  }

private:
  std::shared_ptr<keeping_log> log_;
  std::vector<float> kept_ = std::vector<float>(values, 0.0f);
};

std::vector<float> plus(std::vector<float> a, const std::vector<float>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] += b[i];
  return a;
}

compute_config keeping(const std::shared_ptr<keeping_log>& log) {
  compute_config c;
  c.make_trainer = [log](const charter&) {
    return std::make_unique<keeping_trainer>(log);
  };
  return c;
}

struct shop : compute_stage {
  explicit shop(compute_config c = {}, bool delayed = false)
      : compute_stage(settings(delayed), std::move(c)) {
  }

  std::vector<float> lent(bool aside = false) {
    tell(lend_gradient{aside});
    auto news = conductor->last<gradient_lent>();
    return *news.gradient;
  }
};

/// The gradient of samples `first` to `first + samples` at the first state.
std::vector<float> expected_gradient(std::uint64_t first,
                                     std::uint32_t samples) {
  tiny_trainer model;
  auto state = initial_state(model.layout(), 1);
  std::vector<float> result(tiny_trainer::values, 0.0f);
  std::atomic<bool> never{false};
  model.accumulate({3, first, samples, 1}, state.parameters.data(),
                   result.data(), never);
  return result;
}

/// The first step of a run, as the optimizer alone would have it.
void step_alone(const run_settings& settings, const model_layout& layout,
                training_state& state, const std::vector<float>& mean) {
  auto alone = unwrap(make_optimizer(settings, layout, 1));
  alone.apply(vectors_in(state), mean.data(), 1, learning_rate_at(settings, 1));
}

} // namespace

TEST_CASE("a gradient goes to whoever borrows it") {
  shop x;
  x.batch(0, 0, 4);
  const auto sum = x.lent(); // For a sponsor: the conductor gives it away.
  CHECK(x.averager->count<gradient_lent>() == 0);
  group_id round;
  round.bytes[0] = 7;
  x.tell(lend_gradient{false, 4, false, round});
  REQUIRE(x.averager->count<gradient_lent>() == 1);
  CHECK(x.averager->last<gradient_lent>().round == round);
  CHECK(*x.averager->last<gradient_lent>().gradient == sum);
  CHECK(x.conductor->count<gradient_lent>() == 1);
}

TEST_CASE("of a gradient counts as much as its samples do, and it stays whole "
          "for the next round") {
  shop x;
  x.batch(0, 0, 8);
  const auto sum = x.lent();
  x.tell(lend_gradient{false, 2, false, {}, 8});
  const auto part = *x.conductor->last<gradient_lent>().gradient;
  REQUIRE(part.size() == sum.size());
  for (std::size_t i = 0; i < sum.size(); ++i)
    CHECK(part[i] == sum[i] / 4);
  CHECK(x.lent() == sum);
}

TEST_CASE("compute shows its first state to those who need it") {
  shop x;
  REQUIRE(x.conductor->count<state_changed>() == 1);
  auto news = x.conductor->last<state_changed>();
  CHECK(news.step == 0);
  CHECK_FALSE(news.applied);
  CHECK(news.gradient_values == tiny_trainer::values);
  tiny_trainer model;
  CHECK(news.state == digest_of_state(initial_state(model.layout(), 1)));
  CHECK(x.state_keeper->last<state_changed>().state == news.state);
}

TEST_CASE("batches add up to one gradient") {
  shop x;
  x.batch(0, 0, 5);
  x.batch(0, 5, 7);
  auto done = x.conductor->all<batch_done>();
  REQUIRE(done.size() == 2);
  CHECK(done[0].result.samples == 5);
  CHECK(done[1].result.samples == 7);
  CHECK(x.lent() == expected_gradient(0, 12));
}

TEST_CASE("a lent gradient does not change while batches go on") {
  shop x;
  x.batch(0, 0, 5);
  x.tell(lend_gradient{});
  auto before = x.conductor->last<gradient_lent>().gradient;
  auto copy = *before;
  x.batch(0, 5, 7);
  CHECK(*before == copy);
  CHECK(x.lent() == expected_gradient(0, 12));
}

TEST_CASE("a batch for another step computes nothing") {
  shop x;
  x.batch(1, 0, 5);
  CHECK(x.conductor->last<batch_done>().result.samples == 0);
  CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
}

TEST_CASE("a mean makes a step and empties the gradient") {
  shop x;
  x.batch(0, 0, 64);
  x.tell(lend_gradient{});
  auto sum = *x.conductor->last<gradient_lent>().gradient;
  for (auto& value : sum)
    value /= 64;
  auto mean = std::make_shared<std::vector<float>>(sum);
  x.tell(apply_mean{1, 64, mean});
  auto news = x.conductor->last<state_changed>();
  CHECK(news.applied);
  CHECK(news.problem.empty());
  CHECK(news.step == 1);
  CHECK(news.history_samples == 64);
  tiny_trainer model;
  auto state = initial_state(model.layout(), 1);
  step_alone(x.config.agreed.settings(), model.layout(), state, *mean);
  CHECK(x.config.vault->state->parameters == state.parameters);
  CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
}

TEST_CASE(
    "where groups are redrawn, parameters go with the gradient, and a step "
    "begins with the group's") {
  auto settings = compute_stage::settings(false);
  compute_stage x{settings, {}};
  constexpr auto values = tiny_trainer::values;
  x.batch(0, 0, 5);
  x.tell(lend_gradient{false, 5, true});
  auto lent = *x.conductor->last<gradient_lent>().gradient;
  REQUIRE(lent.size() == 2 * values);
  auto own = x.config.vault->state->parameters;
  auto sum = expected_gradient(0, 5);
  for (std::size_t i = 0; i < values; ++i) {
    REQUIRE(lent[i] == sum[i]);
    REQUIRE(lent[values + i] == 5 * own[i]);
  }
  // What a group of others makes of it: other parameters, and their step.
  auto mean = std::make_shared<std::vector<float>>(2 * values, 0.25f);
  x.tell(apply_mean{1, 77, mean, false, true});
  auto news = x.conductor->last<state_changed>();
  CHECK(news.applied);
  CHECK(news.gradient_values == values);
  std::vector<float> theirs(values, 0.25f);
  CHECK(news.averaged == digest_of(theirs.data(), values * sizeof(float)));
  // A step of the run is the target batch, whatever the group had of it.
  CHECK(news.history_samples == settings.target_batch);
  tiny_trainer model;
  auto expected = initial_state(model.layout(), 1);
  expected.parameters = theirs;
  step_alone(settings, model.layout(), expected, *mean);
  CHECK(x.config.vault->state->parameters == expected.parameters);
  // A mean that is refused leaves nothing of the others' parameters.
  auto before = x.config.vault->state->parameters;
  for (std::size_t bad : {std::size_t{0}, 2 * values - 1}) {
    auto wrong = std::make_shared<std::vector<float>>(*mean);
    (*wrong)[bad] = std::numeric_limits<float>::infinity();
    x.tell(apply_mean{2, 77, wrong, false, true});
    CHECK_FALSE(x.conductor->last<state_changed>().problem.empty());
    CHECK(x.config.vault->state->parameters == before);
  }
}

TEST_CASE("a mean that does not fit is refused and changes nothing") {
  shop x;
  auto mean = std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f);
  auto before = x.conductor->last<state_changed>().state;
  SUBCASE("another step") {
    x.tell(apply_mean{2, 64, mean});
  }
  SUBCASE("another length") {
    mean->pop_back();
    x.tell(apply_mean{1, 64, mean});
  }
  SUBCASE("not finite") {
    mean->front() = std::numeric_limits<float>::infinity();
    x.tell(apply_mean{1, 64, mean});
  }
  auto news = x.conductor->last<state_changed>();
  CHECK_FALSE(news.applied);
  CHECK_FALSE(news.problem.empty());
  CHECK(news.step == 0);
  CHECK(news.state == before);
}

TEST_CASE("a trainer that throws ends compute, and the next one goes on") {
  compute_config c;
  c.make_trainer
      = [](const charter&) { return std::make_unique<fragile_trainer>(); };
  shop x{c};
  auto mean = std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f);
  x.tell(apply_mean{1, 64, mean});
  x.batch(1, 0, 5);
  CHECK_FALSE(x.ended);
  x.batch(1, 5, 5);
  CHECK(x.ended);
  CHECK(x.reason.find("out of memory") != std::string::npos);
  x.conductor->clear();
  x.start();
  auto news = x.conductor->last<state_changed>();
  CHECK(news.step == 1);
  CHECK(news.history_samples == 64);
  CHECK_FALSE(x.ended);
}

TEST_CASE("a trainer that cannot be made ends compute") {
  compute_config c;
  c.make_trainer = [](const charter&) -> std::unique_ptr<trainer> {
    throw std::runtime_error("The data is missing.");
  };
  shop x{c};
  CHECK(x.ended);
  CHECK(x.reason.find("The data is missing.") != std::string::npos);
}

TEST_CASE("who is wired anew hears the state, but not that it was a step") {
  shop x;
  auto mean = std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f);
  x.tell(apply_mean{1, 64, mean});
  auto fresh = x.system.pretend<conductor_actor>();
  wiring w;
  w.compute = x.it;
  w.conductor = fresh.handle;
  w.state_keeper = x.state_keeper.handle;
  x.tell(w.for_compute());
  auto news = fresh->last<state_changed>();
  CHECK(news.step == 1);
  CHECK_FALSE(news.applied);
}

TEST_CASE("an adopted state replaces the own one and its gradient") {
  shop x;
  x.batch(0, 0, 5);
  tiny_trainer model;
  auto other
      = std::make_shared<training_state>(initial_state(model.layout(), 2));
  other->step = 9;
  other->history_samples = 900;
  other->recent.clear();
  x.tell(adopt_state{other});
  auto news = x.conductor->last<state_changed>();
  CHECK(news.step == 9);
  CHECK(news.history_samples == 900);
  CHECK(news.state == digest_of_state(*other));
  CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
}

TEST_CASE("a run has the moments that its optimizer keeps, and no others") {
  const std::pair<const char*, unsigned> all[]
      = {{"sgd", 0}, {"lion", 1}, {"adam", 2}};
  for (const auto& [name, moments] : all) {
    const auto shown = std::string{name};
    CAPTURE(shown);
    auto settings = shop::settings(false);
    settings.own.erase("optimizer");
    settings.optimizer = name;
    if (moments == 0)
      REQUIRE(bool(assign(settings, {{"momentum", "0"}})));
    complete(settings, built_in_families());
    compute_config c;
    // What begins with another optimizer's moments gets these.
    tiny_trainer model;
    c.vault = std::make_shared<state_vault>();
    if (moments == 1)
      c.vault->state
          = std::make_shared<training_state>(initial_state(model.layout(), 1));
    compute_stage x{settings, c};
    x.tell(apply_mean{
        1, 64,
        std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f)});
    x.tell(take_snapshot{});
    REQUIRE_MESSAGE(!x.ended, x.reason);
    const auto state = x.state_keeper->last<snapshot_taken>().state;
    CHECK(state->step == 1);
    CHECK(state->moments() == moments);
    CHECK(state->recent.front() == digest_of_state(*state));
    CHECK(state->parameters
          != initial_state(model.layout(), settings.seed).parameters);

    // Of later steps, another one's cannot be gone on from.
    auto other = std::make_shared<training_state>(
        initial_state(model.layout(), 1, (moments + 1) % 3));
    other->step = 9;
    x.tell(adopt_state{other});
    CHECK(x.ended);
  }
}

TEST_CASE("a snapshot does not change with the next step") {
  shop x;
  x.tell(take_snapshot{});
  auto taken = x.state_keeper->last<snapshot_taken>().state;
  auto before = digest_of_state(*taken);
  x.tell(apply_mean{
      1, 64, std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f)});
  CHECK(taken->step == 0);
  CHECK(digest_of_state(*taken) == before);
  CHECK(x.config.vault->state->step == 1);
}

TEST_CASE("a snapshot is a copy only where the next step comes too early") {
  shop x;
  const auto step = [&](std::uint64_t number) {
    x.tell(apply_mean{
        number, 64,
        std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f)});
    REQUIRE(x.config.vault->state->step == number);
    return x.config.vault->state.get();
  };
  const auto* first = step(1);
  x.tell(take_snapshot{});
  auto taken = x.state_keeper->last<snapshot_taken>().state;
  CHECK(taken.get() == first);
  const auto* second = step(2);
  CHECK(second != first);
  CHECK(step(3) == second);
}

TEST_CASE("a simulated batch takes its time on the actor's clock") {
  compute_config c;
  c.batch_time = [](std::uint32_t samples) { return samples * duration{10ms}; };
  shop x{c};
  x.batch(0, 0, 5);
  x.system.advance(49ms);
  x.system.run();
  CHECK(x.conductor->count<batch_done>() == 0);
  x.system.advance(1ms);
  x.system.run();
  REQUIRE(x.conductor->count<batch_done>() == 1);
  CHECK(x.conductor->last<batch_done>().seconds == doctest::Approx(0.05));
}

TEST_CASE("a compute that was replaced no longer touches the state") {
  // The old one may still have jobs when the new one starts.
  shop x;
  auto old = x.it;
  x.start();
  auto before = x.config.vault->state->parameters;
  caf::anon_send(old, apply_mean{1, 64,
                                 std::make_shared<std::vector<float>>(
                                     tiny_trainer::values, 0.1f)});
  x.system.run();
  CHECK(x.config.vault->state->step == 0);
  CHECK(x.config.vault->state->parameters == before);
}

TEST_CASE("what was set aside stays, and batches add up apart") {
  shop x{{}, true};
  x.batch(0, 0, 5);
  x.tell(set_gradient_aside{});
  x.batch(0, 5, 7);
  CHECK(x.lent(true) == expected_gradient(0, 5));
  CHECK(x.lent() == expected_gradient(5, 7));
  SUBCASE("taken back, both are one") {
    x.tell(take_gradient_back{true});
    auto sum = expected_gradient(0, 5);
    auto newer = expected_gradient(5, 7);
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += newer[i];
    CHECK(x.lent() == sum);
  }
  SUBCASE("taken back alone") {
    x.tell(take_gradient_back{false});
    CHECK(x.lent() == expected_gradient(0, 5));
  }
  SUBCASE("dropped, the newer one stays") {
    x.tell(drop_gradient{true});
    CHECK(x.lent() == expected_gradient(5, 7));
  }
  SUBCASE("a contribution goes where it is said to") {
    auto what = std::make_shared<contribution>();
    what->gradient.assign(tiny_trainer::values, 1.0f);
    x.tell(add_gradient{what, true});
    CHECK(x.lent() == expected_gradient(5, 7));
    CHECK(x.lent(true)[0] == expected_gradient(0, 5)[0] + 1);
  }
}

TEST_CASE("a mean that is applied beside batches touches no gradient, and the "
          "next batch sees the new parameters") {
  shop x{{}, true};
  x.batch(0, 0, 5);
  x.tell(set_gradient_aside{});
  x.batch(0, 5, 7);
  auto mean = std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f);
  x.tell(apply_mean{1, 64, mean, true});
  CHECK(x.conductor->last<state_changed>().step == 1);
  CHECK(x.lent(true) == expected_gradient(0, 5));
  CHECK(x.lent() == expected_gradient(5, 7));
  x.tell(drop_gradient{});
  // Asked for before anybody knew of the step, computed behind it.
  x.batch(0, 12, 3);
  tiny_trainer model;
  std::vector<float> newer(tiny_trainer::values, 0.0f);
  std::atomic<bool> never{false};
  model.accumulate({3, 12, 3, 1}, x.config.vault->state->parameters.data(),
                   newer.data(), never);
  CHECK(x.lent() == newer);
}

TEST_CASE("delayed or not, a mean leads to the same state") {
  auto mean = std::make_shared<std::vector<float>>(tiny_trainer::values, 0.1f);
  shop a;
  a.tell(apply_mean{1, 64, mean});
  shop b{{}, true};
  b.tell(apply_mean{1, 64, mean, true});
  CHECK(a.conductor->last<state_changed>().state
        == b.conductor->last<state_changed>().state);
}

TEST_CASE("what a trainer keeps leaves it when the gradient is lent, once") {
  auto log = std::make_shared<keeping_log>();
  shop x(keeping(log));
  x.batch(0, 0, 5);
  x.batch(0, 5, 7);
  CHECK(log->collected == 0);
  CHECK(x.lent() == expected_gradient(0, 12));
  CHECK(x.lent() == expected_gradient(0, 12)); // A round that is tried again.
  CHECK(log->collected == 1);
  x.batch(0, 12, 3);
  const auto more = plus(expected_gradient(0, 12), expected_gradient(12, 3));
  CHECK(x.lent() == more);
  CHECK(log->collected == 2);
  REQUIRE(log->states.size() == 3);
  CHECK(!log->states[0].empty());
  CHECK(log->states[0] == log->states[2]);
}

TEST_CASE("a step drops what a trainer keeps, and names its parameters anew") {
  auto log = std::make_shared<keeping_log>();
  shop x(keeping(log));
  x.batch(0, 0, 64);
  auto mean = std::make_shared<std::vector<float>>(x.lent());
  x.batch(0, 64, 4); // Too late for the round.
  x.tell(apply_mean{1, 64, mean});
  CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
  x.batch(1, 68, 4);
  x.tell(adopt_state{});
  CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
  x.batch(0, 0, 1);
  REQUIRE(log->states.size() == 4);
  CHECK(log->states[1] != log->states[2]);
  CHECK(log->states[2] != log->states[3]);
}

TEST_CASE("what a trainer keeps goes aside with the gradient") {
  auto log = std::make_shared<keeping_log>();
  shop x(keeping(log), true);
  x.batch(0, 0, 5);
  x.tell(set_gradient_aside{});
  x.batch(0, 5, 7);
  CHECK(x.lent(true) == expected_gradient(0, 5));
  CHECK(x.lent() == expected_gradient(5, 7));
  x.batch(0, 12, 3);
  x.tell(take_gradient_back{true});
  const auto all = plus(plus(expected_gradient(0, 5), expected_gradient(5, 7)),
                        expected_gradient(12, 3));
  CHECK(x.lent() == all);
  x.tell(set_gradient_aside{});
  x.batch(0, 15, 3);
  x.tell(take_gradient_back{false});
  CHECK(x.lent() == all);
}

namespace {

/// Writes where a sum begins, and gives nothing of its first batch.
class beginning_trainer : public tiny_trainer {
public:
  explicit beginning_trainer(std::shared_ptr<std::vector<bool>> begun)
      : begun_(std::move(begun)) {
  }
  bool begins_sums() const override {
    return true;
  }
  batch_result accumulate(const batch_request& request, const float* parameters,
                          float* gradient,
                          const std::atomic<bool>& cancelled) override {
    begun_->push_back(request.begins);
    if (request.begins)
      std::fill_n(gradient, values, begun_->size() == 1 ? -5.0f : 0.0f);
    if (begun_->size() == 1)
      return {};
    return tiny_trainer::accumulate(request, parameters, gradient, cancelled);
  }

private:
  std::shared_ptr<std::vector<bool>> begun_;
};

} // namespace

TEST_CASE("a trainer that begins sums is told where it has to") {
  for (bool delayed : {false, true}) {
    CAPTURE(delayed);
    auto begun = std::make_shared<std::vector<bool>>();
    compute_config how;
    how.make_trainer = [begun](const charter&) {
      return std::make_unique<beginning_trainer>(begun);
    };
    shop x{how, delayed};
    x.batch(0, 0, 3); // Which comes to nothing, but for what it wrote.
    CHECK(x.lent() == std::vector<float>(tiny_trainer::values, 0.0f));
    x.batch(0, 0, 5);
    x.batch(0, 5, 7);
    CHECK(x.lent() == plus(expected_gradient(0, 5), expected_gradient(5, 7)));
    x.tell(drop_gradient{});
    x.batch(0, 5, 7);
    CHECK(x.lent() == expected_gradient(5, 7));
    // The sum is zero again once it was lent.
    CHECK(*begun == std::vector<bool>{true, false, false, true});
  }
}

TEST_CASE("what was set aside comes back whole where nothing came since") {
  auto begun = std::make_shared<std::vector<bool>>(1);
  compute_config how;
  how.make_trainer = [begun](const charter&) {
    return std::make_unique<beginning_trainer>(begun);
  };
  shop x{how, true};
  x.batch(0, 0, 5);
  x.tell(set_gradient_aside{});
  x.tell(take_gradient_back{true});
  CHECK(x.lent() == expected_gradient(0, 5));
  x.tell(set_gradient_aside{});
  x.batch(0, 5, 7);
  x.tell(take_gradient_back{true});
  CHECK(x.lent() == plus(expected_gradient(0, 5), expected_gradient(5, 7)));
}
