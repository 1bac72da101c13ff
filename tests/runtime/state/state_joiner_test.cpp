/// A joiner and its donors in virtual time: lines with delay and bandwidth,
/// donors that vanish, lie and are slow, and a run that goes on meanwhile.
#include "runtime/config.hpp"
#include "runtime/state/state_joiner.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <map>

#include "runtime/state/limits.hpp"
#include "runtime/step/catching_up.hpp"
#include "runtime/step/leading.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 40000; // A state of 30 pieces, means of 10.

enum class manner { good, wrong_bytes, wrong_list, mute, invents_means };

struct scene {
  struct source {
    std::unique_ptr<waiting_donor> donor;
    manner how = manner::good;
    bool alive = true;
    duration delay{0};
    double rate = 0; ///< Bytes a second; 0: any.
    duration free{0};
  };

  explicit scene(std::size_t donors, duration step_time = 20ms,
                 std::uint64_t before = 10)
      : step_time(step_time), joiner(id_of(200), usual_joiner()),
        run(state_of(values, 0)) {
    for (std::size_t i = 1; i <= donors; ++i) {
      auto& x = sources[id_of(i)];
      x.donor = std::make_unique<waiting_donor>(usual_donor());
    }
    history[0] = run.recent.front();
    while (run.step < before)
      step();
  }

  time_point now() const {
    return time_point{time};
  }
  void later(duration when, std::function<void()> what) {
    due.emplace(when, std::move(what));
  }

  /// All donors apply the next mean.
  void step() {
    auto before = run.recent.front();
    auto mean = some_mean(values, run.step + 1);
    lay_on(run, *mean);
    history[run.step] = run.recent.front();
    for (auto& [id, x] : sources) {
      if (!x.alive)
        continue;
      x.donor->holds(run.step, run.recent.front(), now());
      x.donor->passed(
          {run.step, 64, run.history_samples, before, run.recent.front(), mean},
          now());
      copy_if_wanted(x);
      later(time + x.delay, [this, id = id, at = run.step] {
        if (sources.at(id).alive)
          joiner.heard(id, at, alone ? digest{} : history.at(at), now());
      });
    }
  }
  void copy_if_wanted(source& x) {
    if (x.donor->wants_copy())
      x.donor->copied(std::make_shared<training_state>(run), now());
  }
  void kill(const peer_id& id) {
    auto& x = sources.at(id);
    if (!x.alive)
      return;
    x.alive = false;
    later(time + x.delay, [this, id] { joiner.lost(id, now()); });
  }

  void fetch() {
    fetch_goal goal;
    goal.step = run.step;
    goal.state = run.recent.front();
    goal.own_step = own.step;
    goal.own_state = own.recent.front();
    goal.values = values;
    goal.alone = alone;
    if (alone)
      goal.state = {};
    for (auto& [id, x] : sources)
      if (x.alive && !joiner->distrusts(id) && !(alone && id != the_donor))
        goal.donors.push_back(id);
    joiner.begin(goal, now());
    ++fetches;
  }

  void post_joiner() {
    for (auto& x : joiner.take_letters()) {
      auto to = sources.find(x.to);
      if (std::holds_alternative<piece_request>(x.content))
        ++requests;
      later(time + to->second.delay, [this, x] {
        auto& s = sources.at(x.to);
        if (!s.alive || s.how == manner::mute)
          return;
        if (auto r = std::get_if<state_request>(&x.content))
          s.donor->read(id_of(200), *r, now());
        if (auto r = std::get_if<piece_request>(&x.content))
          s.donor->read(id_of(200), *r, now());
        if (auto r = std::get_if<state_done>(&x.content))
          s.donor->read(id_of(200), *r, now());
        copy_if_wanted(s);
      });
    }
    if (auto state = joiner.take_state()) {
      own = *state;
      joiner.applied(own.step, own.recent.front(), now());
    }
    while (auto job = joiner.take_one<mean_job>()) {
      REQUIRE(job->step == own.step + 1);
      lay_on(own, *job->values);
      joiner.applied(own.step, own.recent.front(), now());
    }
    for (auto& x : joiner.take<fetch_fault>())
      faults.push_back(x);
    if (auto x = joiner.take_one<fetch_result>())
      result = x;
    if (auto x = joiner.take_one<fetch_failure>()) {
      failures.push_back(x->reason);
      if (retries)
        later(time + limits::fetch_backoff, [this] { fetch(); });
    }
  }
  void post_donor(const peer_id& id, source& x) {
    for (auto& m : x.donor->take_letters()) {
      auto manifest = std::get_if<state_manifest>(&m.content);
      if (manifest && x.how == manner::wrong_list && !manifest->pieces.empty())
        manifest->pieces.back().bytes[0] ^= 1;
      if (x.how == manner::wrong_bytes && m.body.size > 0) {
        auto copy = std::make_shared<std::vector<std::uint8_t>>(
            m.body.data, m.body.data + m.body.size);
        copy->back() ^= 1;
        m.body = {copy, copy->data(), copy->size()};
      }
      x.free = std::max(x.free, time);
      if (x.rate > 0)
        x.free += std::chrono::duration_cast<duration>(
            std::chrono::duration<double>(static_cast<double>(m.body.size + 100)
                                          / x.rate));
      later(x.free + x.delay, [this, id, m] {
        if (!sources.at(id).alive || m.to != id_of(200))
          return;
        if (auto r = std::get_if<state_manifest>(&m.content)) {
          joiner.read(id, *r, now());
          if (sources.at(id).how == manner::invents_means && !r->mean)
            invent_means(id, *r);
        }
        if (auto r = std::get_if<state_piece>(&m.content))
          joiner.read(id, *r, m.body, now());
      });
    }
  }

  void invent_means(const peer_id& id, state_manifest x) {
    x.mean = true;
    x.bytes = values * sizeof(float);
    x.pieces.resize((x.bytes + x.piece_bytes - 1) / x.piece_bytes);
    for (std::size_t i = 0; i < invented; ++i) {
      x.step += 2;
      x.state.bytes[0] ^= static_cast<std::uint8_t>(i + 1);
      joiner.read(id, x, now());
    }
  }

  /// As the leader does: for who is about to enter, a while.
  bool waits_for_joiner() {
    if (!joiner->busy() || own.step == 0
        || own.step + limits::entering_steps < run.step)
      return false;
    waited += step_time;
    return waited < limits::round_floor;
  }
  /// Until `over()` holds; false when it does not in time.
  template <class Over>
  bool go(Over over, duration patience) {
    auto end = time + patience;
    for (auto next_step = time + step_time; time < end; time += 1ms) {
      if (time >= next_step) {
        if (!waits_for_joiner())
          step();
        next_step += step_time;
      }
      for (std::size_t moved = 1; moved != 0;) {
        moved = 0;
        while (!due.empty() && due.begin()->first <= time) {
          auto what = std::move(due.begin()->second);
          due.erase(due.begin());
          what();
          ++moved;
        }
        post_joiner();
        for (auto& [id, x] : sources)
          post_donor(id, x);
      }
      if (time % duration{50ms} == duration{0}) {
        joiner.look(now());
        for (auto& [id, x] : sources)
          if (x.alive)
            x.donor->look(now());
      }
      if (over())
        return true;
    }
    return false;
  }
  bool enter(duration patience) {
    return go([this] { return result.has_value(); }, patience);
  }
  void check_entered() {
    REQUIRE(result);
    CHECK(own.step == result->step);
    CHECK(digest_of_state(own) == history.at(own.step));
  }

  duration step_time;
  duration time{0};
  std::multimap<duration, std::function<void()>> due;
  waiting_joiner joiner;
  std::map<peer_id, source> sources;
  training_state run;
  training_state own = state_of(values, 0);
  std::map<std::uint64_t, digest> history;
  std::vector<fetch_fault> faults;
  std::vector<std::string> failures;
  std::optional<fetch_result> result;
  bool retries = true;
  bool alone = false; ///< Everybody holds a state of its own: so there is...
  peer_id the_donor = id_of(1);
  duration waited{0};
  std::size_t fetches = 0;
  std::size_t requests = 0;
  std::size_t invented = 1;
};

} // namespace

TEST_CASE("a joiner far away enters at the current step of a fast run") {
  scene x{3};
  for (auto& [id, s] : x.sources) {
    s.delay = 40ms; // Four steps a round trip: all have passed any version.
    s.rate = 1.2 * values * sizeof(float) / 0.02 / 3;
  }
  x.fetch();
  REQUIRE(x.enter(60s));
  x.check_entered();
  INFO((x.failures.empty() ? "" : x.failures[0]));
  CHECK(x.fetches == 1);
  CHECK(x.result->donors == 3);
  CHECK(x.result->means > 3);
  CHECK(x.run.step == x.own.step);
  CHECK(x.faults.empty());
}

TEST_CASE("who lists other pieces than most is left out by name") {
  scene x{3};
  x.sources.at(id_of(2)).how = manner::wrong_list;
  x.fetch();
  REQUIRE(x.enter(60s));
  x.check_entered();
  CHECK(x.fetches == 1);
  REQUIRE(x.faults.size() == 1);
  CHECK(x.faults[0].peer == id_of(2));
}

TEST_CASE("means that one donor has invented stop no fetch") {
  scene x{3};
  x.sources.at(id_of(2)).how = manner::invents_means;
  SUBCASE("one, which nobody can have") {
  }
  SUBCASE("more than others can be late with") {
    x.invented = limits::means_of_one_donor + 100;
  }
  x.fetch();
  REQUIRE(x.enter(60s));
  x.check_entered();
  CHECK(x.failures.empty());
  CHECK(x.fetches == 1);
  for (const auto& fault : x.faults)
    CHECK(fault.peer == id_of(2));
  CHECK(x.faults.empty() == (x.invented == 1));
}

TEST_CASE("a version put aside is gone on with") {
  scene x{1, 1h};
  auto& only = x.sources.at(id_of(1));
  only.rate = 64 << 10; // Four pieces a second.
  x.fetch();
  x.go([&] { return x.joiner->part() >= 0.5; }, 60s);
  auto asked = x.requests;
  // The line breaks for a while: longer than the fetch waits.
  x.joiner.lost(id_of(1), x.now());
  only.donor->lost(id_of(200), x.now());
  REQUIRE(x.go([&] { return !x.failures.empty(); }, 60s));
  REQUIRE(x.enter(60s));
  x.check_entered();
  CHECK(x.fetches == 2);
  // 30 pieces, and those that were on their way.
  CHECK(x.requests <= 30 + asked - 15);
}

TEST_CASE("a donor that is busy is asked again later") {
  scene x{1, 1h};
  auto& only = x.sources.at(id_of(1));
  for (std::uint8_t i = 100; i < 100 + limits::joiners_served; ++i)
    only.donor->read(id_of(i), state_request{1, 10, {}, false}, x.now());
  only.donor->take_letters();
  x.fetch();
  CHECK_FALSE(x.enter(3s));
  CHECK(x.failures.empty());
  only.donor->read(id_of(100), state_done{}, x.now());
  auto entered = x.enter(3s);
  for (auto& fault : x.faults)
    MESSAGE(fault.what);
  for (auto& reason : x.failures)
    MESSAGE(reason);
  REQUIRE(entered);
  x.check_entered();
}

TEST_CASE("who has trained does not wait for ever for donors that are busy") {
  for (bool trained : {true, false}) {
    CAPTURE(trained);
    scene x{1, 1h};
    auto& only = x.sources.at(id_of(1));
    for (std::uint8_t i = 100; i < 100 + limits::joiners_served; ++i)
      only.donor->read(id_of(i), state_request{1, 10, {}, false}, x.now());
    only.donor->take_letters();
    if (trained) {
      x.own.step = 1; // Of a history of its own.
      remember_digest(x.own);
    }
    x.retries = false;
    x.later(1s, [&] {
      for (std::uint8_t i = 100; i < 100 + limits::joiners_served; ++i)
        only.donor->read(id_of(i), state_request{1, 10, {}, false}, x.now());
    });
    x.fetch();
    // They fetch all the time, or their places would go to others.
    for (auto at = 5s; at < 60s; at += 5s)
      x.later(at, [&] {
        for (std::uint8_t i = 100; i < 100 + limits::joiners_served; ++i)
          only.donor->read(
              id_of(i),
              piece_request{x.run.recent.front(), 0, false, ~std::uint64_t{0}},
              x.now());
      });
    auto failed
        = x.go([&] { return !x.failures.empty(); }, limits::busy_patience + 5s);
    CHECK(failed == trained);
    CHECK(x.joiner->busy() == !trained);
  }
}

TEST_CASE("who reports a state that nobody has keeps nobody waiting") {
  // All want that state of one who lies, and of each other since they are as
  // far: nobody may hold a place where nothing is to be had.
  waiting_donor donor{usual_donor()};
  auto run = state_of(values, 0);
  run.step = 10;
  remember_digest(run);
  const time_point now{};
  donor.holds(run.step, run.recent.front(), now);
  auto other = run.recent.front();
  other.bytes[0] ^= 1;
  for (std::uint8_t i = 1; i <= 4 * limits::joiners_served; ++i) {
    CAPTURE(i);
    donor.read(id_of(i), state_request{i, 10, other, false}, now);
    auto letters = donor.take_letters();
    REQUIRE(letters.size() == 1);
    auto manifest = std::get<state_manifest>(letters[0].content);
    CHECK_FALSE(manifest.available);
    CHECK(manifest.retry_ms == 0); // Declined, not put off.
  }
}

TEST_CASE("who missed few steps fetches means, who missed many the state") {
  for (std::uint64_t missed : {1, 3, 4}) {
    CAPTURE(missed);
    scene x{2, 1h};
    x.own = x.run;
    for (std::uint64_t i = 0; i < missed; ++i)
      x.step();
    x.fetch();
    REQUIRE(x.enter(10s));
    x.check_entered();
    CHECK(x.own.step == x.run.step);
    CHECK(x.result->whole_state == (missed > limits::means_of_a_state));
    if (!x.result->whole_state)
      CHECK(x.result->bytes == missed * values * sizeof(float));
  }
}

TEST_CASE("where each holds a state of its own, one gives all of it, and the "
          "means behind it") {
  for (std::uint64_t missed : {1, 40}) {
    CAPTURE(missed);
    scene x{3};
    x.alone = true;
    x.own = x.run;
    for (auto& value : x.own.parameters) // Its own, too.
      value += 1;
    x.own.recent.clear();
    remember_digest(x.own);
    for (std::uint64_t i = 0; i < missed; ++i)
      x.step();
    for (auto& [id, s] : x.sources) {
      s.delay = 20ms;
      s.rate = 2.0 * values * sizeof(float) / 0.02;
    }
    x.fetch();
    REQUIRE(x.enter(60s));
    x.check_entered();
    CHECK(x.result->whole_state);
    CHECK(x.result->donors == 1);
    CHECK(x.result->donor == x.the_donor);
    CHECK((x.result->means > 0) == (missed > limits::entering_steps));
    CHECK_FALSE(x.result->own_history_lost);
    CHECK_FALSE(x.result->own_history_unknown);
    CHECK(x.faults.empty());
  }
}

TEST_CASE("when the one donor goes, another gives its state instead") {
  scene x{2, 200ms};
  x.alone = true;
  for (auto& [id, s] : x.sources)
    s.rate = 1.5 * values * sizeof(float) / 0.2;
  x.fetch();
  x.go([&] { return x.joiner->part() > 0.3; }, 10s);
  x.the_donor = id_of(2);
  x.kill(id_of(1));
  REQUIRE(x.enter(60s));
  x.check_entered();
  CHECK(x.result->donor == id_of(2));
  CHECK(x.faults.empty());
}

TEST_CASE("means that nobody has any more lead to a fresh download") {
  scene x{1, 1h};
  auto& only = x.sources.at(id_of(1));
  only.rate = 200e3;
  x.fetch();
  x.go([&] { return x.joiner->part() > 0.2; }, 10s);
  x.joiner.lost(id_of(1), x.now());
  only.donor->lost(id_of(200), x.now()); // Nothing is kept for it.
  for (int i = 0; i < 10; ++i)
    x.step();
  REQUIRE(x.enter(60s));
  x.check_entered();
  CHECK(x.own.step == x.run.step);
}

TEST_CASE("a joiner gets in while an honest majority stays") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    auto donors = 3 + chance.below(4);
    scene x{donors, 20ms + chance.below(100) * 1ms};
    auto mean_rate = values * sizeof(float)
                     / std::chrono::duration<double>(x.step_time).count();
    // Less than half are bad, at the end too.
    auto bad = chance.below((donors + 1) / 2);
    auto good = donors - bad;
    std::vector<peer_id> leavers;
    for (std::uint64_t i = 1; i <= donors; ++i) {
      auto id = id_of(i);
      auto& s = x.sources.at(id);
      s.delay = chance.below(60) * 1ms;
      s.rate = mean_rate * (1.3 + chance.uniform01());
      if (i <= bad)
        s.how = static_cast<manner>(1 + chance.below(3));
      else if (good > bad + 1 && chance.below(2) == 0) {
        --good;
        leavers.push_back(id);
      }
    }
    x.fetch();
    for (auto& id : leavers) {
      x.go([&] { return x.result.has_value(); }, chance.below(300) * 1ms);
      x.kill(id);
    }
    auto entered = x.result || x.enter(120s);
    if (!entered)
      for (auto& reason : x.failures)
        MESSAGE(reason);
    REQUIRE(entered);
    x.check_entered();
    for (auto& fault : x.faults) {
      CAPTURE(fault.what);
      CHECK(x.sources.at(fault.peer).how != manner::good);
    }
  }
}
