#include "runtime/vector_loops.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck;

namespace {

std::vector<float> random_values(random_stream& chance, std::size_t count) {
  std::vector<float> result(count);
  for (auto& x : result)
    x = static_cast<float>(chance.uniform01() * 2 - 1)
        * std::pow(10.0f, static_cast<float>(chance.below(60)) - 30);
  return result;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size()
         && (a.empty()
             || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

} // namespace

TEST_CASE("sums and products have the bits of one operation a value") {
  random_stream chance{1};
  for (std::size_t count : {0, 1, 7, 8, 31, 2048, 5000}) {
    auto a = random_values(chance, count);
    auto b = random_values(chance, count);
    auto wanted = a;
    for (std::size_t i = 0; i < count; ++i) {
      volatile float sum = a[i] + b[i]; // Rounded before the next operation.
      wanted[i] = sum * 0.3f;
    }
    add_to(a.data(), b.data(), count);
    scale(a.data(), count, 0.3f);
    CHECK(same_bits(a, wanted));
    for (std::size_t i = 0; i < count; ++i) {
      volatile float product = b[i] * 3.7f;
      wanted[i] = a[i] + product;
    }
    add_scaled(a.data(), b.data(), count, 3.7f);
    CHECK(same_bits(a, wanted));
  }
}

TEST_CASE("one value that is no number is found wherever it is") {
  for (auto bad : {std::numeric_limits<float>::quiet_NaN(),
                   std::numeric_limits<float>::infinity(),
                   -std::numeric_limits<float>::infinity()})
    for (std::size_t place : {0, 5, 2047, 2048, 4999}) {
      std::vector<float> x(5000, std::numeric_limits<float>::max());
      std::vector<float> out(x.size());
      REQUIRE(all_finite(x.data(), x.size()));
      REQUIRE(copy_finite(out.data(), x.data(), x.size()));
      CHECK(same_bits(out, x));
      x[place] = bad;
      CHECK_FALSE(all_finite(x.data(), x.size()));
      CHECK_FALSE(copy_finite(out.data(), x.data(), x.size()));
    }
}

TEST_CASE(
    "what is written past the caches is what was read, wherever it lies") {
  random_stream chance{2};
  for (std::size_t count : {0, 1, 3, 15, 16, 17, 47, 5000})
    for (std::size_t offset = 0; offset < 17; ++offset) {
      auto x = random_values(chance, count);
      std::vector<float> out(offset + count + 16, 7.0f);
      auto wanted = out;
      std::copy(x.begin(), x.end(),
                wanted.begin() + static_cast<std::ptrdiff_t>(offset));
      CHECK(copy_finite(out.data() + offset, x.data(), count,
                        writing::past_caches));
      CHECK(same_bits(out, wanted));
    }
  std::vector<float> x(3000, 1.0f), out(3000);
  x[2999] = std::numeric_limits<float>::infinity();
  CHECK_FALSE(
      copy_finite(out.data(), x.data(), x.size(), writing::past_caches));
}

TEST_CASE("one value beyond a bound is found wherever it is") {
  constexpr float most = 100;
  for (std::size_t place : {0, 5, 2047, 2048, 4999}) {
    std::vector<float> x(5000, -1.0f);
    auto within = [&](float value) {
      x[place] = value;
      return all_within(x.data(), x.size(), most);
    };
    for (float sign : {1.0f, -1.0f}) {
      CHECK(within(sign * most));
      CHECK_FALSE(within(sign * std::nextafter(most, 2 * most)));
      CHECK_FALSE(within(sign * std::numeric_limits<float>::infinity()));
      CHECK_FALSE(within(sign * std::numeric_limits<float>::quiet_NaN()));
    }
  }
}

TEST_CASE("sums are rounded after each operation, whatever the length") {
  std::mt19937_64 random{3};
  std::normal_distribution<float> noise;
  for (std::size_t count : {0, 1, 7, 8, 63, 64, 65, 1000}) {
    std::vector<float> a(count), b(count), sum(count);
    for (std::size_t i = 0; i < count; ++i) {
      a[i] = noise(random);
      b[i] = noise(random);
    }
    add(sum.data(), a.data(), b.data(), count);
    auto scaled = a;
    add(scaled.data(), scaled.data(), b.data(), count, 0.3f);
    for (std::size_t i = 0; i < count; ++i) {
      const volatile float both = a[i] + b[i];
      const volatile float product = both * 0.3f;
      CHECK(sum[i] == both);
      CHECK(scaled[i] == product);
    }
  }
}

TEST_CASE("the largest magnitude is found in any place, and a NaN is larger") {
  const auto bits = [](float x) {
    std::uint32_t result;
    std::memcpy(&result, &x, sizeof(result));
    return result;
  };
  CHECK(largest_magnitude(nullptr, 0) == 0);
  for (std::size_t count : {1, 63, 64, 65, 200})
    for (std::size_t place = 0; place < count; ++place) {
      std::vector<float> x(count, 0.25f);
      x[place] = -3;
      CHECK(largest_magnitude(x.data(), count) == bits(3));
      x[place] = -std::numeric_limits<float>::quiet_NaN();
      CHECK(largest_magnitude(x.data(), count)
            > bits(std::numeric_limits<float>::infinity()));
    }
}

TEST_CASE("what is scaled elsewhere is rounded once, and looked at") {
  std::mt19937_64 random{4};
  std::normal_distribution<float> noise;
  for (auto how : {writing::cached, writing::past_caches})
    for (std::size_t count : {0, 1, 17, 2048, 5003}) {
      std::vector<float> x(count), out(count + 1, 7.0f), begun(count + 1, 7.0f);
      for (auto& value : x)
        value = noise(random);
      REQUIRE(scale_within(out.data(), x.data(), count, 0.3f, 100, how));
      REQUIRE(begin_scaled(begun.data(), x.data(), count, 0.3f, how));
      std::vector<float> zeros(count, 0.0f);
      add_scaled(zeros.data(), x.data(), count, 0.3f);
      for (std::size_t i = 0; i < count; ++i) {
        const volatile float product = x[i] * 0.3f;
        CHECK(out[i] == product);
        CHECK(std::memcmp(&begun[i], &zeros[i], sizeof(float)) == 0);
      }
      CHECK(out[count] == 7);
      CHECK(begun[count] == 7);
      if (count == 0)
        continue;
      x[count / 2] = -101;
      CHECK_FALSE(scale_within(out.data(), x.data(), count, 0.3f, 100, how));
      CHECK(begin_scaled(out.data(), x.data(), count, 0.3f, how));
      x[count - 1] = std::numeric_limits<float>::quiet_NaN();
      CHECK_FALSE(begin_scaled(out.data(), x.data(), count, 0.3f, how));
    }
}

TEST_CASE("a sum that begins with a negative zero is zero") {
  const float x = -0.0f;
  float sum = 5;
  CHECK(begin_scaled(&sum, &x, 1, 3));
  CHECK_FALSE(std::signbit(sum));
}
