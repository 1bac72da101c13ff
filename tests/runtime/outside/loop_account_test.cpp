#include "runtime/outside/loop_account.hpp"

#include <doctest/doctest.h>

#include "runtime/config.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point start{};

digest state(std::uint8_t number) {
  return digest_of(&number, 1);
}

} // namespace

TEST_CASE("a loop that has nothing yet has nothing that counts") {
  loop_account x;
  CHECK_FALSE(x.is_new());
  CHECK_FALSE(x.counts());
  x.shows(3, state(3));
  CHECK(x.is_new());
  CHECK_FALSE(x.counts());
  x.takes(start);
  CHECK_FALSE(x.is_new());
  CHECK(x.counts());
  CHECK(x.taken() == 3);
}

TEST_CASE("what was computed a step ago counts where updates are delayed") {
  for (bool delayed : {false, true}) {
    loop_account x{delayed};
    x.shows(3, state(3));
    x.takes(start);
    x.shows(3, state(3)); // The same once more.
    CHECK_FALSE(x.is_new());
    x.shows(4, state(4));
    CHECK(x.is_new());
    CHECK(x.counts() == delayed);
    x.shows(5, state(5));
    CHECK_FALSE(x.counts());
    x.takes(start);
    CHECK(x.counts());
  }
}

TEST_CASE("another history leaves nothing that counts, even a step further") {
  loop_account x{true};
  x.shows(3, state(3));
  x.takes(start);
  x.shows(3, state(30)); // Downloaded.
  CHECK(x.is_new());
  CHECK_FALSE(x.counts());
  x.shows(4, state(40));
  CHECK_FALSE(x.counts());
}

TEST_CASE("a roll-back leaves nothing that counts") {
  loop_account x{true};
  x.shows(9, state(9));
  x.takes(start);
  x.shows(4, state(4));
  CHECK_FALSE(x.counts());
}

TEST_CASE("batches are measured from when the loop went on") {
  loop_account x;
  x.shows(1, state(1));
  x.takes(start);
  CHECK(x.added(8, start + 2s) == doctest::Approx(2));
  x.goes_on(start + 5s); // It had to wait.
  CHECK(x.added(8, start + 6s) == doctest::Approx(1));
  CHECK(x.added(8, start + 9s) == doctest::Approx(3)); // Without a look.
  CHECK(x.samples() == 24);
  CHECK(x.stale() == 0);
  x.dropped(8, start + 10s);
  CHECK(x.samples() == 32);
  CHECK(x.stale() == 8);
}

TEST_CASE("compute waits longer only for what is about to come") {
  loop_account x;
  CHECK(x.patience(start) == limits::loop_patience);
  x.shows(1, state(1));
  x.takes(start);
  x.added(8, start + 10s); // Its batches take ten seconds.
  CHECK(x.patience(start + 11s) == limits::loop_patience);
  CHECK(x.patience(start + 17100ms) == limits::loop_wait);
  CHECK(x.patience(start + 24s) == 1s);
  CHECK(x.patience(start + 30s) == limits::loop_patience);
}
