#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "runtime/averaging/round/mean_places.hpp"

using namespace potluck;
using verdict = mean_places::verdict;

namespace {

constexpr auto not_a_number = std::numeric_limits<float>::quiet_NaN();

shared_bytes bytes_of(const float* values, std::size_t count) {
  return {nullptr, reinterpret_cast<const std::uint8_t*>(values),
          count * sizeof(float)};
}

chunk_mean planned(std::uint32_t chunk) {
  chunk_mean result;
  result.chunk = chunk;
  return result;
}

} // namespace

TEST_CASE("chunks in any order make the whole vector") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    std::uint64_t values = 1 + random() % 2000;
    auto chunk_values = static_cast<std::uint32_t>(1 + random() % 100);
    auto chunks = count_chunks(values, chunk_values);
    std::vector<float> whole(values);
    std::iota(whole.begin(), whole.end(), 1.0f);
    chunk_map map{values, chunk_values, {chunks, 0}};
    mean_places places{map, std::make_shared<std::vector<float>>(values, 0.0f)};
    places.open(1, 0);
    std::vector<std::uint32_t> order(chunks);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    for (auto i : order) {
      CHECK_FALSE(places.none_open());
      auto range = map.range(i);
      auto body = bytes_of(whole.data() + range.offset, range.count);
      // However it comes.
      auto is = i % 2 == 0 ? places.take(0, planned(i), body)
                           : places.place(i, packing::float32, body);
      CHECK(is == verdict::placed);
      CHECK(places.take(0, planned(i), body) == verdict::not_open);
    }
    CHECK(places.none_open());
    CHECK(*places.whole() == whole);
  }
}

TEST_CASE("a refused mean leaves the others alone, and one may follow") {
  mean_places places{chunk_map{5, 3, {1, 1}},
                     std::make_shared<std::vector<float>>(5, 0.0f)};
  auto out = places.whole();
  std::vector<float> x{1, 2, 3};
  std::vector<float> bad{1, not_a_number, 3};
  auto place = [&](std::uint32_t chunk, const std::vector<float>& values,
                   std::size_t count) {
    return places.place(chunk, packing::float32,
                        bytes_of(values.data(), count));
  };
  CHECK(place(2, x, 3) == verdict::not_open); // There is no such chunk.
  CHECK(place(1, x, 3) == verdict::wrong_length);
  CHECK(place(0, bad, 3) == verdict::not_finite);
  CHECK((*out)[3] == 0);
  CHECK((*out)[4] == 0);
  CHECK(place(0, x, 3) == verdict::placed);
  CHECK(*out == std::vector<float>{1, 2, 3, 0, 0});
  x[0] = 9; // Another mean counts now.
  CHECK(place(0, x, 3) == verdict::placed);
  CHECK(*out == std::vector<float>{9, 2, 3, 0, 0});
}

TEST_CASE("a place is open for the planned mean of another, and only once") {
  mean_places places{chunk_map{6, 2, {1, 1, 1}},
                     std::make_shared<std::vector<float>>(6, 0.0f)};
  std::vector<float> x{8, 9, 9};
  const auto body = bytes_of(x.data(), 2);
  CHECK(places.take(1, planned(1), body) == verdict::not_open); // Not yet.
  places.open(0, 1);
  CHECK(places.take(0, planned(0), body) == verdict::not_open); // Our own.
  CHECK(places.take(2, planned(1), body) == verdict::not_open); // Not its.
  auto healed = planned(1);
  healed.version = 2;
  CHECK(places.take(1, healed, body) == verdict::not_open);
  CHECK(places.take(1, planned(1), bytes_of(x.data(), 3))
        == verdict::wrong_length);
  CHECK(*places.whole() == std::vector<float>(6, 0.0f));
  CHECK(places.take(1, planned(1), body) == verdict::placed);
  CHECK(places.take(1, planned(1), body) == verdict::not_open);
  std::vector<float> bad{8, not_a_number};
  CHECK(places.take(2, planned(2), bytes_of(bad.data(), 2))
        == verdict::not_finite);
  CHECK(places.none_open()); // Its one chance is gone.
}

TEST_CASE("places are opened only for what is worth it") {
  mean_places places{chunk_map{5, 4, {2, 0}},
                     std::make_shared<std::vector<float>>(5, 0.0f)};
  places.open(1, 8);
  std::vector<float> x(4, 1.0f);
  CHECK(places.take(0, planned(1), bytes_of(x.data(), 1)) == verdict::not_open);
  CHECK(places.take(0, planned(0), bytes_of(x.data(), 4)) == verdict::placed);
}

TEST_CASE("one digest stands for all values, however they came") {
  std::vector<float> whole{1, 2, 3, 4, 5};
  auto digest_after = [&](bool taken) {
    mean_places places{chunk_map{5, 3, {2, 0}},
                       std::make_shared<std::vector<float>>(whole)};
    places.open(1, 0);
    if (taken) {
      places.take(0, planned(0), bytes_of(whole.data(), 3));
      CHECK(places.bytes(0).sum == digest_of(whole.data(), 12));
    } else {
      CHECK(places.bytes(0).sum.empty());
    }
    return places.whole_digest();
  };
  const auto one = digest_after(true);
  CHECK(one == digest_after(false));
  whole[4] = 6;
  CHECK(one != digest_after(false));
}
