#include "runtime/dht/record_store.hpp"

#include <doctest/doctest.h>

#include <map>

#include "messages/limits.hpp"
#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

using verdict = record_store::verdict;

namespace {

dht_record record(const std::string& subkey, const std::string& value,
                  std::uint32_t lives_ms = 10000) {
  return {key_of("progress"), subkey, value, lives_ms};
}

} // namespace

TEST_CASE("records of one key are told apart by sub-key and found in order") {
  record_store store;
  time_point now{};
  CHECK(store.store(record("b", "2"), now) == verdict::stored);
  CHECK(store.store(record("a", "1", 5000), now) == verdict::stored);
  auto found = store.find(key_of("progress"), now + 2s);
  REQUIRE(found.size() == 2);
  CHECK(found[0].subkey == "a");
  CHECK(found[0].value == "1");
  CHECK(found[0].lives_ms == 3000);
  CHECK(found[1].subkey == "b");
  CHECK(found[1].lives_ms == 8000);
  CHECK(store.find(key_of("other"), now).empty());
}

TEST_CASE("of one sub-key the record that expires last wins") {
  record_store store;
  time_point now{};
  CHECK(store.store(record("a", "first", 5000), now) == verdict::stored);
  CHECK(store.store(record("a", "short", 4000), now) == verdict::older);
  CHECK(store.store(record("a", "same", 4000), now + 1s) == verdict::older);
  CHECK(store.find(key_of("progress"), now)[0].value == "first");
  CHECK(store.store(record("a", "later", 4001), now + 1s)
        == verdict::refreshed);
  auto found = store.find(key_of("progress"), now + 1s);
  REQUIRE(found.size() == 1);
  CHECK(found[0].value == "later");
  CHECK(store.size() == 1);
}

TEST_CASE("of one owner's records the one with the highest number counts") {
  record_store store;
  time_point now{};
  const auto numbered = [](std::uint64_t number, std::uint32_t lives_ms) {
    auto x = record("a", std::to_string(number), lives_ms);
    x.seal.number = number;
    return x;
  };
  CHECK_FALSE(store.number(key_of("progress"), "a"));
  CHECK(store.store(numbered(5, 1000), now) == verdict::stored);
  CHECK(store.store(numbered(4, 9000), now) == verdict::older); // Replayed.
  CHECK(store.store(numbered(6, 500), now) == verdict::refreshed);
  CHECK(store.number(key_of("progress"), "a") == 6u);
  CHECK(store.find(key_of("progress"), now)[0].value == "6");
  CHECK(store.find(key_of("progress"), now)[0].seal.number == 6);
}

TEST_CASE("who takes most gives way, so that many ids keep nobody out") {
  record_store store;
  time_point now{};
  for (std::size_t i = 0; i < max_key_records; ++i)
    REQUIRE(store.store(record("sybil " + std::to_string(i), ""), now, "evil")
            == verdict::stored);
  CHECK(store.store(record("one more", ""), now, "evil") == verdict::full);
  for (int i = 0; i < 40; ++i) // A school.
    CHECK(store.store(record("pupil " + std::to_string(i), ""), now, "school")
          == verdict::stored);
  CHECK(store.store(record("pupil 1", "again", 20000), now, "school")
        == verdict::refreshed);
  CHECK(store.size() == max_key_records);
  for (std::size_t i = 0; i < max_key_records; ++i)
    store.store(record("late " + std::to_string(i), ""), now, "evil");
  std::size_t pupils = 0;
  for (auto& x : store.find(key_of("progress"), now))
    pupils += x.subkey.rfind("pupil", 0) == 0;
  CHECK(pupils == 40);
}

TEST_CASE("a full store, too, takes from whom has most") {
  record_store store{10 * (record_overhead_bytes + 2)};
  time_point now{};
  const auto at = [](int key) {
    return dht_record{key_of(std::to_string(key)), "a", "1", 10000};
  };
  for (int i = 0; i < 10; ++i)
    REQUIRE(store.store(at(i), now, "evil") == verdict::stored);
  CHECK(store.store(at(10), now, "evil") == verdict::full);
  for (int i = 20; i < 25; ++i)
    CHECK(store.store(at(i), now, "good") == verdict::stored);
  CHECK(store.store(at(25), now, "good") == verdict::full); // It has half.
  CHECK(store.size() == 10);
}

TEST_CASE("one network of the internet has so much and no more") {
  const auto fill = [](const std::string& network) {
    record_store store;
    std::size_t refused = 0;
    for (int i = 0; i < 1600; ++i) {
      const auto owner = "owner " + std::to_string(i);
      for (int k = 0; k < 2; ++k)
        refused
            += store.store({key_of(owner + std::to_string(k)), owner,
                            std::string(max_record_value_bytes, 'x'), 10000},
                           time_point{}, network)
               == verdict::full;
    }
    return std::pair{store.bytes(), refused};
  };
  CHECK(fill("11.0.7").first <= max_network_bytes);
  CHECK(fill("11.0.7").first > max_network_bytes - 8192);
  // A machine of peers may fill it all.
  CHECK(fill("127.0.0.1").second == 0);
}

TEST_CASE("this peer's own records give way to nobody") {
  record_store store{10 * (record_overhead_bytes + 2)};
  time_point now{};
  const auto at = [](int key) {
    return dht_record{key_of(std::to_string(key)), "a", "1", 10000};
  };
  for (int i = 0; i < 10; ++i)
    REQUIRE(store.store(at(i), now) == verdict::stored);
  CHECK(store.store(at(10), now, "11.0.7") == verdict::full);
  CHECK(store.size() == 10);
}

TEST_CASE("one owner has so much and no more, under whatever keys") {
  record_store store;
  time_point now{};
  const std::string large(max_record_value_bytes, 'x');
  std::size_t kept = 0;
  for (int i = 0; i < 1000; ++i)
    kept += store.store({key_of(std::to_string(i)), "a", large, 10000}, now)
            == verdict::stored;
  CHECK(store.bytes() <= max_owner_bytes);
  CHECK(kept > 200);
  CHECK(store.store({key_of("1"), "b", large, 10000}, now) == verdict::stored);
}

TEST_CASE("an expired record is not found and its sub-key is free again") {
  record_store store;
  time_point now{};
  store.store(record("a", "old", 5000), now);
  CHECK(store.find(key_of("progress"), now + 4999ms).size() == 1);
  CHECK(store.find(key_of("progress"), now + 5s).empty());
  CHECK(store.store(record("a", "new", 1), now + 5s) == verdict::stored);
  store.expire(now + 6s);
  CHECK(store.size() == 0);
  CHECK(store.bytes() == 0);
}

TEST_CASE("a record outside the limits changes nothing") {
  record_store store;
  time_point now{};
  auto most = max_record_life_ms;
  CHECK(store.store(record("a", "x", 0), now) == verdict::lifeless);
  CHECK(store.store(record("a", "x", most + 1), now)
        == verdict::too_long_lived);
  CHECK(store.store(record("a", std::string(max_record_value_bytes + 1, 'x')),
                    now)
        == verdict::too_large);
  CHECK(store.store(record(std::string(max_subkey_bytes + 1, 'x'), ""), now)
        == verdict::too_large);
  CHECK(store.size() == 0);
  CHECK(store.store(record(std::string(max_subkey_bytes, 'x'),
                           std::string(max_record_value_bytes, 'x'), most),
                    now)
        == verdict::stored);
}

TEST_CASE("a full store refuses newcomers, keeps refreshing, and recovers") {
  record_store store{2 * (record_overhead_bytes + 2)};
  time_point now{};
  CHECK(store.store(record("a", "1"), now) == verdict::stored);
  CHECK(store.store(record("b", "1"), now) == verdict::stored);
  CHECK(store.store(record("c", "1"), now) == verdict::full);
  CHECK(store.store(record("a", "2"), now + 1s) == verdict::refreshed);
  CHECK(store.store(record("a", "33"), now + 2s) == verdict::full);
  CHECK(store.find(key_of("progress"), now + 2s)[0].value == "2");
  CHECK(store.store(record("c", "1"), now + 10s) == verdict::stored);
}

TEST_CASE("one key cannot grow past what one answer carries") {
  record_store store;
  time_point now{};
  std::size_t kept = 0;
  for (std::uint32_t i = 0; i < max_key_records + 10; ++i)
    kept += store.store(record(std::to_string(i), ""), now) == verdict::stored;
  CHECK(kept == max_key_records);
  CHECK(store.store({key_of("other"), "a", "b", 1000}, now) == verdict::stored);

  record_store wide;
  const std::string large(max_record_value_bytes, 'x');
  for (int i = 0; i < 1000; ++i)
    wide.store(record(std::to_string(i), large), now);
  CHECK(wide.bytes() <= max_key_bytes);
  CHECK(wide.bytes() > max_key_bytes - 2 * max_record_value_bytes);
}

TEST_CASE("the store agrees with a plain map, whatever is stored when") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    record_store store;
    std::map<std::pair<int, std::string>, std::pair<std::string, time_point>>
        model;
    time_point now{};
    for (int i = 0; i < 2000; ++i) {
      now += std::chrono::milliseconds(random.below(20));
      int which = static_cast<int>(random.below(5));
      auto key = key_of(std::to_string(which));
      auto subkey = std::to_string(random.below(8));
      auto lives = static_cast<std::uint32_t>(random.below(800));
      auto value = std::to_string(i);
      auto expires = now + std::chrono::milliseconds(lives);
      auto& known = model[{which, subkey}];
      bool alive = known.second > now;
      auto expected = lives == 0                ? verdict::lifeless
                      : !alive                  ? verdict::stored
                      : known.second >= expires ? verdict::older
                                                : verdict::refreshed;
      REQUIRE(store.store({key, subkey, value, lives}, now) == expected);
      if (expected == verdict::stored || expected == verdict::refreshed)
        known = {value, expires};
      if (random.below(4) == 0)
        store.expire(now);
      std::size_t living = 0;
      for (auto& [id, x] : model)
        living += id.first == which && x.second > now;
      auto found = store.find(key, now);
      REQUIRE(found.size() == living);
      for (auto& x : found) {
        auto& y = model[{which, x.subkey}];
        CHECK(x.value == y.first);
        CHECK(now + std::chrono::milliseconds(x.lives_ms) == y.second);
      }
    }
    store.expire(now + 1s);
    CHECK(store.bytes() == 0);
  }
}
