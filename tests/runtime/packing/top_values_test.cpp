#include "runtime/packing/top_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "messages/ids.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

using floats = std::vector<float>;
using bytes_of_values = std::vector<std::uint8_t>;

bytes_of_values packed(const floats& x) {
  bytes_of_values result(packed_bytes(packing::topk, x.size()));
  pack(packing::topk, x.data(), x.size(), result.data());
  return result;
}

bool unpacks(const bytes_of_values& bytes, std::size_t count) {
  floats out(count);
  return unpack(packing::topk, bytes.data(), bytes.size(), out.data(), count);
}

floats there_and_back(const floats& x) {
  auto bytes = packed(x);
  floats result(x.size(), 42.0f);
  REQUIRE(unpack(packing::topk, bytes.data(), bytes.size(), result.data(),
                 result.size()));
  return result;
}

floats noise(random_stream& chance, std::size_t count) {
  floats result(count);
  for (auto& x : result)
    x = static_cast<float>(chance.uniform01() * 2 - 1);
  return result;
}

} // namespace

TEST_CASE("the length follows from the number of values") {
  CHECK(packed_bytes(packing::topk, 0) == 0);
  CHECK(packed_bytes(packing::topk, 1) == 4 + 3);
  CHECK(packed_bytes(packing::topk, 32) == 4 + 3);
  CHECK(packed_bytes(packing::topk, 33) == 4 + 2 * 3);
  CHECK(packed_bytes(packing::topk, 1024) == 4 + 32 * 3);
  CHECK(packed_bytes(packing::topk, 1025) == 4 + 32 * 3 + 4 + 3);
  CHECK(packed_bytes(packing::topk, 65536) == 64 * (4 + 32 * 3));
}

TEST_CASE("the largest of each block are kept, the others are zero") {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    random_stream chance{seed};
    auto x = noise(chance, 1 + chance.below(4000));
    auto y = there_and_back(x);
    for (std::size_t first = 0; first < x.size(); first += packing_block) {
      auto size = std::min(packing_block, x.size() - first);
      float largest = 0;
      float smallest_kept = std::numeric_limits<float>::max();
      float largest_gone = 0;
      std::size_t kept = 0;
      for (auto i = first; i < first + size; ++i) {
        auto magnitude = std::abs(x[i]);
        largest = std::max(largest, magnitude);
        kept += y[i] != 0;
        if (y[i] != 0)
          smallest_kept = std::min(smallest_kept, magnitude);
        else
          largest_gone = std::max(largest_gone, magnitude);
      }
      for (auto i = first; i < first + size; ++i)
        if (y[i] != 0)
          REQUIRE(std::abs(y[i] - x[i]) <= largest / 254 * 1.0001f);
      INFO("seed " << seed);
      CHECK(kept == kept_values(size));
      CHECK(smallest_kept >= largest_gone);
    }
  }
}

TEST_CASE("of values that are equally large the first are kept") {
  floats x(1024, -1.0f);
  x[700] = 2;
  auto y = there_and_back(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK((y[i] != 0) == (i < 31 || i == 700));
  // Blocks with fewer values than they may keep.
  CHECK(there_and_back(floats(2000, 0.0f)) == floats(2000, 0.0f));
  CHECK(there_and_back({}).empty());
}

TEST_CASE("extremes survive the choice") {
  constexpr auto most = std::numeric_limits<float>::max();
  constexpr auto least = std::numeric_limits<float>::denorm_min();
  floats x(64, least);
  x[3] = -most;
  x[40] = most;
  auto y = there_and_back(x);
  CHECK(y[3] < -0.99f * most);
  CHECK(y[40] > 0.99f * most);
  CHECK(there_and_back({least})[0] == 0);
}

TEST_CASE("the chosen values' bytes are those of every other machine") {
  random_stream chance{3};
  auto bytes = packed(noise(chance, 4321));
  CHECK(to_string(digest_of(bytes.data(), bytes.size()))
        == "ff72683f93dcc66ed027590a1bffbc24");
}

TEST_CASE("places that are not ascending, repeated or outside are refused") {
  random_stream chance{5};
  auto good = packed(noise(chance, 1500));
  REQUIRE(unpacks(good, 1500));
  auto with = [&](std::size_t at, std::uint16_t place) {
    auto bad = good;
    std::memcpy(bad.data() + at, &place, sizeof(place));
    return unpacks(bad, 1500);
  };
  std::uint16_t second = 0;
  std::memcpy(&second, good.data() + 2, sizeof(second));
  CHECK_FALSE(with(0, second));
  CHECK_FALSE(with(0, 1023));
  CHECK_FALSE(with(2 * 31, 1024));
  CHECK_FALSE(with(2 * 31, 0xffff));
  // The last block is shorter: 476 values, of which 15 are kept.
  auto last = packed_bytes(packing::topk, packing_block) + 2 * 14;
  CHECK_FALSE(with(last, 476));
  CHECK(with(last, 475));
}

TEST_CASE("lengths and scales that no choice of values has are refused") {
  auto good = packed(floats(2000, 1.0f));
  CHECK_FALSE(unpacks({good.begin(), good.end() - 1}, 2000));
  CHECK_FALSE(unpacks(good, 2000 + 32));
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto endless = std::numeric_limits<float>::infinity();
  for (float scale : {3e38f, -1.0f, 1e-40f, nan, endless}) {
    auto bad = good;
    std::memcpy(bad.data() + 2 * 32, &scale, sizeof(scale));
    CHECK_FALSE(unpacks(bad, 2000));
  }
}
