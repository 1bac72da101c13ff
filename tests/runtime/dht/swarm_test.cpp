/// A swarm with churn and Sybils, held against what it is to reach.
///
/// POTLUCK_ROUTERS says how many routers there are (default 500), POTLUCK_SEED
/// from which seed chance comes (default 1).
#include "tests/runtime/dht/swarm_world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

using namespace potluck;
using namespace potluck::swarm;
using namespace std::chrono_literals;

namespace {

std::size_t set_to(const char* name, std::size_t by_default) {
  const char* x = std::getenv(name);
  return x == nullptr ? by_default : std::stoul(x);
}

struct tally {
  std::size_t asked = 0;
  std::size_t right = 0;
  std::vector<std::size_t> hops;
  std::vector<std::size_t> requests;
};

/// Owners publish every two minutes, as bootstraps do, and others look them
/// up.
struct trial {
  explicit trial(const world::settings& how) : it(how) {
  }

  struct owner {
    world::node who;
    record_key key;
  };

  void publish(std::size_t owners) {
    for (std::size_t i = 0; i < owners; ++i) {
      owner x{free_node(), key_of("of " + std::to_string(i))};
      it.publish(x.who, x.key);
      all.push_back(x);
      it.run_for(120s / static_cast<std::int64_t>(owners));
    }
  }

  tally look_up(std::size_t times, duration within, bool matters) {
    tally result;
    for (std::size_t i = 0; i < times; ++i) {
      auto& x = all[i % all.size()];
      if (i % all.size() < all.size() && it.is_there(x.who))
        ask(x, matters, result);
      else
        x.who = free_node(); // Somebody else has that key now.
      it.run_for(within / static_cast<std::int64_t>(times));
      if (it.is_there(x.who) && due(x))
        it.publish(x.who, x.key);
    }
    it.run_for(30s);
    return result;
  }

  world it;
  std::vector<owner> all;

private:
  /// With one key each, `published` says which record is the last.
  world::node free_node() {
    for (;;) {
      const auto x = it.any_honest();
      if (std::none_of(all.begin(), all.end(),
                       [&](auto& y) { return y.who == x; }))
        return x;
    }
  }
  bool due(const owner& x) {
    auto& last = last_[x.who];
    if (last != time_point{} && it.now() - last < 120s)
      return false;
    last = it.now();
    return true;
  }
  void ask(const owner& x, bool matters, tally& into) {
    auto from = it.any_honest();
    while (it.is_looking_up(from))
      from = it.any_honest();
    const auto number = it.published(x.who);
    if (from == x.who || number == 0)
      return;
    ++into.asked;
    it.look_up(
        from, x.key, matters,
        [&into, number, id = it.who(x.who).id](world::finding found) {
          const bool is_right = std::any_of(
              found.records.begin(), found.records.end(), [&](auto& y) {
                return y.subkey == std::string(id.bytes.begin(), id.bytes.end())
                       && y.seal.number >= number;
              });
          into.right += is_right;
          if (found.hops > 0)
            into.hops.push_back(found.hops);
          into.requests.push_back(found.requests);
        });
  }

  std::map<world::node, time_point> last_;
};

std::size_t median(std::vector<std::size_t> x) {
  std::sort(x.begin(), x.end());
  return x.empty() ? 0 : x[x.size() / 2];
}

} // namespace

TEST_CASE("a swarm with churn and Sybils finds what its peers publish") {
  world::settings how;
  how.routers = set_to("POTLUCK_ROUTERS", 500);
  how.seed = set_to("POTLUCK_SEED", 1);
  trial x{how};
  // Its first refreshes fill the tables; from then on this is their upkeep.
  x.it.run_for(10min);
  const auto before = x.it.bytes();
  const auto span = how.routers > 2000 ? 10min : 30min;
  x.it.run_for(span);
  const double upkeep = static_cast<double>(x.it.bytes() - before)
                        / static_cast<double>(x.it.honest())
                        / std::chrono::duration<double>(span).count();
  x.publish(how.routers > 2000 ? 400 : 100);
  const auto said = x.look_up(how.routers > 2000 ? 4000 : 2000,
                              how.routers > 2000 ? 10min : 20min, true);
  const double right
      = static_cast<double>(said.right) / static_cast<double>(said.asked);
  MESSAGE(how.routers << " routers, 20 % Sybils, 10 % churn an hour: "
                      << said.asked << " look-ups, " << 100 * right
                      << " % right, median hops " << median(said.hops)
                      << ", median requests " << median(said.requests)
                      << ", upkeep " << upkeep << " B/s a peer");
  CAPTURE(how.seed);
  CHECK(said.asked > 1000);
  CHECK(right >= 0.999);
  CHECK(static_cast<double>(median(said.hops))
        <= std::log2(static_cast<double>(how.routers)) / 2);
  CHECK(upkeep < 1000);
}

TEST_CASE("two swarms become one through a peer that knows both") {
  world::settings how;
  how.routers = 2; // Two bootstraps that do not know each other.
  how.sybils = 0;
  how.leaves_an_hour = 0;
  how.acquainted = false;
  world it{how};
  std::vector<world::node> sides[2];
  for (std::size_t side : {0u, 1u})
    for (int i = 0; i < 40; ++i) {
      sides[side].push_back(it.join({side}));
      it.run_for(2s);
    }
  it.run_for(1min);
  const auto key = key_of("run/soup");
  const auto publish = [&] {
    for (auto& side : sides)
      it.publish(side[7], key);
    it.run_for(10s);
  };
  // How many of all find both.
  const auto find = [&] {
    std::size_t both = 0;
    for (auto& side : sides)
      for (auto x : side) {
        it.look_up(x, key, true, [&](world::finding found) {
          both += found.records.size() == 2;
        });
        it.run_for(5s);
      }
    return both;
  };
  publish();
  CHECK(find() == 0);
  SUBCASE("a newcomer") {
    const auto bridge = it.join({0});
    it.meet(bridge, 1);
  }
  SUBCASE("a member that somebody of the other swarm dials") {
    it.meet(sides[0][3], sides[1][4]);
  }
  it.run_for(1min);
  publish();
  CHECK(find() == 80);
}

TEST_CASE("Sybils of one network have few places, however many they are") {
  world::settings how;
  how.sybils = 0.5;
  how.sybil_networks = 1;
  trial x{how};
  x.it.run_for(10min);
  double named = 0;
  for (int i = 0; i < 500; ++i)
    named += static_cast<double>(
        x.it.sybils_named(x.it.any_honest(), x.it.chance().draw<record_key>()));
  CHECK(named / 500 < 0.2 * bucket_size);
  x.publish(20);
  const auto said = x.look_up(200, 2min, false);
  CHECK(said.asked > 150);
  CHECK(said.right == said.asked);
}

TEST_CASE("Sybils that answer slowly on purpose hold up no publication") {
  world::settings how;
  how.routers = 200;
  how.leaves_an_hour = 0;
  how.sybils_wait = 10s;
  trial x{how};
  x.it.run_for(2min); // They are known to take so long.
  std::size_t in_time = 0;
  for (int i = 0; i < 30; ++i) {
    const auto key = key_of("early, of " + std::to_string(i));
    x.it.publish(x.it.any_honest(), key);
    x.it.run_for(4s);
    in_time += x.it.copies(key) > 8;
  }
  CHECK(in_time == 30);
  x.publish(20);
  const auto said = x.look_up(100, 5min, true);
  CHECK(said.asked > 80);
  CHECK(said.right == said.asked);
}

TEST_CASE("a campus that is one network finds what its peers publish") {
  world::settings how;
  how.routers = 1;
  how.sybils = 0;
  how.leaves_an_hour = 0;
  how.networks = 1;
  world it{how};
  std::vector<world::node> all{0};
  for (int i = 0; i < 40; ++i) {
    all.push_back(it.join({0}));
    it.run_for(1s);
  }
  it.run_for(1min);
  const auto key = key_of("run/soup");
  for (auto x : all)
    it.publish(x, key);
  it.run_for(10s);
  std::size_t found = 0;
  for (auto x : all) {
    it.look_up(x, key, true,
               [&](world::finding y) { found += y.records.size(); });
    it.run_for(2s);
  }
  CHECK(found == all.size() * all.size());
}
