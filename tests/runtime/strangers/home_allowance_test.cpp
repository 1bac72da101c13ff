#include "runtime/strangers/home_allowance.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

std::size_t spent(home_allowance& x, const std::string& host, std::size_t times,
                  time_point now) {
  std::size_t result = 0;
  for (; times > 0; --times)
    result += x.spend(host, 1, now);
  return result;
}

} // namespace

TEST_CASE("a home has its own, all have theirs, and who is rare has a little") {
  home_allowance x{{2, 10, 5, 20, 1, 4}};
  time_point now{1s};
  CHECK(spent(x, "192.0.2.1", 100, now) == 10);    // 4 of its prefix, 6 of all,
  CHECK(spent(x, "198.51.100.1", 100, now) == 10); // likewise,
  CHECK(spent(x, "203.0.113.1", 100, now) == 10);
  CHECK(spent(x, "203.0.114.1", 100, now) == 6); // 4, and the last 2 of all,
  CHECK(spent(x, "203.0.115.1", 100, now) == 4); // and what no crowd takes.
  CHECK(spent(x, "203.0.115.2", 100, now) == 0); // The same prefix.
  now += 2s;
  CHECK(spent(x, "203.0.115.2", 100, now) == 10);
  CHECK(spent(x, "192.0.2.1", 100, now) == 4);
}

TEST_CASE("whoever had more than it asked for waits, and no longer than a "
          "second") {
  home_allowance x{{10, 20, 100, 200, 1, 4}};
  time_point now{1s};
  x.charge("192.0.2.1", 5, now);
  CHECK(spent(x, "192.0.2.1", 100, now) == 15);
  CHECK(spent(x, "192.0.2.2", 5, now) == 5); // Another home.
  x.charge("192.0.2.1", 1000, now);
  x.charge("192.0.2.1", 1000, now);
  now += 999ms;
  CHECK(spent(x, "192.0.2.1", 1, now) == 0);
  now += 102ms;
  CHECK(spent(x, "192.0.2.1", 1, now) == 1);
}

TEST_CASE(
    "a home that owes takes no more from all than what it could ask for") {
  home_allowance x{{10, 20, 1, 100, 1, 4}};
  const time_point now{1s};
  CHECK(spent(x, "192.0.2.1", 100, now) == 20); // 4 of its prefix, 16 of all.
  for (int i = 0; i < 100; ++i)
    x.charge("192.0.2.1", 4, now);
  // A second's worth that it owes is gone, too.
  std::size_t left = 0;
  for (int i = 1; i < 10; ++i)
    left += spent(x, "198.51.100." + std::to_string(i), 100, now);
  CHECK(left == 100 - 16 - 10 + 4);
}

TEST_CASE("homes that had more than all have keep no other prefix out") {
  home_allowance x{{10, 20, 100, 200, 1, 4}};
  const time_point now{1s};
  for (int i = 0; i < 1000; ++i)
    x.charge("192.0.2." + std::to_string(i % 200), 4, now);
  CHECK(spent(x, "192.0.3.1", 100, now) == 4);
}

TEST_CASE("homes without number take no more memory than the first few") {
  home_allowance x{{2, 10, 5, 20, 1, 4}};
  for (std::size_t i = 0; i < 2 * home_allowance::most; ++i)
    x.spend("10." + std::to_string(i % 256) + "." + std::to_string(i / 256)
                + ".1",
            1, time_point{std::chrono::milliseconds{i}});
  // Who was there last is remembered.
  const time_point now{std::chrono::milliseconds{2 * home_allowance::most}};
  const auto last = 2 * home_allowance::most - 1;
  const auto host = "10." + std::to_string(last % 256) + "."
                    + std::to_string(last / 256) + ".1";
  CHECK(spent(x, host, 100, now) < 10);
}
