#include "actors/chunk_reducer.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/test_world.hpp"

using namespace potluck;

namespace {

shared_bytes bytes_of(std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  return {owner, reinterpret_cast<const std::uint8_t*>(owner->data()),
          owner->size() * sizeof(float)};
}

/// A reducer of two values from members with 1, 3 and no samples.
struct one_chunk {
  one_chunk() : parent(system.pretend<mean_listener>()) {
    reduction_job job;
    job.group.bytes[0] = 9;
    job.chunk = 4;
    job.length = 2;
    job.samples = {1, 3, 0};
    job.parent = parent.handle;
    it = system.keep((*system).spawn(chunk_reducer, job));
    it->attach_functor([this] { ended = true; });
  }
  void offer(std::uint32_t member, std::uint64_t samples,
             std::vector<float> values) {
    caf::anon_send(it,
                   part_arrived{member, samples, bytes_of(std::move(values))});
    system.run();
  }

  bool ended = false;
  test_system system;
  fake<mean_listener> parent;
  chunk_reducer_actor it;
};

} // namespace

TEST_CASE("a reducer reports the mean once and ends") {
  one_chunk x;
  x.offer(1, 3, {3, -3});
  CHECK(x.parent->count<mean_ready>() == 0);
  CHECK_FALSE(x.ended);
  x.offer(0, 1, {1, 7});
  REQUIRE(x.parent->count<mean_ready>() == 1);
  auto news = x.parent->last<mean_ready>();
  CHECK(news.group.bytes[0] == 9);
  CHECK(news.chunk == 4);
  CHECK(*news.values == std::vector<float>{1, 1});
  CHECK(x.ended);
}

TEST_CASE("a reducer does without the members that it is told to") {
  one_chunk x;
  x.offer(0, 1, {1, 7});
  caf::anon_send(x.it, part_given_up{{0, 1, 2}}); // Of 0 it has the part.
  x.system.run();
  REQUIRE(x.parent->count<mean_ready>() == 1);
  CHECK(*x.parent->last<mean_ready>().values == std::vector<float>{1, 7});
  CHECK(x.parent->last<mean_ready>().left_out == std::vector<std::uint8_t>{1});
  CHECK(x.ended);
}

TEST_CASE("a part sent twice counts once and is no offence") {
  one_chunk x;
  x.offer(1, 3, {3, 3});
  x.offer(1, 3, {30, 30});
  x.offer(0, 1, {1, 1});
  CHECK(x.parent->count<part_refused>() == 0);
  REQUIRE(x.parent->count<mean_ready>() == 1);
  CHECK(*x.parent->last<mean_ready>().values == std::vector<float>{1, 1});
}

TEST_CASE(
    "a part that cannot be summed is refused, and nobody waits for another") {
  one_chunk x;
  x.offer(1, 3, {3, 3});
  std::uint32_t culprit = 0;
  SUBCASE("more than any gradient, so that two would be infinite") {
    x.offer(0, 1, {1, std::numeric_limits<float>::max()});
  }
  SUBCASE("a NaN") {
    x.offer(0, 1, {1, std::numeric_limits<float>::quiet_NaN()});
  }
  SUBCASE("an infinity") {
    x.offer(0, 1, {std::numeric_limits<float>::infinity(), 1});
  }
  SUBCASE("another length") {
    x.offer(0, 1, {1, 1, 1});
  }
  SUBCASE("other samples") {
    x.offer(0, 2, {1, 1});
  }
  SUBCASE("no samples announced") {
    culprit = 2;
    x.offer(2, 1, {1, 1});
  }
  REQUIRE(x.parent->count<part_refused>() == 1);
  CHECK(x.parent->last<part_refused>().member == culprit);
  CHECK(x.parent->last<part_refused>().chunk == 4);
  if (culprit == 2) { // It was not waited for.
    CHECK(x.parent->count<mean_ready>() == 0);
    return;
  }
  REQUIRE(x.parent->count<mean_ready>() == 1);
  CHECK(*x.parent->last<mean_ready>().values == std::vector<float>{1, 1});
  CHECK(x.parent->last<mean_ready>().left_out == std::vector<std::uint8_t>{0});
}
