#include <doctest/doctest.h>

#include "runtime/lines/token_bucket.hpp"
#include "runtime/membership/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

std::size_t spent(token_bucket& x, time_point now, std::size_t letters) {
  std::size_t result = 0;
  for (; letters > 0; --letters)
    result += x.take(now);
  return result;
}

} // namespace

TEST_CASE("a burst is as large as what was saved, then the rate counts") {
  time_point now{100s};
  token_bucket x{10, 30};
  CHECK(spent(x, now, 100) == 30);
  CHECK(spent(x, now + 1s, 100) == 10);
  CHECK(spent(x, now + 1s, 100) == 0);
  CHECK(spent(x, now + 2500ms, 100) == 15);
  CHECK(spent(x, now + 1h, 100) == 30); // No more than the burst is saved.
}

TEST_CASE("a clock that stands or runs back gives nothing") {
  time_point now{100s};
  token_bucket x{10, 30};
  CHECK(x.available(now) == 30);
  CHECK(spent(x, now - 50s, 100) == 30);
  CHECK(spent(x, now, 100) == 0);
  CHECK(spent(x, now + 1s, 100) == 10);
}

TEST_CASE("an honest peer behind a line that stalls never exceeds its limit") {
  // Ten times what the busiest honest peers of simulations say, held up as long
  // as a session lasts in silence, and then all at once, again and again.
  constexpr std::size_t per_second = 100;
  time_point now{};
  token_bucket x{limits::letters_per_second, limits::letters_at_once};
  for (auto stall : {1s, 20s, 5s, 60s, 20s, 20s}) {
    now += stall;
    auto letters = per_second * static_cast<std::size_t>(stall.count());
    CHECK(spent(x, now, letters) == letters);
  }
}

TEST_CASE("a flood exceeds the limit within seconds") {
  time_point now{};
  token_bucket x{limits::letters_per_second, limits::letters_at_once};
  for (int i = 0; i < 10'000; ++i) {
    now += 1ms;
    if (spent(x, now, 10) < 10)
      return;
  }
  FAIL("ten thousand letters a second went on for ten seconds");
}
