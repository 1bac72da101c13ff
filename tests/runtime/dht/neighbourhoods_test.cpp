#include "runtime/dht/neighbourhoods.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/runtime/dht/sealed_records.hpp"

using namespace potluck;
using namespace potluck::sealed;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{1h};

std::vector<contact> nodes(std::size_t number) {
  std::vector<contact> result(number);
  for (std::size_t i = 0; i < number; ++i)
    result[i].id = peer(static_cast<std::uint8_t>(i + 1));
  return result;
}

} // namespace

TEST_CASE("the nodes closest to a key are known until they are too old") {
  neighbourhoods all;
  const auto key = key_of("run/soup");
  CHECK(all.of(key, start).empty());
  all.found(key, nodes(bucket_size), start);
  const auto end = start + limits::closest_nodes_age;
  CHECK(all.of(key, end - 1ns).size() == bucket_size);
  CHECK(all.of(key_of("run/salad"), end - 1ns).empty());
  CHECK(all.of(key, end).empty());
}

TEST_CASE("few nodes are not remembered: newcomers matter more") {
  neighbourhoods all;
  const auto key = key_of("run/soup");
  all.found(key, nodes(bucket_size / 2 - 1), start);
  CHECK(all.of(key, start).empty());
  all.found(key, nodes(bucket_size / 2), start);
  CHECK(all.of(key, start).size() == bucket_size / 2);
}

TEST_CASE("with a node those keys are forgotten that it was close to") {
  neighbourhoods all;
  const auto one = key_of("run/soup"), other = key_of("run/salad");
  all.found(one, nodes(bucket_size), start);
  all.found(other, nodes(bucket_size / 2), start);
  all.forget_with(peer(bucket_size));
  CHECK(all.of(one, start).empty());
  CHECK(all.of(other, start).size() == bucket_size / 2);
}

TEST_CASE("so many keys are remembered, and those that came first stay") {
  neighbourhoods all;
  const auto key
      = [](std::size_t i) { return key_of("run/" + std::to_string(i)); };
  for (std::size_t i = 0; i <= limits::closest_nodes_kept; ++i)
    all.found(key(i), nodes(bucket_size), start);
  CHECK_FALSE(all.of(key(0), start).empty());
  CHECK_FALSE(all.of(key(limits::closest_nodes_kept - 1), start).empty());
  CHECK(all.of(key(limits::closest_nodes_kept), start).empty());
}
