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

/// A thousand nodes, and two hundred that name only each other; the closest
/// ones first.
struct crowd {
  explicit crowd(std::uint64_t seed)
      : random{seed}, target{random.draw<record_key>()} {
    fill(honest, 1000, "10.0.0.1");
    fill(sybils, 200, "10.0.0.2");
  }
  void fill(std::vector<contact>& some, std::size_t many, const char* host) {
    for (std::size_t i = 0; i < many; ++i)
      some.push_back({random.draw<peer_id>(), {host, 7000}});
    std::sort(some.begin(), some.end(),
              [this](auto& a, auto& b) { return closer(target, a.id, b.id); });
  }
  static std::vector<contact> closest_of(const std::vector<contact>& some) {
    return {some.begin(), some.begin() + 20};
  }

  random_stream random;
  record_key target;
  std::vector<contact> honest, sybils;
};

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

TEST_CASE("nodes that lie too far apart to be all do not end a look-up") {
  // Whom it starts with: those that name only each other, and one honest node
  // that knows a few of each distance.
  double spacing = 0;
  SUBCASE("where the spacing is known, the closest are found") {
    spacing = 1.0 / 1200;
  }
  SUBCASE("where it is not, it ends among those") {
  }
  crowd all{3};
  auto& random = all.random;
  const auto& target = all.target;
  const auto &honest = all.honest, &sybils = all.sybils;
  const auto first = crowd::closest_of(sybils);
  const auto nearer
      = [&](auto& a, auto& b) { return closer(target, a.id, b.id); };
  std::vector<contact> few;
  for (std::size_t i = 1; i <= 20; ++i)
    few.push_back(honest[120 + 40 * i]);

  disjoint_lookup search{
      target, random.draw<peer_id>(), {sybils[60], honest[999]}, {}, 1,
      spacing};
  for (auto some = search.next(); !some.empty(); some = search.next())
    for (auto& x : some) {
      const auto at = std::lower_bound(honest.begin(), honest.end(), x, nearer);
      if (at == honest.end() || at->id != x.id)
        search.answered(x.id, first, {}, time_point{});
      else if (x.id == honest[999].id)
        search.answered(x.id, few, {}, time_point{});
      else
        search.answered(x.id, crowd::closest_of(honest), {}, time_point{});
    }
  CHECK(search.done());
  CHECK(search.asked() <= lookup::max_asked);
  const auto found = search.closest();
  const auto are_honest
      = std::count_if(found.begin(), found.end(),
                      [](auto& x) { return x.where.host == "10.0.0.1"; });
  CHECK(found.front().id
        == (spacing > 0 && nearer(honest[0], sybils[0]) ? honest[0].id
                                                        : sybils[0].id));
  if (spacing > 0)
    CHECK(are_honest >= 10);
  else
    CHECK(are_honest == 0);
}

TEST_CASE("a look-up in a swarm that is as dense as its neighbourhood asks no "
          "more for it") {
  random_stream random{4};
  std::size_t more = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const auto target = random.draw<record_key>();
    std::vector<contact> all;
    for (std::size_t i = 0; i < 400; ++i)
      all.push_back({random.draw<peer_id>(), {"10.0.0.1", 7000}});
    std::sort(all.begin(), all.end(),
              [&](auto& a, auto& b) { return closer(target, a.id, b.id); });
    std::size_t asked[2];
    for (const bool knows : {false, true}) {
      disjoint_lookup search{
          target, peer_id{}, {all.begin() + 100, all.begin() + 120},
          {},     1,         knows ? 1.0 / 400 : 0};
      for (auto some = search.next(); !some.empty(); some = search.next())
        for (auto& x : some)
          search.answered(x.id, {all.begin(), all.begin() + 20}, {},
                          time_point{});
      asked[knows] = search.asked();
    }
    CHECK(asked[1] >= asked[0]);
    more += asked[1] > asked[0];
  }
  CHECK(more <= 4);
}

TEST_CASE("who begins with one node is not led astray by the first to answer") {
  // The one that it begins with knows three of those that name only each other,
  // closer than the others that it knows.
  crowd all{5};
  auto& random = all.random;
  const auto& target = all.target;
  const auto &honest = all.honest, &sybils = all.sybils;
  const auto first = crowd::closest_of(sybils);
  std::vector<contact> few{sybils[20], sybils[21], sybils[22]};
  for (std::size_t i = 4; i <= 20; ++i)
    few.push_back(honest[120 + 40 * i]);

  for (std::size_t doubted : {std::size_t{0}, 2 * bucket_size}) {
    CAPTURE(doubted);
    lookup::settings how;
    how.doubted = doubted;
    disjoint_lookup search{target, random.draw<peer_id>(), {honest[999]}, how};
    for (auto some = search.next(); !some.empty(); some = search.next())
      for (auto& x : some) {
        const bool lies = x.where.host == "10.0.0.2";
        const auto truth = crowd::closest_of(honest);
        search.answered(x.id,
                        lies                     ? first
                        : x.id == honest[999].id ? few
                                                 : truth,
                        {}, time_point{});
      }
    CHECK(search.done());
    CHECK(search.asked() <= lookup::max_asked);
    const auto found = search.closest();
    REQUIRE(found.size() == bucket_size);
    const auto are_honest
        = std::count_if(found.begin(), found.end(),
                        [](auto& x) { return x.where.host == "10.0.0.1"; });
    if (doubted == 0)
      CHECK(are_honest == 0);
    else
      CHECK(are_honest >= 10);
  }
}
