#include "runtime/experts/batch_queue.hpp"

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr auto forward = expert_pass::forward;
constexpr auto backward = expert_pass::backward;
using verdict = task_pool::verdict;

time_point at(duration since) {
  return time_point{} + since;
}

peer_id caller(std::uint8_t n) {
  peer_id x;
  x.bytes[0] = n;
  return x;
}

expert_task task(std::uint8_t who, std::uint64_t number, std::uint32_t samples,
                 duration arrived, duration patience = 1h) {
  expert_task x;
  x.caller = caller(who);
  x.number = number;
  x.samples = samples;
  x.values.resize(samples);
  x.arrived = at(arrived);
  x.useless = at(arrived + patience);
  return x;
}

std::vector<std::uint64_t> numbers(const std::vector<expert_task>& tasks) {
  std::vector<std::uint64_t> result;
  for (auto& x : tasks)
    result.push_back(x.number);
  return result;
}

batch_queue::bounds small() {
  batch_queue::bounds b;
  b.pool.most_samples = 10;
  b.pool.waiting_samples = 30;
  b.pool.waiting_calls = 5;
  return b;
}

} // namespace

TEST_CASE("calls of several callers become one batch, up to the maximum") {
  batch_queue q{small()};
  CHECK(q.offer("a.0", forward, task(1, 1, 4, 1ms)) == verdict::queued);
  CHECK(q.offer("a.0", forward, task(2, 2, 6, 2ms)) == verdict::queued);
  CHECK(q.offer("a.0", forward, task(3, 3, 1, 3ms)) == verdict::queued);
  auto first = q.next(at(5ms));
  REQUIRE(first);
  CHECK(first->uid == "a.0");
  CHECK(numbers(first->tasks) == std::vector<std::uint64_t>{1, 2});
  CHECK(numbers(q.next(at(5ms))->tasks) == std::vector<std::uint64_t>{3});
  CHECK(!q.next(at(5ms)));
  CHECK(q.calls() == 0);
  CHECK(q.bytes() == 0);
}

TEST_CASE("a large call behind small ones is not overtaken") {
  batch_queue q{small()};
  q.offer("a.0", forward, task(1, 1, 4, 1ms));
  q.offer("a.0", forward, task(1, 2, 9, 2ms));
  q.offer("a.0", forward, task(1, 3, 1, 3ms));
  CHECK(numbers(q.next(at(5ms))->tasks) == std::vector<std::uint64_t>{1});
  CHECK(numbers(q.next(at(5ms))->tasks) == std::vector<std::uint64_t>{2, 3});
}

TEST_CASE("the expert and pass whose call has waited longest is next") {
  batch_queue q{small()};
  q.offer("b.0", forward, task(1, 1, 1, 1ms));
  q.offer("a.0", backward, task(1, 2, 1, 2ms));
  q.offer("a.0", forward, task(1, 3, 1, 3ms));
  q.offer("b.0", forward, task(1, 4, 1, 4ms));
  auto x = q.next(at(5ms));
  CHECK(x->uid == "b.0");
  CHECK(numbers(x->tasks) == std::vector<std::uint64_t>{1, 4});
  x = q.next(at(5ms));
  CHECK(x->pass == backward);
  CHECK(numbers(q.next(at(5ms))->tasks) == std::vector<std::uint64_t>{3});
}

TEST_CASE("a popular expert does not starve another one") {
  auto b = small();
  b.pool.waiting_samples = 1000;
  b.pool.waiting_calls = 1000;
  batch_queue q{b};
  for (std::uint64_t i = 0; i < 100; ++i)
    q.offer("popular.0", forward, task(1, i, 10, 1ms));
  q.offer("rare.0", forward, task(2, 1000, 1, 2ms));
  // The popular one's calls go on arriving while one batch is computed.
  int batches = 0;
  for (auto now = 3ms; now < 1s; now += 1ms) {
    q.offer("popular.0", forward, task(1, 2000, 10, now));
    ++batches;
    if (q.next(at(now))->uid == "rare.0")
      break;
  }
  // All those that were there before, and no other.
  CHECK(batches == 101);
}

TEST_CASE("a pool waits for its minimum, but no longer than it may linger") {
  auto b = small();
  b.pool.least_samples = 5;
  b.pool.linger = 20ms;
  batch_queue q{b};
  q.offer("a.0", forward, task(1, 1, 2, 10ms));
  CHECK(!q.next(at(11ms)));
  REQUIRE(q.wake());
  CHECK(*q.wake() == at(30ms));
  CHECK(q.next(at(30ms)));
  CHECK(!q.wake());
  q.offer("a.0", forward, task(1, 2, 2, 40ms));
  q.offer("a.0", forward, task(2, 3, 3, 41ms));
  CHECK(q.next(at(41ms))->tasks.size() == 2);
}

TEST_CASE("a full pool, and a call that fits no batch, are refused") {
  batch_queue q{small()};
  CHECK(q.offer("a.0", forward, task(1, 1, 11, 1ms)) == verdict::too_large);
  for (std::uint64_t i = 0; i < 3; ++i)
    CHECK(q.offer("a.0", forward, task(1, i, 10, 1ms)) == verdict::queued);
  CHECK(q.offer("a.0", forward, task(1, 9, 1, 1ms)) == verdict::busy);
  // The other pass has a pool of its own, bounded in calls too.
  for (std::uint64_t i = 0; i < 5; ++i)
    CHECK(q.offer("a.0", backward, task(1, i, 1, 1ms)) == verdict::queued);
  CHECK(q.offer("a.0", backward, task(1, 9, 1, 1ms)) == verdict::busy);
  CHECK(q.calls() == 8);
}

TEST_CASE("who floods a host is refused while others are served") {
  auto b = small();
  b.calls_of_a_caller = 6;
  b.bytes_of_a_caller = 100;
  b.bytes = 150;
  batch_queue q{b};
  std::size_t taken = 0;
  for (int i = 0; i < 50; ++i)
    taken += q.offer("e." + std::to_string(i), forward,
                     task(1, 1, 1, duration{i}))
             == verdict::queued;
  CHECK(taken == 6);
  CHECK(q.offer("x.0", forward, task(2, 1, 10, 60ms)) == verdict::queued);
  CHECK(q.offer("x.1", forward, task(3, 1, 10, 60ms)) == verdict::queued);
  // Now the host's own bound: 6 * 4 + 2 * 40 bytes wait, of 150.
  CHECK(q.bytes() == 104);
  CHECK(q.offer("x.2", forward, task(4, 1, 10, 60ms)) == verdict::queued);
  CHECK(q.offer("x.3", forward, task(5, 1, 10, 60ms)) == verdict::busy);
  // And bytes of one caller.
  batch_queue heavy{b};
  CHECK(heavy.offer("a.0", forward, task(1, 1, 10, 1ms)) == verdict::queued);
  CHECK(heavy.offer("a.1", forward, task(1, 1, 10, 1ms)) == verdict::queued);
  CHECK(heavy.offer("a.2", forward, task(1, 1, 10, 1ms)) == verdict::busy);
}

TEST_CASE("a call that nobody waits for any more is dropped, not computed") {
  batch_queue q{small()};
  q.offer("a.0", forward, task(1, 1, 1, 1ms, 5ms));
  q.offer("a.0", forward, task(1, 2, 1, 2ms));
  CHECK(numbers(q.next(at(6ms))->tasks) == std::vector<std::uint64_t>{2});
  CHECK(q.dropped() == 1);
  CHECK(q.bytes() == 0);
}

TEST_CASE(
    "a caller that left is forgotten, and a withdrawn expert's calls come "
    "back") {
  batch_queue q{small()};
  q.offer("a.0", forward, task(1, 1, 1, 1ms));
  q.offer("a.0", forward, task(2, 2, 1, 1ms));
  q.offer("a.0", backward, task(2, 3, 1, 1ms));
  q.offer("b.0", forward, task(1, 4, 1, 1ms));
  q.forget(caller(1));
  CHECK(q.calls() == 2);
  CHECK(numbers(q.withdraw("a.0")) == std::vector<std::uint64_t>{2, 3});
  CHECK(q.calls() == 0);
  CHECK(q.bytes() == 0);
  CHECK(!q.next(at(2ms)));
}

TEST_CASE("whatever comes, the books are right and nothing is lost") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    random_stream random{seed};
    batch_queue q{small()};
    std::size_t waiting = 0;
    duration now{0};
    for (int i = 0; i < 2000; ++i) {
      now += duration{random.below(1000)};
      auto uid = "a." + std::to_string(random.below(4));
      auto who = static_cast<std::uint8_t>(1 + random.below(3));
      switch (random.below(8)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
          waiting
              += q.offer(uid, random.below(2) ? forward : backward,
                         task(who, 1,
                              static_cast<std::uint32_t>(1 + random.below(12)),
                              now))
                 == verdict::queued;
          break;
        case 5:
        case 6:
          if (auto x = q.next(at(now))) {
            std::uint32_t samples = 0;
            for (auto& t : x->tasks)
              samples += t.samples;
            CHECK(samples <= 10);
            waiting -= x->tasks.size();
          } else {
            CHECK(waiting == 0);
          }
          break;
        default:
          if (random.below(10) == 0)
            waiting -= q.withdraw(uid).size();
      }
      REQUIRE(q.calls() == waiting);
    }
  }
}
