#include "runtime/dht/lookup.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

contact draw(random_stream& random) {
  return {random.draw<peer_id>(), {"10.0.0.1", 7000}};
}

std::vector<contact> draw(std::size_t n, random_stream& random) {
  std::vector<contact> result;
  for (std::size_t i = 0; i < n; ++i)
    result.push_back(draw(random));
  return result;
}

void sort_by_distance(std::vector<contact>& all, const record_key& target) {
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return closer(target, a.id, b.id);
  });
}

/// A contact that shares the first `bytes` bytes with `target`.
contact near(const record_key& target, std::size_t bytes,
             random_stream& random) {
  auto x = draw(random);
  std::copy_n(target.bytes.begin(), bytes, x.id.bytes.begin());
  return x;
}

} // namespace

TEST_CASE("a look-up without seeds is done and empty") {
  random_stream random{1};
  lookup search{random.draw<record_key>(), random.draw<peer_id>(), {}};
  CHECK(search.done());
  CHECK(search.next().empty());
  CHECK(search.closest().empty());
}

TEST_CASE("a look-up that wants nothing is refused") {
  lookup::settings how;
  how.quorum = 0;
  CHECK_THROWS_AS(lookup({}, {}, {}, how), std::invalid_argument);
  how.quorum = how.closest + 1;
  CHECK_THROWS_AS(lookup({}, {}, {}, how), std::invalid_argument);
  how = {};
  how.parallel = 0;
  CHECK_THROWS_AS(lookup({}, {}, {}, how), std::invalid_argument);
}

TEST_CASE("the closest seeds are asked first, three at a time") {
  random_stream random{2};
  auto target = random.draw<record_key>();
  auto seeds = draw(10, random);
  lookup search{target, random.draw<peer_id>(), seeds};
  sort_by_distance(seeds, target);
  auto first = search.next();
  REQUIRE(first.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(first[i] == seeds[i]);
  CHECK(search.next().empty());
  CHECK(search.in_flight() == 3);
  search.failed(seeds[1].id);
  auto then = search.next();
  REQUIRE(then.size() == 1);
  CHECK(then[0] == seeds[3]);
}

TEST_CASE("once the three closest have answered the others are asked at once") {
  random_stream random{3};
  auto target = random.draw<record_key>();
  auto seeds = draw(40, random);
  lookup search{target, random.draw<peer_id>(), seeds};
  for (auto& x : search.next())
    search.answered(x.id, {});
  CHECK(search.next().size() == bucket_size - 3);
}

TEST_CASE("a look-up knows when it only awaits answers") {
  random_stream random{9};
  auto target = random.draw<record_key>();
  lookup search{target, random.draw<peer_id>(), draw(4, random)};
  auto first = search.next();
  CHECK_FALSE(search.awaits_only()); // The fourth is to be asked.
  search.answered(first[1].id, {});
  CHECK_FALSE(search.awaits_only());
  auto then = search.next();
  REQUIRE(then.size() == 1);
  CHECK(search.awaits_only());
  auto closer = near(target, 4, random);
  search.answered(then[0].id, {closer});
  CHECK_FALSE(search.awaits_only());
  REQUIRE(search.next().size() == 1);
  CHECK(search.awaits_only());
  search.answered(closer.id, {});
  search.answered(first[0].id, {});
  CHECK(search.awaits_only());
  search.failed(first[2].id);
  CHECK(search.done());
  CHECK_FALSE(search.awaits_only());
}

TEST_CASE("a closer contact is approached before the known ones") {
  random_stream random{4};
  auto target = random.draw<record_key>();
  lookup search{target, random.draw<peer_id>(), draw(10, random)};
  auto first = search.next();
  auto closest = near(target, 4, random);
  search.answered(first[0].id, {closest});
  auto then = search.next();
  REQUIRE(then.size() == 1);
  CHECK(then[0] == closest);
}

TEST_CASE("only an answer that is awaited counts") {
  random_stream random{5};
  auto target = random.draw<record_key>();
  auto seeds = draw(4, random);
  lookup search{target, random.draw<peer_id>(), seeds};
  auto stranger = draw(random);
  CHECK(search.answered(stranger.id, {stranger}) == lookup::verdict::unasked);
  auto asked = search.next();
  CHECK(search.answered(asked[0].id, {}) == lookup::verdict::taken);
  CHECK(search.answered(asked[0].id, {stranger}) == lookup::verdict::unasked);
  CHECK(search.failed(asked[0].id) == lookup::verdict::unasked);
  CHECK(search.failed(stranger.id) == lookup::verdict::unasked);
  CHECK(search.in_flight() == 2);
}

TEST_CASE("oneself, duplicates and undialable contacts are never asked") {
  random_stream random{6};
  auto target = random.draw<record_key>();
  auto self = near(target, 8, random);
  auto seed = draw(random);
  lookup search{target, self.id, {seed, seed, self}};
  auto asked = search.next();
  REQUIRE(asked.size() == 1);
  auto deaf = near(target, 4, random);
  deaf.where.port = 0;
  auto other = draw(random);
  search.answered(seed.id, {self, seed, deaf, other, other});
  asked = search.next();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0] == other);
  search.answered(other.id, {seed, other, self});
  CHECK(search.done());
  CHECK(search.closest().size() == 2);
}

TEST_CASE("no more than one bucket of contacts is taken from an answer") {
  random_stream random{7};
  auto target = random.draw<record_key>();
  auto seed = draw(random);
  lookup search{target, random.draw<peer_id>(), {seed}};
  search.next();
  search.answered(seed.id, draw(1000, random));
  std::size_t asked = 0;
  while (!search.done())
    for (auto& x : search.next()) {
      ++asked;
      search.answered(x.id, {});
    }
  // All of the twenty that were taken, unless the seed is closer than one.
  CHECK(asked >= bucket_size - 1);
  CHECK(asked <= bucket_size);
}

TEST_CASE("seeds and who has answered need not be named, hearsay may be") {
  random_stream random{15};
  auto target = random.draw<record_key>();
  auto seeds = draw(3, random);
  lookup search{target, random.draw<peer_id>(), seeds};
  CHECK(search.known().size() == 3);
  auto asked = search.next();
  auto named = near(target, 2, random);
  search.answered(asked[0].id, {named});
  CHECK(search.known().size() == 3);
  for (const auto& x : search.known())
    CHECK(x != named.id);
  REQUIRE(search.next().front().id == named.id);
  search.answered(named.id, {});
  REQUIRE(search.known().size() == 4);
  CHECK(search.known().front() == named.id); // The closest.
}

TEST_CASE("no more names are known than are worth sending") {
  random_stream random{16};
  lookup search{random.draw<record_key>(), random.draw<peer_id>(),
                draw(100, random)};
  CHECK(search.known().size() == 2 * bucket_size);
}

TEST_CASE("a liar's invented contacts cost a few requests, not the look-up") {
  random_stream random{8};
  auto target = random.draw<record_key>();
  auto honest = draw(30, random);
  sort_by_distance(honest, target);
  auto liar = near(target, 2, random);
  auto seeds = honest;
  seeds.push_back(liar);
  lookup search{target, random.draw<peer_id>(), seeds};
  std::size_t wasted = 0;
  while (!search.done())
    for (auto& x : search.next()) {
      if (x == liar) {
        std::vector<contact> invented;
        for (int i = 0; i < 20; ++i)
          invented.push_back(near(target, 16, random));
        search.answered(x.id, invented);
      } else if (std::find(honest.begin(), honest.end(), x) != honest.end()) {
        search.answered(x.id, {honest.begin(), honest.begin() + 20});
      } else {
        ++wasted;
        search.failed(x.id);
      }
    }
  CHECK(wasted < lookup::max_lies + 4);
  auto found = search.closest();
  REQUIRE(found.size() == bucket_size);
  CHECK(found[0] == liar); // it does live, and it is close
  for (std::size_t i = 1; i < found.size(); ++i)
    CHECK(found[i] == honest[i - 1]);
}

TEST_CASE("a contact that honest peers name is asked though liars named it") {
  random_stream random{9};
  auto target = random.draw<record_key>();
  auto liar = near(target, 2, random);
  auto honest = near(target, 1, random);
  auto wanted = near(target, 3, random);
  auto lied = wanted;
  lied.where.host = "192.0.2.1";
  lookup search{target, random.draw<peer_id>(), {liar, honest}};
  bool reached = false;
  std::vector<contact> waiting;
  while (!search.done()) {
    for (auto& x : search.next())
      waiting.push_back(x);
    REQUIRE(!waiting.empty());
    auto x = waiting.front();
    waiting.erase(waiting.begin());
    if (x == liar) {
      std::vector<contact> named;
      for (int i = 0; i < 10; ++i)
        named.push_back(near(target, 16, random));
      named.push_back(lied);
      search.answered(x.id, named);
    } else if (x == honest) {
      // Slow: its answer comes when the liar is known to be one.
      if (!waiting.empty() || search.in_flight() > 1) {
        waiting.push_back(x);
        continue;
      }
      search.answered(x.id, {wanted});
    } else {
      reached = reached || x == wanted;
      x == wanted ? search.answered(x.id, {}) : search.failed(x.id);
    }
  }
  CHECK(reached);
  REQUIRE(!search.closest().empty());
  CHECK(search.closest()[0] == wanted);
}

TEST_CASE("an endless chain of ever closer contacts comes to an end") {
  random_stream random{10};
  auto target = random.draw<record_key>();
  lookup search{target, random.draw<peer_id>(), draw(3, random)};
  std::size_t rounds = 0;
  std::size_t depth = 0;
  while (!search.done()) {
    REQUIRE(++rounds < 10000);
    for (auto& x : search.next()) {
      std::vector<contact> closer_ones;
      for (int i = 0; i < 20; ++i)
        closer_ones.push_back(
            near(target, std::min<std::size_t>(depth, 28), random));
      ++depth;
      search.answered(x.id, closer_ones);
    }
  }
  CHECK(search.asked() <= lookup::max_asked);
  CHECK(search.in_flight() == 0);
}

TEST_CASE("records are merged by sub-key, the longest remaining life wins") {
  random_stream random{11};
  auto key = random.draw<record_key>();
  auto seeds = draw(3, random);
  lookup search{key, random.draw<peer_id>(), seeds};
  time_point now{};
  search.next();
  search.answered(seeds[0].id, {},
                  {{key, "a", "old", 3000}, {key, "b", "only", 1000}}, now);
  search.answered(seeds[1].id, {},
                  {{key, "a", "new", 5000},
                   {random.draw<record_key>(), "a", "elsewhere", 9000},
                   {key, "c", "immortal", 4000000000u},
                   {key, "d", "dead", 0}},
                  now);
  // Sent a second later with as much life: it expires a second later.
  search.answered(seeds[2].id, {}, {{key, "b", "later", 1000}}, now + 500ms);
  CHECK(search.done());
  auto found = search.records(now + 500ms);
  REQUIRE(found.size() == 2);
  CHECK(found[0].value == "new");
  CHECK(found[0].lives_ms == 4500);
  CHECK(found[1].value == "later");
  CHECK(found[1].lives_ms == 1000);
}

TEST_CASE("a look-up for records ends when its quorum has answered") {
  random_stream random{12};
  auto key = random.draw<record_key>();
  auto seeds = draw(40, random);
  sort_by_distance(seeds, key);
  lookup::settings how;
  how.quorum = 5;
  lookup search{key, random.draw<peer_id>(), seeds, how};
  auto first = search.next();
  REQUIRE(first.size() == 3);
  search.failed(first[0].id);
  search.answered(first[1].id, {});
  search.answered(first[2].id, {});
  std::size_t asked = 3;
  while (!search.done())
    for (auto& x : search.next()) {
      ++asked;
      search.answered(x.id, {});
    }
  CHECK(asked == 6);
  auto found = search.closest();
  REQUIRE(found.size() == 5);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(found[i] == seeds[i + 1]);
  CHECK(search.next().empty());
}

TEST_CASE("ids of one network around a key do not crowd the others out") {
  random_stream random{17};
  const auto target = random.draw<record_key>();
  std::vector<contact> sybils;
  for (int i = 0; i < 300; ++i) {
    sybils.push_back(near(target, 3 + random.below(4), random));
    sybils.back().where.host = "11.66.6." + std::to_string(i % 250);
  }
  std::vector<contact> honest;
  for (int i = 0; i < 30; ++i) {
    honest.push_back(near(target, 1, random));
    honest.back().where.host = "11.0." + std::to_string(i) + ".1";
  }
  sort_by_distance(honest, target);
  lookup::settings how;
  how.quorum = 5;
  lookup search{target, random.draw<peer_id>(), {sybils[0], honest[20]}, how};
  std::size_t good = 0;
  while (!search.done())
    for (auto& x : search.next()) {
      const bool lies = x.where.host.rfind("11.66.", 0) == 0;
      good += !lies;
      std::vector<contact> named{honest.begin(), honest.begin() + 20};
      if (lies)
        for (auto& other : named)
          other = sybils[random.below(sybils.size())];
      search.answered(x.id, named);
    }
  CHECK(good >= 3);
  std::size_t from_one = 0;
  const auto found = search.closest();
  REQUIRE(found.size() >= 5);
  for (std::size_t i = 0; i < 5; ++i)
    from_one += found[i].where.host.rfind("11.66.", 0) == 0;
  CHECK(from_one <= lookup::most_of_crowd);
}

TEST_CASE("a network that is all there is answers a look-up") {
  random_stream random{18};
  const auto target = random.draw<record_key>();
  auto school = draw(40, random);
  for (auto& x : school)
    x.where.host = "11.0.7.1";
  sort_by_distance(school, target);
  lookup search{target, random.draw<peer_id>(), school};
  while (!search.done())
    for (auto& x : search.next())
      search.answered(x.id, {});
  const auto found = search.closest();
  REQUIRE(found.size() == bucket_size);
  for (std::size_t i = 0; i < bucket_size; ++i)
    CHECK(found[i] == school[i]);
}

TEST_CASE("who was silent lately is asked for want of others") {
  random_stream random{19};
  const auto target = random.draw<record_key>();
  auto seeds = draw(8, random);
  sort_by_distance(seeds, target);
  lookup::settings how;
  how.quorum = 3;
  how.avoids = [&](const peer_id& who) {
    return who == seeds[0].id || who == seeds[1].id;
  };
  lookup search{target, random.draw<peer_id>(), seeds, how};
  const auto first = search.next();
  REQUIRE(first.size() == 3);
  CHECK(first[0] == seeds[2]);
  SUBCASE("not while there are enough") {
    for (auto& x : first)
      search.answered(x.id, {});
    CHECK(search.done());
  }
  SUBCASE("but before the look-up gives up") {
    std::set<peer_id> asked;
    for (auto& x : first)
      search.failed(x.id);
    while (!search.done())
      for (auto& x : search.next()) {
        asked.insert(x.id);
        search.failed(x.id);
      }
    CHECK(asked.count(seeds[0].id) == 1);
    CHECK(asked.count(seeds[1].id) == 1);
  }
}

TEST_CASE("who is passed over counts neither as asked nor as a lie") {
  random_stream random{20};
  const auto target = random.draw<record_key>();
  lookup search{target, random.draw<peer_id>(), draw(2, random)};
  const auto asked = search.next();
  REQUIRE(asked.size() == 2);
  search.passed_over(asked[0].id);
  CHECK(search.asked() == 1);
  CHECK(search.in_flight() == 1);
  search.answered(asked[1].id, {asked[0]});
  CHECK(search.done());
  CHECK(search.closest().size() == 1);
}

TEST_CASE("whatever peers answer, a look-up ends within its limits") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    auto target = random.draw<record_key>();
    auto self = random.draw<peer_id>();
    lookup search{target, self, draw(random.below(200), random)};
    std::vector<contact> waiting;
    std::set<peer_id> asked;
    while (!search.done()) {
      for (auto& x : search.next()) {
        CHECK(x.id != self);
        CHECK(asked.insert(x.id).second);
        waiting.push_back(x);
      }
      REQUIRE(!waiting.empty());
      auto at = waiting.begin()
                + static_cast<std::ptrdiff_t>(random.below(waiting.size()));
      auto who = *at;
      waiting.erase(at);
      if (random.below(3) == 0) {
        search.failed(who.id);
        continue;
      }
      std::vector<contact> named;
      for (auto n = random.below(50); n > 0; --n)
        named.push_back(near(target, random.below(32), random));
      if (random.below(2) == 0)
        named.push_back({self, {"10.0.0.1", 7000}});
      search.answered(who.id, named);
    }
    CHECK(search.asked() == asked.size());
    CHECK(asked.size() <= lookup::max_asked);
    CHECK(search.closest().size() <= bucket_size);
  }
}

TEST_CASE("who takes long to answer holds up nobody else") {
  random_stream random{21};
  const auto target = random.draw<record_key>();
  auto nodes = draw(8, random);
  sort_by_distance(nodes, target);
  lookup::settings how;
  how.quorum = 3;
  lookup search{target, random.draw<peer_id>(), nodes, how};
  const auto first = search.next();
  REQUIRE(first.size() == 3);
  for (auto& x : first) {
    search.slow(x.id);
    search.slow(x.id);
  }
  search.slow(nodes[7].id); // It was not asked.
  CHECK(search.next() == std::vector<contact>{nodes[3], nodes[4], nodes[5]});
  for (std::size_t i : {3, 4, 5})
    search.answered(nodes[i].id, {});
  CHECK(search.next().empty());
  CHECK_FALSE(search.done()); // They are closer, and may yet answer.
  SUBCASE("and counts when it answers") {
    for (auto& x : first)
      search.answered(x.id, {});
    CHECK(search.done());
    CHECK(search.closest().front() == nodes[0]);
  }
  SUBCASE("and may fail") {
    for (auto& x : first)
      search.failed(x.id);
    CHECK(search.done());
    CHECK(search.closest().front() == nodes[3]);
  }
  CHECK(search.in_flight() == 0);
}
