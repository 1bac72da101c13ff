#include "runtime/ways/moshpit/moshpit_vector.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace potluck;

TEST_CASE("the sum of weighed parameters over all samples is their mean") {
  const std::vector<float> here{1, -2, 4}, there{3, 2, 0};
  std::vector<float> a(3), b(3);
  weigh_parameters(a.data(), here.data(), 3, 1);
  weigh_parameters(b.data(), there.data(), 3, 3);
  for (std::size_t i = 0; i < 3; ++i)
    a[i] = (a[i] + b[i]) / 4;
  CHECK(a == std::vector<float>{2.5f, 1, 1});
  CHECK(moshpit_values(3) == 6);
}

TEST_CASE("all report one state at one step of one run, and no other") {
  digest run, other;
  other.bytes[0] = 1;
  CHECK(nominal_state(run, 5) == nominal_state(run, 5));
  CHECK(nominal_state(run, 5) != nominal_state(run, 6));
  CHECK(nominal_state(run, 5) != nominal_state(other, 5));
  CHECK(nominal_state(run, 5) != nominal_state(run, 5 + (1ull << 32)));
  CHECK_FALSE(nominal_state(run, 0).empty());
}
