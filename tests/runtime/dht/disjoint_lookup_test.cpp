#include "runtime/dht/disjoint_lookup.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr auto careful = disjoint_lookup::careful;

contact near(const record_key& target, std::size_t bytes,
             random_stream& random) {
  contact x{random.draw<peer_id>(), {"10.0.0.1", 7000}};
  std::copy_n(target.bytes.begin(), bytes, x.id.bytes.begin());
  return x;
}

lookup::settings five() {
  lookup::settings how;
  how.quorum = 5;
  return how;
}

} // namespace

TEST_CASE("paths share no node, whatever they are told") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    const auto target = random.draw<record_key>();
    std::vector<contact> all;
    for (int i = 0; i < 60; ++i)
      all.push_back(near(target, random.below(3), random));
    disjoint_lookup search{target,
                           random.draw<peer_id>(),
                           {all.begin(), all.begin() + 12},
                           five(),
                           careful};
    std::set<peer_id> asked;
    std::vector<std::size_t> on_path(careful + 1, 0);
    while (!search.done()) {
      const auto some = search.next();
      REQUIRE((!some.empty() || search.done()));
      for (auto& x : some) {
        CHECK(asked.insert(x.id).second);
        ++on_path.at(search.path_of(x.id));
        if (random.below(5) == 0) {
          search.failed(x.id);
          continue;
        }
        std::vector<contact> named;
        for (int i = 0; i < 20; ++i)
          named.push_back(all[random.below(all.size())]);
        search.answered(x.id, named, {}, time_point{});
      }
    }
    CHECK(search.asked() == asked.size());
    CHECK(on_path[0] == 0);
    for (std::size_t i = 1; i <= careful; ++i)
      CHECK(on_path[i] >= 5);
  }
}

TEST_CASE("a path that is led astray hides nothing that another finds") {
  random_stream random{1};
  const auto target = random.draw<record_key>();
  std::vector<contact> honest;
  for (int i = 0; i < 40; ++i)
    honest.push_back(near(target, 1, random));
  std::sort(honest.begin(), honest.end(),
            [&](auto& a, auto& b) { return closer(target, a.id, b.id); });
  std::set<peer_id> sybils;
  const auto sybil = [&] {
    auto x = near(target, 4, random);
    sybils.insert(x.id);
    return x;
  };
  const dht_record kept{target, "owner", "here", 10'000};
  for (std::size_t paths : {std::size_t{1}, careful}) {
    CAPTURE(paths);
    // The closest that is known is one of them, and so is all that it names.
    disjoint_lookup search{target,
                           random.draw<peer_id>(),
                           {sybil(), honest[20], honest[21]},
                           five(),
                           paths};
    while (!search.done())
      for (auto& x : search.next()) {
        std::vector<contact> named{honest.begin(), honest.begin() + 20};
        if (sybils.count(x.id) > 0)
          for (auto& y : named)
            y = sybil();
        const bool has = x == honest[0] || x == honest[3];
        search.answered(x.id, named,
                        has ? std::vector<dht_record>{kept}
                            : std::vector<dht_record>{},
                        time_point{});
      }
    const auto found = search.records(time_point{});
    if (paths == 1) {
      CHECK(found.empty());
    } else {
      REQUIRE(found.size() == 1);
      CHECK(found[0].value == "here");
    }
  }
}

TEST_CASE("of one owner's records on several paths the newest counts") {
  random_stream random{2};
  const auto target = random.draw<record_key>();
  std::vector<contact> seeds;
  for (int i = 0; i < 3; ++i)
    seeds.push_back(near(target, 0, random));
  disjoint_lookup search{target, random.draw<peer_id>(), seeds, five(),
                         careful};
  const auto asked = search.next();
  REQUIRE(asked.size() == 3);
  for (std::uint64_t i = 0; i < 3; ++i) {
    dht_record x{target, "owner", std::to_string(i), 10'000};
    x.seal.number = i == 1 ? 9 : i;
    search.answered(asked[i].id, {}, {x}, time_point{});
  }
  CHECK(search.done());
  CHECK(search.number("owner") == 9u);
  REQUIRE(search.records(time_point{}).size() == 1);
  CHECK(search.records(time_point{})[0].value == "1");
}

TEST_CASE("a few nodes are each asked once, over however many paths") {
  random_stream random{3};
  const auto target = random.draw<record_key>();
  for (std::size_t nodes = 0; nodes <= 8; ++nodes) {
    CAPTURE(nodes);
    std::vector<contact> all;
    for (std::size_t i = 0; i < nodes; ++i)
      all.push_back(near(target, 0, random));
    disjoint_lookup search{
        target,
        random.draw<peer_id>(),
        {all.begin(),
         all.begin()
             + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(nodes))},
        five(),
        careful};
    std::size_t asked = 0;
    while (!search.done())
      for (auto& x : search.next()) {
        ++asked;
        search.answered(x.id, all, {}, time_point{});
      }
    CHECK(asked >= std::min<std::size_t>(nodes, 5)); // One path has them all.
    CHECK(asked <= nodes);
  }
  CHECK_THROWS_AS(disjoint_lookup(target, {}, {}, five(), 0),
                  std::invalid_argument);
}
