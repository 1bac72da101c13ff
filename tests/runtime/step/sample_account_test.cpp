#include <doctest/doctest.h>

#include <limits>

#include "runtime/step/sample_account.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr auto any = std::numeric_limits<std::uint64_t>::max();

sample_account::settings usual() {
  sample_account::settings x;
  x.target = 64;
  x.steps = 10;
  x.order_seed = 5;
  x.micro_batch = 16;
  x.first_number = 100;
  return x;
}

/// Computes what is asked for, at 1000 samples a second.
void compute(sample_account& x, const compute_batch& asked,
             bool expected = true) {
  batch_done done;
  done.step = asked.step;
  done.number = asked.number;
  done.result = {asked.request.samples, asked.request.samples * 2.0};
  done.seconds = asked.request.samples / 1000.0;
  x.ended(done, expected);
}

std::uint64_t compute_one(sample_account& x, std::uint64_t step = 0) {
  auto asked = x.next(step, any, 500ms);
  if (!asked)
    return 0;
  compute(x, *asked);
  return asked->request.samples;
}

} // namespace

TEST_CASE("batches go through the order one behind the other") {
  sample_account x{usual()};
  auto first = x.next(0, any, 500ms);
  REQUIRE(first);
  CHECK(first->number == 101);
  CHECK(first->request.order_seed == 5);
  CHECK(first->request.samples == 2); // Nobody knows yet how long it takes.
  CHECK(x.running());
  compute(x, *first);
  auto second = x.next(0, any, 500ms);
  REQUIRE(second);
  CHECK(second->request.first_sample == 2);
  CHECK(second->request.samples == 16);
  compute(x, *second);
  CHECK(x.counted().samples == 18);
  CHECK(x.mean_loss() == doctest::Approx(2));
  CHECK(x.speed() == doctest::Approx(1000));
}

TEST_CASE("a batch is no longer than the quota or the time allows") {
  sample_account x{usual()};
  compute_one(x);
  CHECK(x.next(0, 3, 500ms)->request.samples == 3);
  CHECK(x.batch_size(5ms) == 5);
  CHECK(x.batch_size(1us) == 1);
  CHECK_FALSE(x.next(0, 0, 500ms));
}

TEST_CASE("an unexpected batch counts for nothing") {
  sample_account x{usual()};
  compute(x, *x.next(0, any, 500ms), false);
  CHECK(x.counted().samples == 0);
  CHECK_FALSE(x.running());
  CHECK(x.next(0, any, 500ms)->request.first_sample == 0); // Once more.
}

TEST_CASE("what is set aside waits, and newer samples are counted apart") {
  sample_account x{usual()};
  while (x.counted().samples < 32)
    compute_one(x);
  auto own = x.counted().samples;
  REQUIRE(x.close(2 * own, 500ms));
  CHECK_FALSE(x.close(2 * own, 500ms)); // Once.
  CHECK(x.aside());
  auto newer = compute_one(x);
  CHECK(newer > 0);
  CHECK(x.counted().samples == own);
  SUBCASE("the mean with it is applied: the newer ones are the next step's") {
    CHECK(x.stepped_beside().only_aside);
    CHECK(x.counted().samples == newer);
    CHECK(x.mean_loss() == doctest::Approx(2));
  }
  SUBCASE("it comes to nothing: all belong to this step") {
    auto taken = x.reopen();
    REQUIRE(taken);
    CHECK(taken->with_newer);
    CHECK(x.counted().samples == own + newer);
  }
  SUBCASE("nobody computes more than two target batches ahead") {
    std::uint64_t more = newer;
    while (auto samples = compute_one(x))
      more += samples;
    CHECK(own + more <= 2 * 64);
  }
  SUBCASE("behind the last step is none") {
    CHECK_FALSE(x.next(9, any, 500ms));
  }
}

TEST_CASE("a shared order gives each its shard of each step") {
  auto how = usual();
  how.order = {true, 1, 3};
  how.target = 8; // 1, 4 and 7 are this shard's.
  sample_account x{how};
  std::vector<std::uint64_t> seen;
  while (auto asked = x.next(2, any, 500ms)) {
    CHECK(asked->request.stride == 3);
    for (std::uint64_t i = 0; i < asked->request.samples; ++i)
      seen.push_back(asked->request.first_sample + 3 * i);
    compute(x, *asked);
  }
  CHECK(seen == std::vector<std::uint64_t>{17, 20, 23});
  REQUIRE(x.close(8, 500ms));
  auto ahead = x.next(2, any, 500ms);
  REQUIRE(ahead);
  CHECK(ahead->request.first_sample == 25);
  // Its newer samples have their place in the next step.
  CHECK_FALSE(x.reopen()->with_newer);
  compute(x, *ahead);
  CHECK(x.counted().samples == 3); // That batch was dropped.
}

TEST_CASE("a successor does not begin with the same samples") {
  sample_account x{usual()};
  x.reorder(7);
  CHECK(x.next(0, any, 500ms)->request.order_seed != 5);
}

TEST_CASE("samples are counted in one place only") {
  sample_account x{usual()};
  compute_one(x);
  x.take_in({10, 5.0});
  auto given = x.give_away();
  CHECK(given.samples == 12);
  CHECK(given.loss_sum == doctest::Approx(9));
  CHECK(x.counted().samples == 0);
}

TEST_CASE("losses may be negative, and stay within what messages can say") {
  sample_account x{usual()};
  const auto asked = x.next(0, any, 500ms);
  REQUIRE(asked);
  batch_done done;
  done.number = asked->number;
  done.result = {asked->request.samples, -0.5 * asked->request.samples};
  x.ended(done, true);
  CHECK(x.mean_loss() == -0.5);
  x.take_in({1, 3e18});
  CHECK(x.counted().loss_sum == max_real);
  x.take_in({1, -9e18});
  CHECK(x.counted().loss_sum == -max_real);
}

TEST_CASE("a gradient that is dropped takes the batch under way with it") {
  sample_account x{usual()};
  auto asked = x.next(0, any, 500ms);
  x.clear(true);
  compute(x, *asked);
  CHECK(x.counted().samples == 0);
}
