#include "runtime/averaging/value_pool.hpp"

#include <thread>

#include <doctest/doctest.h>

#include "tests/runtime/averaging/waiting.hpp"

using namespace potluck;

TEST_CASE("a vector that nobody holds is lent again") {
  value_pool pool{100};
  auto first = pool.take(40);
  REQUIRE(first->size() == 40);
  auto* memory = first->data();
  first.reset();
  CHECK(pool.idle() == 40);
  CHECK(pool.take(30)->data() != memory);
  auto again = pool.take(40);
  CHECK(again->data() == memory);
  CHECK(pool.idle() == 30);
}

TEST_CASE("no two holders share a vector") {
  value_pool pool{100};
  auto a = pool.take(10);
  auto b = pool.take(10);
  CHECK(a->data() != b->data());
}

TEST_CASE("the oldest vectors go when more wait than may") {
  value_pool pool{100};
  auto a = pool.take(60);
  auto b = pool.take(50);
  auto c = pool.take(101);
  a.reset();
  CHECK(pool.idle() == 60);
  b.reset();
  CHECK(pool.idle() == 50);
  c.reset();
  CHECK(pool.idle() == 50);
}

TEST_CASE("so many bytes may wait, and no more, until they are let go") {
  value_pool pool{0};
  auto most = let_many_wait(pool, value_pool::most_waiting);
  REQUIRE_FALSE(most.empty());
  CHECK_FALSE(may_wait(pool, 1));
  most.clear();
  auto one = pool.let_wait(0, 1);
  auto copy = one;
  one.reset();
  CHECK_FALSE(may_wait(pool, value_pool::most_waiting));
  copy.reset();
  CHECK(may_wait(pool, value_pool::most_waiting));
}

TEST_CASE("a vector may outlive its pool, and end on any thread") {
  std::shared_ptr<std::vector<float>> kept;
  {
    value_pool pool{100};
    kept = pool.take(10);
    std::thread{[x = pool.take(10)]() mutable { x.reset(); }}.join();
    CHECK(pool.idle() == 10);
  }
  kept->at(9) = 1;
  kept.reset();
}

TEST_CASE("one member's parts do not wait beyond a usual body") {
  value_pool pool{0};
  auto first = pool.let_wait(3, value_pool::most_waiting_of_one);
  REQUIRE(first.get() != nullptr);
  CHECK(pool.let_wait(3, 1).get() == nullptr);
  CHECK(pool.let_wait(4, 1).get() != nullptr);
  first.reset();
  CHECK(pool.let_wait(3, 1).get() != nullptr);
}
