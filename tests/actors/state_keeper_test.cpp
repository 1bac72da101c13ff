#include "actors/state_keeper.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "messages/codec.hpp"
#include "runtime/random.hpp"
#include "runtime/state/checkpoint.hpp"
#include "runtime/state/kept_states.hpp"
#include "runtime/state/limits.hpp"
#include "tests/actors/node.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/support/tiny_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// Three pieces of training state, so that a donor can be lost between two.
constexpr std::uint64_t kept_values = 200000;

std::shared_ptr<training_state> some_state(std::uint64_t step) {
  auto x = std::make_shared<training_state>();
  random_stream random{step};
  auto vector = [&] {
    std::vector<float> values(kept_values);
    for (auto& value : values)
      value = static_cast<float>(random.uniform01());
    return values;
  };
  for (std::uint64_t i = 1; i <= step; ++i)
    x->recent.insert(x->recent.begin(), digest_of(&i, sizeof(i)));
  x->step = step;
  x->history_samples = 64 * step;
  x->parameters = vector();
  x->first_moment = vector();
  x->second_moment = vector();
  if (!x->recent.empty())
    x->recent.erase(x->recent.begin());
  remember_digest(*x);
  return x;
}

/// A donor (1) and a joiner (2) whose computes the test plays.
struct pair {
  explicit pair(const std::string& checkpoint = "",
                const std::string& fallback = "",
                const std::string& kept_folder = "")
      : donor(world, 1), joiner(world, 2, {1}) {
    for (auto x : {&donor, &joiner}) {
      state_keeper_config c;
      c.self = x->id;
      c.agreed = tiny_charter(10, 64);
      if (!checkpoint.empty())
        c.checkpoints = std::make_shared<checkpoint_files>(
            checkpoint_files::places{checkpoint, fallback});
      if (x == &donor) {
        files = c.checkpoints;
        c.kept_folder = kept_folder;
      }
      c.mode = worker_mode::immediate;
      x->replace(&wiring::state_keeper, (*x->system).spawn(state_keeper, c));
    }
    REQUIRE(world.run_until([&] { return joiner.companions() == 1; }, 5s));
  }
  void hold(node& x, const training_state& state) {
    state_changed news;
    news.step = state.step;
    news.history_samples = state.history_samples;
    news.state = state.recent.front();
    news.gradient_values = kept_values;
    caf::anon_send(x.wired.state_keeper, news);
    world.settle();
  }
  /// The donor's compute copies its state when asked.
  void answer_snapshot(std::shared_ptr<const training_state> state) {
    world.settle();
    REQUIRE(donor.compute->count<take_snapshot>() > 0);
    caf::anon_send(donor.wired.state_keeper, snapshot_taken{state});
    world.settle();
  }
  /// The donor's compute has ended, and with it its conductor; others follow.
  void restart_compute() {
    donor.compute = donor.system.pretend<compute_actor>();
    donor.conductor = donor.system.pretend<conductor_actor>();
    donor.wired.compute = donor.compute.handle;
    donor.wired.conductor = donor.conductor.handle;
    donor.wire();
    world.settle();
  }
  void go_back_to(const training_state& state) {
    caf::anon_send(donor.wired.state_keeper,
                   go_back{{state.step, digest_of_state(state)}});
    world.settle();
  }
  void fetch(std::uint64_t own_step = 0, digest own_state = {}) {
    fetch_state order;
    order.goal.step = 5;
    order.goal.state = some_state(5)->recent.front();
    order.goal.donors = {peer(1)};
    order.goal.own_step = own_step;
    order.goal.own_state = own_state;
    caf::anon_send(joiner.wired.state_keeper, order);
    world.settle();
  }
  /// The joiner's compute does as it is told.
  void adopt() {
    auto got = joiner.compute->last<adopt_state>().state;
    REQUIRE(got);
    hold(joiner, *got);
  }
  fetch_result result() const {
    REQUIRE(joiner.conductor->count<state_fetched>() == 1);
    return joiner.conductor->last<state_fetched>().result;
  }
  std::string failure() const {
    return joiner.conductor->last<state_fetch_failed>().reason;
  }
  std::string fault() const {
    return joiner.conductor->last<donor_distrusted>().what;
  }

  test_world world;
  node donor;
  node joiner;
  std::shared_ptr<checkpoint_files> files; ///< The donor's.
};

} // namespace

TEST_CASE("a joiner downloads the donor's state to the bit") {
  pair x;
  auto state = some_state(5);
  x.hold(x.donor, *state);
  x.hold(x.joiner, *some_state(0));
  x.fetch();
  x.answer_snapshot(state);
  REQUIRE(x.joiner.compute->count<adopt_state>() == 1);
  auto got = x.joiner.compute->last<adopt_state>().state;
  CHECK(digest_of_state(*got) == digest_of_state(*state));
  CHECK(got->parameters == state->parameters);
  CHECK(got->recent == state->recent);
  CHECK(x.joiner.conductor->count<state_fetched>() == 0);
  x.adopt();
  auto news = x.result();
  CHECK(news.donor == peer(1));
  CHECK(news.donors == 1);
  CHECK(news.step == 5);
  CHECK(news.means == 0);
  CHECK(news.bytes == state_bytes(kept_values));
  CHECK_FALSE(news.own_history_lost);
  CHECK_FALSE(news.own_history_unknown);
}

TEST_CASE("a joiner learns whether its own steps are part of the history") {
  pair x;
  auto state = some_state(5);
  bool lost = false;
  bool unknown = false;
  digest own = state->recent[4];
  SUBCASE("they are") {
  }
  SUBCASE("they are not") {
    own = digest_of("x", 1);
    lost = true;
  }
  SUBCASE("nobody remembers") {
    state->recent.resize(4);
    unknown = true;
  }
  x.hold(x.donor, *state);
  x.hold(x.joiner, *some_state(1));
  x.fetch(1, own);
  x.answer_snapshot(state);
  x.adopt();
  CHECK(x.result().own_history_lost == lost);
  CHECK(x.result().own_history_unknown == unknown);
}

TEST_CASE("the donor serves one version to its end while it goes on") {
  pair x;
  auto state = some_state(5);
  x.hold(x.donor, *state);
  x.hold(x.joiner, *some_state(0));
  int pieces = 0;
  x.world.network.judge_frames([&](auto&, auto&, outgoing_frame& frame) {
    auto m = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (m && std::holds_alternative<state_piece>(*m) && ++pieces == 1)
      x.hold(x.donor, *some_state(6)); // The donor steps meanwhile.
    return memory_network::fate::arrives;
  });
  x.fetch();
  x.answer_snapshot(state);
  x.adopt();
  CHECK(x.result().step == 5);
  CHECK(pieces >= 2);
}

TEST_CASE("the means of steps that pass are applied on top") {
  pair x;
  auto state = some_state(5);
  x.hold(x.donor, *state);
  x.hold(x.joiner, *some_state(0));
  x.fetch();
  for (std::uint64_t step = 6; step <= 8; ++step) {
    mean_applied news;
    news.mean.step = step;
    news.mean.samples = 64;
    news.mean.before = some_state(step - 1)->recent.front();
    news.mean.after = some_state(step)->recent.front();
    news.mean.values = std::make_shared<std::vector<float>>(
        kept_values, static_cast<float>(step));
    caf::anon_send(x.donor.wired.state_keeper, news);
  }
  x.answer_snapshot(state);
  x.adopt();
  for (std::uint64_t step = 6; step <= 8; ++step) {
    CHECK(x.joiner.conductor->count<state_fetched>() == 0);
    auto job = x.joiner.compute->last<apply_mean>();
    CHECK(job.step == step);
    CHECK(job.samples == 64);
    CHECK(*job.mean
          == std::vector<float>(kept_values, static_cast<float>(step)));
    x.hold(x.joiner, *some_state(step));
  }
  CHECK(x.result().step == 8);
  CHECK(x.result().means == 3);
}

TEST_CASE("who missed one step fetches its mean and nothing else") {
  pair x;
  auto before = some_state(4), after = some_state(5);
  x.hold(x.donor, *before);
  x.hold(x.joiner, *before);
  mean_applied news;
  news.mean.step = 5;
  news.mean.samples = 64;
  news.mean.before = before->recent.front();
  news.mean.after = after->recent.front();
  news.mean.values = std::make_shared<std::vector<float>>(kept_values, 1.0f);
  x.hold(x.donor, *after);
  caf::anon_send(x.donor.wired.state_keeper, news);
  x.world.settle();
  x.fetch(4, before->recent.front());
  CHECK(x.donor.compute->count<take_snapshot>() == 0);
  REQUIRE(x.joiner.compute->count<apply_mean>() == 1);
  x.hold(x.joiner, *after);
  CHECK_FALSE(x.result().whole_state);
  CHECK(x.result().means == 1);
  CHECK(x.result().bytes == 4 * kept_values);
}

TEST_CASE("a download that goes wrong ends in a reason") {
  pair x;
  auto state = some_state(5);
  x.hold(x.joiner, *some_state(0));
  SUBCASE("the donor is silent") {
    x.hold(x.donor, *state);
    x.fetch(); // Its compute never answers.
    x.world.run_for(limits::manifest_patience - 1s);
    CHECK(x.fault().empty());
    x.world.run_for(2s + limits::donorless_patience);
    CHECK(x.fault() == "it does not answer for the state that it reports");
    CHECK(x.failure() == "nobody holds the state that was reported");
  }
  SUBCASE("the donor is lost on the way") {
    x.hold(x.donor, *state);
    int pieces = 0;
    x.world.network.judge_frames([&](auto&, auto&, outgoing_frame& frame) {
      auto m = decode(frame.head.data(), frame.head.size(), frame.body.size);
      if (m && std::holds_alternative<state_piece>(*m) && ++pieces == 2)
        return memory_network::fate::cuts;
      return memory_network::fate::arrives;
    });
    x.fetch();
    x.answer_snapshot(state);
    x.world.run_for(limits::donorless_patience + 1s);
    CHECK(x.failure() == "nobody serves that version any more");
  }
  SUBCASE("the state is of another model") {
    x.hold(x.donor, *state);
    state_changed smaller;
    smaller.state = digest_of("x", 1);
    smaller.gradient_values = 7;
    caf::anon_send(x.joiner.wired.state_keeper, smaller);
    x.fetch();
    x.answer_snapshot(state);
    CHECK_FALSE(x.fault().empty());
  }
  SUBCASE("the bytes are not what the digest says") {
    x.hold(x.donor, *state);
    x.world.network.judge_frames([](auto&, auto&, outgoing_frame& frame) {
      auto m = decode(frame.head.data(), frame.head.size(), frame.body.size);
      if (m && std::holds_alternative<state_piece>(*m)) {
        auto copy = std::make_shared<std::vector<std::uint8_t>>(
            frame.body.data, frame.body.data + frame.body.size);
        copy->back() ^= 1;
        frame.body = {copy, copy->data(), copy->size()};
      }
      return memory_network::fate::arrives;
    });
    x.fetch();
    x.answer_snapshot(state);
    CHECK(x.fault() == "it sent a piece that is not what was listed");
  }
  x.world.run_for(limits::donorless_patience + 1s);
  CHECK(x.joiner.conductor->count<state_fetch_failed>() == 1);
  CHECK(x.joiner.compute->count<adopt_state>() == 0);
}

TEST_CASE("letters of others than the donor do not disturb a download") {
  pair x;
  node third{x.world, 3, {2}};
  REQUIRE(x.world.run_until([&] { return x.joiner.companions() == 2; }, 5s));
  x.hold(x.joiner, *some_state(0));
  x.hold(x.donor, *some_state(5));
  x.fetch();
  state_manifest lie;
  lie.token = 1;
  caf::anon_send(third.wired.gateway, parcel{peer(2), lie, {}});
  x.answer_snapshot(some_state(5));
  x.adopt();
  CHECK(x.result().step == 5);
}

TEST_CASE("a checkpoint holds charter and state") {
  auto folder = std::filesystem::temp_directory_path()
                / ("potluck_state_keeper_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  auto path = (folder / "checkpoint.safetensors").string();
  {
    pair x{path};
    auto state = some_state(5);
    x.hold(x.donor, *state);
    caf::anon_send(x.donor.wired.state_keeper, save_checkpoint_now{5});
    x.answer_snapshot(state);
    REQUIRE(x.donor.conductor->count<checkpoint_saved>() == 1);
    CHECK(x.donor.conductor->last<checkpoint_saved>().problem.empty());
    auto loaded = load_checkpoint(path);
    REQUIRE(loaded);
    CHECK(loaded->charter.digest() == tiny_charter(10, 64).digest());
    CHECK(digest_of_state(loaded->state) == digest_of_state(*state));
  }
  std::filesystem::remove_all(folder);
}

TEST_CASE("what is written when a peer leaves is known once it may be") {
  support::temporary_directory folder;
  pair x{folder / "checkpoint"};
  auto state = some_state(5);
  x.hold(x.donor, *state);
  CHECK_FALSE(x.files->lacks(*state));
  caf::anon_send(x.donor.wired.state_keeper,
                 may_be_saved{state->recent.front()});
  x.world.settle();
  CHECK(x.files->lacks(*state));
}

TEST_CASE("the last checkpoint is tried in a second place") {
  support::temporary_directory folder;
  const auto missing = folder / "missing/checkpoint";
  const auto second = folder / "second";
  auto saved = [&](std::uint64_t step, const std::string& fallback) {
    pair x{missing, fallback};
    auto state = some_state(step);
    x.hold(x.donor, *state);
    caf::anon_send(x.donor.wired.state_keeper, save_checkpoint_now{step});
    x.answer_snapshot(state);
    REQUIRE(x.donor.conductor->count<checkpoint_saved>() == 1);
    auto news = x.donor.conductor->last<checkpoint_saved>();
    CHECK(news.problem.find(missing) != std::string::npos);
    return news;
  };
  SUBCASE("where it lies then") {
    auto news = saved(10, second);
    CHECK(news.path == second);
    auto loaded = load_checkpoint(second);
    REQUIRE(loaded);
    CHECK(digest_of_state(loaded->state) == digest_of_state(*some_state(10)));
  }
  SUBCASE("but an earlier one is not") {
    CHECK(saved(5, second).path == missing);
    CHECK_FALSE(std::filesystem::exists(second));
  }
  SUBCASE("and both reasons are told when that fails, too") {
    const auto other = folder / "nowhere/second";
    auto news = saved(10, other);
    CHECK(news.path == missing);
    CHECK(news.problem.find(other) != std::string::npos);
  }
}

TEST_CASE("a copy that was lost with compute is asked of the next one") {
  support::temporary_directory folder;
  pair x{folder / "checkpoint"};
  auto state = some_state(5);
  x.hold(x.donor, *state);
  x.hold(x.joiner, *some_state(0));
  const auto restart = [&] {
    x.world.settle();
    REQUIRE(x.donor.compute->count<take_snapshot>() == 1);
    x.restart_compute();
    // It may not know yet whom to answer.
    CHECK(x.donor.compute->count<take_snapshot>() == 0);
    x.hold(x.donor, *state);
    x.answer_snapshot(state);
  };
  SUBCASE("for a checkpoint") {
    caf::anon_send(x.donor.wired.state_keeper, save_checkpoint_now{5});
    restart();
    CHECK(x.donor.conductor->count<checkpoint_saved>() == 1);
  }
  SUBCASE("for a joiner") {
    x.fetch();
    restart();
    x.adopt();
    CHECK(x.result().step == 5);
  }
}

TEST_CASE("a roll-back is over when compute holds the state of then") {
  support::temporary_directory folder;
  const auto then = some_state(2), present = some_state(5);
  pair x{"", "", folder.path()};
  auto told = [&] { return x.donor.conductor->count<state_fetched>(); };
  SUBCASE("which was kept here") {
    REQUIRE((kept_states{folder.path(), 1}.keep(tiny_charter(10, 64), *then)));
    x.hold(x.donor, *present);
    x.go_back_to(*then);
    REQUIRE(x.donor.compute->count<adopt_state>() == 1);
    x.hold(x.donor, *present); // It repeats itself.
    CHECK(told() == 0);
    const auto got = x.donor.compute->last<adopt_state>().state;
    REQUIRE(got);
    x.hold(x.donor, *got);
    CHECK(told() == 1);
    CHECK(x.donor.conductor->last<state_fetched>().result.step == 2);
    x.hold(x.donor, *got);
    CHECK(told() == 1);
  }
  SUBCASE("or else begins anew") {
    x.hold(x.donor, *present);
    x.go_back_to(*then);
    REQUIRE(x.donor.compute->count<adopt_state>() == 1);
    CHECK_FALSE(x.donor.compute->last<adopt_state>().state);
    x.hold(x.donor, *present);
    CHECK(told() == 0);
    x.hold(x.donor, *some_state(0));
    CHECK(told() == 1);
  }
  SUBCASE("which the next conductor asks for if compute ends before") {
    x.hold(x.donor, *present);
    x.go_back_to(*then);
    x.restart_compute();
    x.hold(x.donor, *some_state(0));
    CHECK(told() == 0);
    x.go_back_to(*then);
    CHECK(x.donor.compute->count<adopt_state>() == 1);
    x.hold(x.donor, *some_state(0));
    CHECK(told() == 1);
  }
}
