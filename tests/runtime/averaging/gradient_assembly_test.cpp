#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/averaging/gradient_assembly.hpp"

using namespace potluck;
using verdict = gradient_assembly::verdict;

TEST_CASE("chunks in any order make the whole vector") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::uint64_t values = 1 + random() % 2000;
    auto chunk_values = static_cast<std::uint32_t>(1 + random() % 100);
    auto chunks = count_chunks(values, chunk_values);
    chunk_map map{values, chunk_values, {chunks}};
    std::vector<float> whole(values);
    std::iota(whole.begin(), whole.end(), 1.0f);
    std::vector<float> out(values, 0.0f);
    gradient_assembly assembly{map, out.data()};
    std::vector<std::uint32_t> order(chunks);
    std::iota(order.begin(), order.end(), 0u);
    CHECK(assembly.missing() == order);
    std::shuffle(order.begin(), order.end(), random);
    for (auto i : order) {
      CHECK_FALSE(assembly.complete());
      auto range = map.range(i);
      auto is = assembly.place(i, whole.data() + range.offset, range.count);
      CHECK(is == (i == order.back() ? verdict::complete : verdict::placed));
    }
    CHECK(assembly.complete());
    CHECK(assembly.missing().empty());
    CHECK(out == whole);
  }
}

TEST_CASE("a refused mean counts as missing, and leaves the others alone") {
  std::vector<float> out(5, 0.0f);
  gradient_assembly assembly{chunk_map{5, 3, {1, 1}}, out.data()};
  std::vector<float> x{1, 2, 3};
  std::vector<float> bad{1, std::numeric_limits<float>::quiet_NaN(), 3};
  CHECK(assembly.place(2, x.data(), 3) == verdict::wrong_chunk);
  CHECK(assembly.place(1, x.data(), 3) == verdict::wrong_length);
  CHECK(assembly.place(0, bad.data(), 3) == verdict::not_finite);
  CHECK(out[3] == 0);
  CHECK(out[4] == 0);
  CHECK(assembly.missing() == std::vector<std::uint32_t>{0, 1});
  CHECK(assembly.place(0, x.data(), 3) == verdict::placed);
  CHECK(assembly.place(0, x.data(), 3) == verdict::repeated);
  CHECK(assembly.missing() == std::vector<std::uint32_t>{1});
  CHECK(out == std::vector<float>{1, 2, 3, 0, 0});
  assembly.forget(0);
  assembly.forget(1);
  CHECK(assembly.missing() == std::vector<std::uint32_t>{0, 1});
  x[0] = 9;
  CHECK(assembly.place(0, x.data(), 3) == verdict::placed);
  CHECK(out == std::vector<float>{9, 2, 3, 0, 0});
}
