#include "models/loss_scale.hpp"

#include <doctest/doctest.h>

using namespace potluck;

TEST_CASE("a loss is scaled by half as much after an overflow") {
  loss_scale x;
  const auto before = x.value();
  CHECK(before > 1);
  CHECK(x.overflowed());
  CHECK(x.value() == before / 2);
}

TEST_CASE("a loss is scaled by more after many micro-batches that fitted") {
  loss_scale x;
  const auto before = x.value();
  for (std::uint32_t i = 1; i < loss_scale::patience; ++i)
    x.fitted();
  CHECK(x.value() == before);
  x.fitted();
  CHECK(x.value() == 2 * before);
}

TEST_CASE("an overflow begins the count of those that fitted anew") {
  loss_scale x;
  for (std::uint32_t i = 1; i < loss_scale::patience; ++i)
    x.fitted();
  x.overflowed();
  const auto halved = x.value();
  x.fitted();
  CHECK(x.value() == halved);
}

TEST_CASE("gradients that overflow at any scale are given up") {
  loss_scale x;
  int tries = 1;
  while (x.overflowed())
    ++tries;
  CHECK(tries > 10);
  CHECK(tries < 40);
  CHECK(x.value() < 1);
}

TEST_CASE("a loss is never scaled beyond what float32 holds") {
  loss_scale x;
  for (std::uint32_t i = 0; i < 40 * loss_scale::patience; ++i)
    x.fitted();
  CHECK(x.value() < 1e8);
}
