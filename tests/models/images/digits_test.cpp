#include "models/images/digits.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace potluck;

namespace {

double distance(const std::uint8_t* a, const std::uint8_t* b, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return sum;
}

} // namespace

TEST_CASE("the same seed draws the same digits, another one others") {
  const auto one = draw_digits(50, 3);
  const auto two = draw_digits(50, 3);
  const auto other = draw_digits(50, 4);
  CHECK(one.pixels == two.pixels);
  CHECK(one.labels == two.labels);
  CHECK(one.labels == other.labels);
  CHECK(one.pixels != other.pixels);
}

TEST_CASE("digits of one kind differ, and every kind has ink and paper") {
  const auto images = draw_digits(200, 1);
  REQUIRE(images.size() == 200);
  for (std::size_t i = 0; i < images.size(); ++i) {
    CHECK(images.labels[i] == i % 10);
    const auto* image = images.image(i);
    const auto dark = std::count_if(image, image + images.values(),
                                    [](auto x) { return x > 128; });
    CHECK(dark > 20);
    CHECK(dark < 300);
    if (i >= 10)
      CHECK(distance(image, images.image(i - 10), images.values()) > 0);
  }
}

TEST_CASE("a digit's nearest neighbour is mostly a digit of its kind") {
  const auto known = draw_digits(2000, 1);
  const auto asked = draw_digits(200, 2);
  int right = 0;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::size_t best = 0;
    double nearest = 1e18;
    for (std::size_t k = 0; k < known.size(); ++k) {
      const auto d = distance(asked.image(i), known.image(k), known.values());
      if (d < nearest) {
        nearest = d;
        best = k;
      }
    }
    right += known.labels[best] == asked.labels[i];
  }
  // Chance would be 20; but they are not so neat that a table knows them all.
  CHECK(right > 140);
  CHECK(right < 200);
}
