#include "runtime/membership/letter_allowance.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr letter_allowance::bounds tight{10, 30};

std::size_t spent(letter_allowance& x, time_point now, std::size_t letters) {
  std::size_t result = 0;
  for (; letters > 0; --letters)
    result += x.spend(now);
  return result;
}

} // namespace

TEST_CASE("a burst is as large as what was saved, then the rate counts") {
  time_point now{100s};
  letter_allowance x{tight, now};
  CHECK(spent(x, now, 100) == 30);
  CHECK(spent(x, now + 1s, 100) == 10);
  CHECK(spent(x, now + 1s, 100) == 0);
  CHECK(spent(x, now + 2500ms, 100) == 15);
  CHECK(spent(x, now + 1h, 100) == 30); // No more than the burst is saved.
}

TEST_CASE("a clock that stands or runs back gives nothing") {
  time_point now{100s};
  letter_allowance x{tight, now};
  CHECK(spent(x, now - 50s, 100) == 30);
  CHECK(spent(x, now, 100) == 0);
  CHECK(spent(x, now + 1s, 100) == 10);
}

TEST_CASE("an honest peer behind a line that stalls never exceeds its limit") {
  // Ten times what the busiest honest peers of simulations say, held up as long
  // as a session lasts in silence, and then all at once, again and again.
  constexpr std::size_t per_second = 100;
  time_point now{};
  letter_allowance x{letter_allowance::usual, now};
  for (auto stall : {1s, 20s, 5s, 60s, 20s, 20s}) {
    now += stall;
    auto letters = per_second * static_cast<std::size_t>(stall.count());
    CHECK(spent(x, now, letters) == letters);
  }
}

TEST_CASE("a flood exceeds the limit within seconds") {
  time_point now{};
  letter_allowance x{letter_allowance::usual, now};
  for (int i = 0; i < 10'000; ++i) {
    now += 1ms;
    if (spent(x, now, 10) < 10)
      return;
  }
  FAIL("ten thousand letters a second went on for ten seconds");
}
