#include "runtime/packing/packing.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <doctest/doctest.h>

#include "messages/ids.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

/// Those that send every value; the others have tests of their own.
const std::vector<packing> all{packing::float32, packing::float16,
                               packing::bfloat16, packing::int8};

std::vector<std::uint8_t> packed(packing how, const std::vector<float>& x) {
  std::vector<std::uint8_t> result(packed_bytes(how, x.size()));
  pack(how, x.data(), x.size(), result.data());
  return result;
}

std::vector<float> there_and_back(packing how, const std::vector<float>& x) {
  auto bytes = packed(how, x);
  std::vector<float> result(x.size(), 42.0f);
  REQUIRE(
      unpack(how, bytes.data(), bytes.size(), result.data(), result.size()));
  return result;
}

/// Of all magnitudes, a block being of few.
std::vector<float> gradient(random_stream& chance, std::size_t count) {
  std::vector<float> result(count);
  int exponent = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % packing_block == 0)
      exponent = static_cast<int>(chance.below(220)) - 110;
    const auto down = static_cast<int>(chance.below(20));
    result[i] = std::ldexp(static_cast<float>(chance.uniform01() * 2 - 1),
                           exponent - down);
    if (chance.below(50) == 0)
      result[i] = 0;
  }
  return result;
}

double largest_of_block(const std::vector<float>& x, std::size_t i) {
  double most = 0;
  auto first = i / packing_block * packing_block;
  for (auto k = first; k < std::min(first + packing_block, x.size()); ++k)
    most = std::max(most, std::abs(static_cast<double>(x[k])));
  return most;
}

} // namespace

TEST_CASE("no value is off by more than its packing may") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    random_stream chance{seed};
    auto x = gradient(chance, 1 + chance.below(5000));
    for (auto how : {packing::float32, packing::float16, packing::bfloat16,
                     packing::int8}) {
      auto y = there_and_back(how, x);
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        double value = x[i];
        auto largest = largest_of_block(x, i);
        auto bound = packing_error(how, std::abs(value), largest);
        auto off = std::abs(static_cast<double>(y[i]) - value);
        if (bound == 0)
          worst = std::max(worst, off == 0 ? 0.0 : 2.0);
        else
          worst = std::max(worst, off / bound);
      }
      INFO("seed " << seed << ", " << to_string(how));
      CHECK(worst <= 1);
    }
  }
}

TEST_CASE("what was packed once packs to the same bytes again") {
  random_stream chance{7};
  auto x = gradient(chance, 3000);
  for (auto how : {packing::float32, packing::float16, packing::bfloat16}) {
    auto y = there_and_back(how, x);
    CHECK(there_and_back(how, y) == y);
  }
}

TEST_CASE("the bytes are those of every other machine") {
  random_stream chance{3};
  auto x = gradient(chance, 4321);
  std::vector<std::string> digests;
  for (auto how : all) {
    auto bytes = packed(how, x);
    digests.push_back(to_string(digest_of(bytes.data(), bytes.size())));
  }
  CHECK(digests
        == std::vector<std::string>{"e8d1389e29065b212b6538464f960584",
                                    "6599d9351e6122ab7ea9e5828d03670f",
                                    "ee67f0759f261d6bc8ebb39d855aa08d",
                                    "557838ca67c2aeac885bb8dc46c4f84c"});
}

TEST_CASE("every half is itself again") {
  // With one value that fixes the block's scale at 1.
  for (std::uint32_t half = 0; half < 0x7c00; ++half)
    for (std::uint32_t sign : {0u, 0x8000u}) {
      std::vector<std::uint8_t> bytes(packed_bytes(packing::float16, 2));
      float one = 1;
      auto a = static_cast<std::uint16_t>(half | sign);
      std::uint16_t b = 0x7400; // 2^14
      std::memcpy(bytes.data(), &one, 4);
      std::memcpy(bytes.data() + 4, &a, 2);
      std::memcpy(bytes.data() + 6, &b, 2);
      std::vector<float> x(2);
      REQUIRE(unpack(packing::float16, bytes.data(), bytes.size(), x.data(),
                     x.size()));
      auto wanted = half < 0x400
                        ? std::ldexp(static_cast<float>(half), -24)
                        : std::ldexp(static_cast<float>((half & 0x3ff) | 0x400),
                                     static_cast<int>(half >> 10) - 25);
      REQUIRE(std::abs(x[0]) == wanted);
      REQUIRE(std::signbit(x[0]) == (sign != 0));
      if (half <= 0x77ff)
        REQUIRE(packed(packing::float16, x) == bytes);
    }
}

TEST_CASE("extremes survive") {
  constexpr auto most = std::numeric_limits<float>::max();
  constexpr auto least = std::numeric_limits<float>::denorm_min();
  for (auto how : all) {
    INFO(to_string(how));
    auto x = there_and_back(how, {most, -most, 0.0f, least, -least});
    CHECK(x[0] > 0.99f * most);
    CHECK(x[1] == -x[0]);
    CHECK(x[2] == 0);
    CHECK(std::abs(x[3]) <= 1e-30f);
    CHECK(there_and_back(how, {}).empty());
    CHECK(there_and_back(how, {0.0f, -0.0f})
          == std::vector<float>{0.0f, -0.0f});
  }
}

TEST_CASE("who packs and rounds holds what others unpack") {
  for (auto how :
       {packing::float32, packing::float16, packing::bfloat16, packing::int8}) {
    CAPTURE(to_string(how));
    std::vector<float> values;
    for (int i = 0; i < 1500; ++i)
      values.push_back(0.37f * static_cast<float>(i) - 200.0f);
    auto body
        = pack_and_round(how, values.data(), values.size(), values.data());
    std::vector<float> theirs(values.size());
    REQUIRE(unpack(how, body.data, body.size, theirs.data(), theirs.size()));
    CHECK(values == theirs);
  }
}

TEST_CASE("what no packing made is refused") {
  std::vector<float> x(2000, 1.0f);
  std::vector<float> out(x.size());
  for (auto how : all) {
    INFO(to_string(how));
    auto bytes = packed(how, x);
    CHECK_FALSE(unpack(how, bytes.data(), bytes.size() - 1, out.data(), 2000));
    CHECK_FALSE(unpack(how, bytes.data(), bytes.size(), out.data(), 1999));
    // A NaN, wherever floats lie, and an infinity.
    for (std::uint8_t top : {0x7f, 0xff}) {
      auto bad = bytes;
      std::memset(bad.data(), 0xff, 4);
      bad[3] = top;
      if (how == packing::float16) {
        CHECK_FALSE(unpack(how, bad.data(), bad.size(), out.data(), 2000));
        bad = bytes;
        bad[8 + 1] = top; // The first half.
        bad[8] = 0xff;
      }
      CHECK_FALSE(unpack(how, bad.data(), bad.size(), out.data(), 2000));
    }
  }
  // Scales that overflow, are negative, or are too small to be one.
  for (float scale : {3e38f, -1.0f, 1e-40f})
    for (auto how : {packing::float16, packing::int8}) {
      auto bytes = packed(how, x);
      std::memcpy(bytes.data(), &scale, 4);
      CHECK_FALSE(unpack(how, bytes.data(), bytes.size(), out.data(), 2000));
    }
}

TEST_CASE("random bytes never give what is no number") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    random_stream chance{seed};
    auto count = 1 + chance.below(1500);
    for (auto how : all) {
      std::vector<std::uint8_t> bytes(packed_bytes(how, count));
      chance.fill(bytes.data(), bytes.size());
      std::vector<float> out(count);
      if (!unpack(how, bytes.data(), bytes.size(), out.data(), count))
        continue;
      INFO("seed " << seed << ", " << to_string(how));
      for (auto value : out)
        REQUIRE(std::isfinite(value));
    }
  }
}

TEST_CASE("in place are the values, and the digest, that unpacking gives") {
  random_stream chance{8};
  for (auto how :
       {packing::float32, packing::float16, packing::bfloat16, packing::int8})
    for (auto way : {writing::cached, writing::past_caches})
      for (std::size_t count : {1, 1023, 1024, 5000}) {
        CAPTURE(to_string(how));
        CAPTURE(count);
        auto bytes = packed(how, gradient(chance, count));
        std::vector<float> plain(count), placed(count + 5, 3.0f);
        REQUIRE(unpack(how, bytes.data(), bytes.size(), plain.data(), count));
        auto sum = unpack_in_place(how, {nullptr, bytes.data(), bytes.size()},
                                   placed.data() + 2, count, way);
        REQUIRE(sum);
        CHECK(*sum == digest_of(plain.data(), count * sizeof(float)));
        CHECK(
            std::memcmp(placed.data() + 2, plain.data(), count * sizeof(float))
            == 0);
        CHECK(placed[1] == 3.0f);
        CHECK(placed[count + 2] == 3.0f);
        CHECK_FALSE(unpack_in_place(how,
                                    {nullptr, bytes.data(), bytes.size() - 1},
                                    placed.data(), count, way));
        // A scale, or a value, that is no number.
        std::memset(bytes.data(), 0xff, how == packing::bfloat16 ? 2 : 4);
        CHECK_FALSE(unpack_in_place(how, {nullptr, bytes.data(), bytes.size()},
                                    placed.data(), count, way));
      }
}

TEST_CASE("packings have names") {
  for (auto how : all)
    CHECK(packing_named(to_string(how)) == how);
  CHECK_FALSE(packing_named("float8"));
}
