/// Contributors who pass a step's mean on to each other, in virtual time: each
/// fetches it from the one before it, which is itself fetching it, and the
/// first one from the sponsor.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>

#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/state_joiner.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 200'000;
constexpr double bytes = values * sizeof(float); ///< Of a mean: 49 pieces.
constexpr double rate = 400e3;         ///< Of every uplink, in bytes a second.
constexpr double alone = bytes / rate; ///< Seconds of one mean on one uplink.

enum class manner { good, mute, wrong_bytes, elsewhere };

struct chain_world {
  struct node {
    waiting_donor donor{usual_donor()};
    std::unique_ptr<waiting_joiner> joiner;
    training_state own;
    manner how = manner::good;
    bool alive = true;
    duration free{0};
    double sent = 0; ///< Bytes of pieces.
    double received = 0;
    std::optional<duration> there;
  };

  /// Number 0 is the sponsor, the others are contributors in a chain.
  explicit chain_world(std::size_t contributors) : nodes(contributors + 1) {
    auto before = state_of(values, 10);
    auto mean = some_mean(values, 1);
    after = before;
    lay_on(after, *mean);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      auto& x = nodes[i];
      x.own = i == 0 ? after : before;
      x.joiner = std::make_unique<waiting_joiner>(id_of(i), usual_joiner());
      x.donor.holds(before.step, before.recent.front(), now());
    }
    nodes[0].donor.holds(after.step, after.recent.front(), now());
    nodes[0].donor.passed({after.step, 64, after.history_samples,
                           before.recent.front(), after.recent.front(), mean},
                          now());
  }

  time_point now() const {
    return time_point{time};
  }

  void fetch(std::size_t i, bool chained = true) {
    auto& x = nodes[i];
    if (x.how == manner::elsewhere) {
      x.own.step = 5;
      remember_digest(x.own);
      x.donor.holds(x.own.step, x.own.recent.front(), now());
      return;
    }
    fetch_goal goal;
    goal.step = after.step;
    goal.state = after.recent.front();
    goal.own_step = x.own.step;
    goal.own_state = x.own.recent.front();
    goal.values = values;
    goal.donors = {id_of(0)};
    if (chained && i > 1)
      goal.relay = id_of(i - 1);
    x.joiner->begin(goal, now());
  }

  void send(std::size_t from, state_letter x) {
    auto& sender = nodes[from];
    auto silent = sender.how == manner::mute && from != 0;
    if (!sender.alive || (silent && x.body.size > 0))
      return;
    if (sender.how == manner::wrong_bytes && x.body.size > 0) {
      auto copy = std::make_shared<std::vector<std::uint8_t>>(
          x.body.data, x.body.data + x.body.size);
      copy->back() ^= 1;
      x.body = {copy, copy->data(), copy->size()};
    }
    sender.sent += static_cast<double>(x.body.size);
    sender.free
        = std::max(sender.free, time)
          + std::chrono::duration_cast<duration>(std::chrono::duration<double>(
              static_cast<double>(x.body.size + 100) / rate));
    due.emplace(sender.free + 20ms,
                [this, from, x = std::move(x)] { receive(from, x); });
  }

  void receive(std::size_t from, const state_letter& x) {
    if (x.to.bytes[0] > nodes.size())
      return; // Of no interest here.
    auto& to = nodes[x.to.bytes[0] - 1u];
    if (!to.alive)
      return;
    const auto sender = id_of(from);
    if (auto r = std::get_if<state_request>(&x.content))
      to.donor.read(sender, *r, now());
    if (auto r = std::get_if<piece_request>(&x.content))
      to.donor.read(sender, *r, now());
    if (auto r = std::get_if<state_done>(&x.content))
      to.donor.read(sender, *r, now());
    if (auto r = std::get_if<state_manifest>(&x.content))
      to.joiner->read(sender, *r, now());
    if (auto r = std::get_if<state_piece>(&x.content)) {
      to.received += static_cast<double>(x.body.size);
      to.joiner->read(sender, *r, x.body, now());
    }
  }

  void kill(std::size_t i) {
    nodes[i].alive = false;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      nodes[k].donor.lost(id_of(i), now());
      nodes[k].joiner->lost(id_of(i), now());
    }
  }

  void work(std::size_t i) {
    auto& x = nodes[i];
    for (auto& mean : x.joiner->take<coming_mean>())
      x.donor.expects(std::move(mean), now());
    for (auto& piece : x.joiner->take<coming_piece>())
      x.donor.placed(piece, now());
    while (auto job = x.joiner->take_one<mean_job>()) {
      lay_on(x.own, *job->values);
      x.donor.holds(x.own.step, x.own.recent.front(), now());
      x.joiner->applied(x.own.step, x.own.recent.front(), now());
    }
    if (x.joiner->take_one<nothing_more_comes>())
      x.donor.expects_no_more(now());
    for (auto& m : x.joiner->take_letters())
      send(i, std::move(m));
    for (auto& m : x.donor.take_letters())
      send(i, std::move(m));
    for (auto& fault : x.joiner->take<fetch_fault>())
      faults.push_back(fault.peer);
    if (x.joiner->take_one<fetch_result>())
      x.there = time;
    if (auto failed = x.joiner->take_one<fetch_failure>())
      FAIL_CHECK(failed->reason);
  }

  /// Until all that should have the state, or for `patience`.
  void run(duration patience) {
    auto missing = [&] {
      for (std::size_t i = 1; i < nodes.size(); ++i)
        if (nodes[i].alive && nodes[i].how != manner::elsewhere
            && !nodes[i].there)
          return true;
      return false;
    };
    for (auto end = time + patience; time < end && missing(); time += 1ms) {
      while (!due.empty() && due.begin()->first <= time) {
        auto what = std::move(due.begin()->second);
        due.erase(due.begin());
        what();
      }
      for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (time % duration{limits::fetch_interval} == duration{0}) {
          nodes[i].joiner->look(now());
          nodes[i].donor.look(now());
        }
        work(i);
      }
    }
    for (std::size_t i = 1; i < nodes.size(); ++i) {
      if (!nodes[i].alive || nodes[i].how == manner::elsewhere)
        continue;
      CAPTURE(i);
      REQUIRE(nodes[i].there);
      CHECK(nodes[i].own.recent.front() == after.recent.front());
      last = std::max(last, *nodes[i].there);
    }
  }
  double seconds() const {
    return std::chrono::duration<double>(last).count();
  }

  std::vector<node> nodes;
  training_state after;
  duration time{0};
  duration last{0}; ///< When the last one had it.
  std::multimap<duration, std::function<void()>> due;
  std::vector<peer_id> faults;
};

} // namespace

TEST_CASE("a chain gets a mean in little more time than one contributor") {
  constexpr std::size_t length = 8;
  chain_world star{length};
  for (std::size_t i = 1; i <= length; ++i)
    star.fetch(i, false);
  star.run(60s);
  CHECK(star.seconds() > 0.95 * length * alone);
  chain_world chain{length};
  for (std::size_t i = 1; i <= length; ++i)
    chain.fetch(i);
  chain.run(60s);
  // And a piece on each uplink, with a round trip.
  CHECK(chain.seconds() < 2.5 * alone);
  // The sponsor sends it once.
  CHECK(chain.nodes[0].sent == bytes);
  for (std::size_t i = 1; i < length; ++i)
    CHECK(chain.nodes[i].sent == bytes);
  CHECK(chain.nodes[length].sent == 0);
  CHECK(chain.faults.empty());
}

TEST_CASE("it does not matter in which order a chain's contributors begin") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    chain_world x{5};
    std::vector<std::size_t> order{1, 2, 3, 4, 5};
    chance.shuffle(order);
    for (auto i : order) {
      x.due.emplace(chance.below(300) * 1ms, [&x, i] { x.fetch(i); });
    }
    x.run(60s);
    CHECK(x.seconds() < 4 * alone);
    CHECK(x.faults.empty());
  }
}

TEST_CASE("whoever a broken chain leaves behind gets the mean elsewhere") {
  for (auto how : {manner::mute, manner::wrong_bytes, manner::elsewhere}) {
    CAPTURE(static_cast<int>(how));
    chain_world x{5};
    x.nodes[3].how = how;
    for (std::size_t i = 1; i <= 5; ++i)
      x.fetch(i);
    x.run(60s);
    CHECK(x.nodes[4].there);
    // Besides the first one only the two behind it turn to the sponsor.
    CHECK(x.nodes[0].sent <= 3 * bytes);
    for (auto& who : x.faults)
      CHECK(who == id_of(3));
    CHECK(x.faults.empty() == (how != manner::wrong_bytes));
  }
}

TEST_CASE("a contributor that is lost takes nobody's mean with it") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    chain_world x{6};
    for (std::size_t i = 1; i <= 6; ++i)
      x.fetch(i);
    auto lost = 1 + chance.below(6);
    x.due.emplace(chance.below(3000) * 1ms, [&x, lost] { x.kill(lost); });
    x.run(60s);
    CHECK(x.seconds() < 6 * alone);
    CHECK(x.faults.empty());
  }
}

TEST_CASE("a chain takes no places, and none keeps its lists from it") {
  constexpr std::size_t length = 8;
  chain_world x{length};
  x.fetch(1);
  // Then as many strangers ask the sponsor for the state as it has places for.
  x.due.emplace(100ms, [&x] {
    for (std::size_t i = 0; i < 2 * limits::joiners_served; ++i)
      x.nodes[0].donor.read(id_of(100 + i),
                            state_request{1, 11, x.after.recent.front()},
                            x.now());
  });
  x.due.emplace(200ms, [&x] {
    for (std::size_t i = 2; i <= length; ++i)
      x.fetch(i);
  });
  x.run(60s);
  CHECK(x.nodes[0].donor.budget().joiners() <= 1 + limits::joiners_served);
  CHECK(x.nodes[0].sent == bytes);
  CHECK(x.seconds() < 2.5 * alone);
}
