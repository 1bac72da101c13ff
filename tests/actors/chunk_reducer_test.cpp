#include "actors/chunk_reducer.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/float_body.hpp"
#include "tests/support/test_world.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// A reducer of two values from members with 1, 3 and no samples.
struct one_chunk {
  one_chunk() : parent(system.pretend<mean_listener>()) {
    reduction_job job;
    job.group.bytes[0] = 9;
    job.chunk = 4;
    job.sum
        = std::make_shared<chunk_sum>(2, std::vector<std::uint64_t>{1, 3, 0},
                                      averaging_rule{}, std::nullopt, 9);
    job.patience = 2s;
    job.parent = parent.handle;
    sum = job.sum;
    it = system.keep((*system).spawn(chunk_reducer, std::move(job)));
    it->attach_functor([this] { ended = true; });
    system.run();
  }
  static chunk_part head_of(std::uint64_t samples) {
    chunk_part result;
    result.chunk = 4;
    result.samples = samples;
    return result;
  }
  void offer(std::size_t member, std::uint64_t samples,
             std::vector<float> values) {
    caf::anon_send(it, part_arrived{member, head_of(samples),
                                    float_body(std::move(values))});
    system.run();
  }

  bool ended = false;
  test_system system;
  fake<mean_listener> parent;
  chunk_reducer_actor it;
  std::weak_ptr<chunk_sum> sum;
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
  std::size_t culprit = 0;
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

TEST_CASE("another thread adds on a reducer's behalf, and says what it owes") {
  one_chunk x;
  auto add = [&](std::size_t member, std::uint64_t samples,
                 std::vector<float> values) {
    return x.sum.lock()->offer(member, one_chunk::head_of(samples),
                               float_body(std::move(values)));
  };
  CHECK_FALSE(add(1, 3, {3, -3}).worth_telling());
  SUBCASE("that all are in") {
    CHECK(add(0, 1, {1, 7}).complete);
    caf::anon_send(x.it, parts_complete{});
    x.system.run();
    REQUIRE(x.parent->count<mean_ready>() == 1);
    CHECK(*x.parent->last<mean_ready>().values == std::vector<float>{1, 1});
  }
  SUBCASE("that one is no good") {
    auto news = add(0, 2, {1, 7});
    REQUIRE(news.refused);
    caf::anon_send(x.it, part_unfit{0, news.refused});
    x.system.run();
    REQUIRE(x.parent->count<part_refused>() == 1);
    CHECK(x.parent->last<part_refused>().member == 0);
  }
}

TEST_CASE("a reducer owns its sum: when it ends, nobody adds to it any more") {
  one_chunk x;
  x.offer(1, 3, {3, -3});
  CHECK_FALSE(x.sum.expired());
  SUBCASE("with its mean") {
    x.offer(0, 1, {1, 7});
  }
  SUBCASE("before") {
    caf::anon_send_exit(x.it, caf::exit_reason::kill);
    x.system.run();
  }
  SUBCASE("since its averager has") {
    caf::anon_send_exit(x.parent.handle, caf::exit_reason::kill);
    x.system.run();
  }
  CHECK(x.ended);
  CHECK(x.sum.expired());
}

TEST_CASE("a reducer says when no part has come for its patience") {
  test_world world;
  auto& system = world.add_system();
  auto parent = system.pretend<mean_listener>();
  reduction_job job;
  job.group.bytes[0] = 9;
  job.chunk = 4;
  job.sum = std::make_shared<chunk_sum>(1, std::vector<std::uint64_t>{1, 1},
                                        averaging_rule{}, std::nullopt, 9);
  job.patience = 2s;
  job.parent = parent.handle;
  auto it = system.keep((*system).spawn(chunk_reducer, job));
  world.run_for(1s);
  caf::anon_send(it, part_arrived{0, one_chunk::head_of(1), float_body({1})});
  world.run_for(1500ms);
  CHECK(parent->count<parts_overdue>() == 0); // One has come meanwhile.
  world.run_for(2s);
  REQUIRE(parent->count<parts_overdue>() == 1);
  CHECK(parent->last<parts_overdue>().group.bytes[0] == 9);
  CHECK(parent->last<parts_overdue>().chunk == 4);
  caf::anon_send(it, part_arrived{1, one_chunk::head_of(1), float_body({1})});
  world.run_for(10s);
  CHECK(parent->count<parts_overdue>() == 1); // It has ended.
}
