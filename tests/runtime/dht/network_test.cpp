/// Whole networks made of the pure classes only: messages are function calls,
/// time stands still unless a test moves it.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "messages/limits.hpp"
#include "runtime/dht/lookup.hpp"
#include "runtime/dht/record_store.hpp"
#include "runtime/dht/routing_table.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

struct node {
  node(const contact& who) : who(who), table(who.id) {
  }
  contact who;
  routing_table table;
  record_store store;
  bool dead = false;
  bool hostile = false;
};

class network {
public:
  network(std::size_t size, std::uint64_t seed) : random(seed) {
    for (std::size_t i = 0; i < size; ++i)
      join();
    for (auto& x : nodes)
      refresh(*x);
  }

  /// Enters through one random member that is already there.
  void join() {
    contact who{random.draw<peer_id>(), {"10.0.0.1", 7000}};
    auto newcomer = std::make_unique<node>(who);
    std::vector<contact> seeds;
    if (!nodes.empty())
      seeds.push_back(nodes[random.below(nodes.size())]->who);
    by_id[who.id] = newcomer.get();
    nodes.push_back(std::move(newcomer));
    run(*nodes.back(), lookup{point_of(who.id), who.id, seeds});
    refresh(*nodes.back());
  }

  void refresh(node& one) {
    for (auto& target : one.table.refresh_targets(now, random, 30))
      run(one, approach(one, target));
  }

  lookup approach(const node& from, const record_key& target,
                  lookup::settings how = {}) {
    return lookup{target, from.who.id, from.table.closest(target, bucket_size),
                  how};
  }

  /// Drives a look-up of `from` to its end.
  lookup run(node& from, lookup search) {
    while (!search.done()) {
      auto requests = search.next();
      REQUIRE(!requests.empty()); // Nothing stays in flight between rounds.
      for (auto& to : requests)
        ask(from, to, search);
    }
    from.table.looked_up(search.target(), now);
    return search;
  }

  /// Publishes `value` on the closest nodes to `key`; says on how many.
  std::size_t publish(node& from, const record_key& key,
                      const std::string& value) {
    auto homes = run(from, approach(from, key)).closest();
    std::size_t kept = 0;
    for (auto& x : homes) {
      auto& home = *by_id.at(x.id);
      std::string subkey(from.who.id.bytes.begin(), from.who.id.bytes.end());
      auto what = home.store.store({key, subkey, value, 60000}, now);
      kept += what == record_store::verdict::stored
              || what == record_store::verdict::refreshed;
    }
    return kept;
  }

  /// The living nodes closest to `target`, `from` left out.
  std::vector<peer_id> truly_closest(const record_key& target, const node& from,
                                     std::size_t n) {
    std::vector<peer_id> all;
    for (auto& x : nodes)
      if (!x->dead && x.get() != &from)
        all.push_back(x->who.id);
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
      return closer(target, a, b);
    });
    if (all.size() > n)
      all.resize(n);
    return all;
  }

  node& any_living() {
    for (;;) {
      auto& x = *nodes[random.below(nodes.size())];
      if (!x.dead && !x.hostile)
        return x;
    }
  }

  random_stream random;
  time_point now{};
  std::vector<std::unique_ptr<node>> nodes;
  std::map<peer_id, node*> by_id;

private:
  void ask(node& from, const contact& to, lookup& search) {
    auto at = by_id.find(to.id);
    if (at == by_id.end() || at->second->dead) {
      search.failed(to.id);
      from.table.failed(to.id);
      return;
    }
    auto& answerer = *at->second;
    meet(answerer, from.who);
    meet(from, answerer.who);
    if (answerer.hostile) {
      search.answered(to.id, garbage(search.target(), from),
                      garbage_records(search.target()), now);
      return;
    }
    search.answered(to.id, answerer.table.closest(search.target(), bucket_size),
                    answerer.store.find(search.target(), now), now);
  }

  void meet(node& one, const contact& other) {
    auto ping = one.table.seen(other, now).ping;
    if (!ping)
      return;
    if (by_id.at(ping->id)->dead)
      one.table.failed(ping->id);
    else
      one.table.seen(*ping, now);
  }

  /// Nodes that do not exist, next to the target; the asker; nonsense.
  std::vector<contact> garbage(const record_key& target, const node& asker) {
    std::vector<contact> result;
    for (int i = 0; i < 100; ++i) {
      contact x{random.draw<peer_id>(), {"192.0.2.1", 9}};
      std::copy_n(target.bytes.begin(), 8 + random.below(8),
                  x.id.bytes.begin());
      if (random.below(10) == 0)
        x.where.port = 0;
      if (random.below(10) == 0)
        x = asker.who;
      result.push_back(x);
    }
    return result;
  }

  std::vector<dht_record> garbage_records(const record_key& target) {
    return {{target, "x", std::string(max_record_value_bytes + 1, 'x'), 1000},
            {random.draw<record_key>(), "y", "elsewhere", 1000},
            {target, "z", "immortal", 4000000000u},
            {target, "dead", "", 0}};
  }
};

std::vector<peer_id> ids(const std::vector<contact>& contacts) {
  std::vector<peer_id> result;
  for (auto& x : contacts)
    result.push_back(x.id);
  return result;
}

} // namespace

TEST_CASE("in a network of 500 every look-up finds the 20 truly closest") {
  for (std::uint64_t seed : {1u, 2u}) {
    CAPTURE(seed);
    network world{500, seed};
    std::size_t asked = 0;
    std::size_t most_contacts = 0;
    for (int i = 0; i < 300; ++i) {
      auto& from = world.any_living();
      auto target = world.random.draw<record_key>();
      auto search = world.run(from, world.approach(from, target));
      REQUIRE(ids(search.closest())
              == world.truly_closest(target, from, bucket_size));
      asked += search.asked();
    }
    for (auto& x : world.nodes)
      most_contacts = std::max(most_contacts, x->table.size());
    CHECK(asked / 300.0 < 30);      // 20 of them are the result itself
    CHECK(most_contacts < 500 / 2); // and nobody needs to know everybody
  }
}

TEST_CASE("networks of every small size know all of their members") {
  for (std::size_t size = 1; size <= 24; ++size) {
    CAPTURE(size);
    network world{size, size};
    for (auto& from : world.nodes) {
      auto target = world.random.draw<record_key>();
      auto search = world.run(*from, world.approach(*from, target));
      CHECK(ids(search.closest())
            == world.truly_closest(target, *from, bucket_size));
    }
  }
}

TEST_CASE("with 20% of the nodes dead every record and sub-key is found") {
  for (std::uint64_t seed : {3u, 4u, 5u}) {
    CAPTURE(seed);
    network world{300, seed};
    std::map<int, std::map<std::string, std::string>> published;
    for (int key = 0; key < 30; ++key)
      for (int i = 0; i < 5; ++i) {
        auto& from = world.any_living();
        std::string subkey(from.who.id.bytes.begin(), from.who.id.bytes.end());
        auto value = std::to_string(key) + "/" + std::to_string(i);
        // The second value of one publisher is not longer-lived: keep one.
        if (!published[key].emplace(subkey, value).second)
          continue;
        CHECK(world.publish(from, key_of(std::to_string(key)), value)
              == bucket_size);
      }
    for (int killed = 0; killed < 60;) {
      auto& x = world.any_living();
      x.dead = true;
      ++killed;
    }
    world.now += 5s;
    lookup::settings how;
    how.quorum = 5;
    for (auto& [key, values] : published) {
      auto& from = world.any_living();
      auto search = world.run(
          from, world.approach(from, key_of(std::to_string(key)), how));
      std::map<std::string, std::string> found;
      for (auto& x : search.records(world.now)) {
        found[x.subkey] = x.value;
        CHECK(x.lives_ms == 55000);
      }
      CHECK(found == values);
    }
  }
}

TEST_CASE("a network that lost 20% still finds the truly closest survivors") {
  network world{300, 6};
  for (int killed = 0; killed < 60; ++killed)
    world.any_living().dead = true;
  // One refresh, as every half an hour, tells the tables who is gone.
  world.now += 31min;
  for (auto& x : world.nodes)
    if (!x->dead)
      world.refresh(*x);
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    auto& from = world.any_living();
    auto target = world.random.draw<record_key>();
    auto search = world.run(from, world.approach(from, target));
    CHECK(ids(search.closest())
          == world.truly_closest(target, from, bucket_size));
  }
}

TEST_CASE("a tenth of hostile nodes cannot stop or misdirect a look-up") {
  for (std::uint64_t seed : {7u, 8u}) {
    CAPTURE(seed);
    network world{300, seed};
    std::map<int, std::string> published;
    for (int key = 0; key < 20; ++key) {
      published[key] = "value " + std::to_string(key);
      world.publish(world.any_living(), key_of(std::to_string(key)),
                    published[key]);
    }
    for (int turned = 0; turned < 30; ++turned)
      world.any_living().hostile = true;
    std::size_t most = 0;
    for (int i = 0; i < 200; ++i) {
      auto& from = world.any_living();
      auto key = static_cast<int>(world.random.below(20));
      auto point = key_of(std::to_string(key));
      auto search = world.run(from, world.approach(from, point));
      most = std::max(most, search.asked());
      // The hostile nodes do exist, so they belong to the result.
      CHECK(ids(search.closest())
            == world.truly_closest(point, from, bucket_size));
      auto found = search.records(world.now);
      REQUIRE(found.size() == 1);
      CHECK(found[0].value == published[key]);
    }
    CHECK(most <= lookup::max_asked);
  }
}
