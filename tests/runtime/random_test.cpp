#include "runtime/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "messages/ids.hpp"

using namespace potluck;

using words = std::array<std::uint64_t, 4>;

TEST_CASE("random numbers follow the published sequence of xoshiro256**") {
  // From the state {1, 2, 3, 4}: s1 * 5 rotated by 7, times 9, by hand for the
  // first two; the others are those of the authors' reference program.
  random_stream stream{words{1, 2, 3, 4}};
  CHECK(stream.next() == 11520u);
  CHECK(stream.next() == 0u);
  CHECK(stream.next() == 1509978240u);
  CHECK(stream.next() == 1215971899390074240u);
}

TEST_CASE("a random stream is refused the one state that it cannot leave") {
  CHECK_THROWS_AS(random_stream{words{}}, std::invalid_argument);
  random_stream zero{0};
  CHECK(zero.next() != zero.next());
}

TEST_CASE("one seed gives one sequence and other seeds give others") {
  random_stream a{7};
  random_stream b{7};
  random_stream c{8};
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    auto x = a.next();
    CHECK(x == b.next());
    differs = differs || x != c.next();
  }
  CHECK(differs);
}

TEST_CASE("below stays below, reaches every number and favours none") {
  random_stream stream{3};
  for (std::uint64_t n : {1u, 2u, 3u, 10u, 100u}) {
    CAPTURE(n);
    std::vector<int> seen(n, 0);
    const int draws = 2000 * static_cast<int>(n);
    for (int i = 0; i < draws; ++i) {
      auto x = stream.below(n);
      REQUIRE(x < n);
      ++seen[x];
    }
    // 2000 expected, a standard deviation below 45: six of them either way.
    for (auto count : seen)
      CHECK(std::abs(count - 2000) < 270);
  }
  CHECK_THROWS_AS(stream.below(0), std::invalid_argument);
}

TEST_CASE("below is unbiased where the range is close to that of the words") {
  // Taking a remainder would draw the lower third twice as often as the rest.
  random_stream stream{5};
  const std::uint64_t n = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
  int lower = 0;
  for (int i = 0; i < 3000; ++i)
    lower += stream.below(n) < n / 3 ? 1 : 0;
  CHECK(std::abs(lower - 1000) < 160);
}

TEST_CASE("uniform01 fills [0, 1) and stays in it") {
  random_stream stream{11};
  double sum = 0;
  double least = 1;
  double most = 0;
  for (int i = 0; i < 10000; ++i) {
    double x = stream.uniform01();
    REQUIRE(x >= 0);
    REQUIRE(x < 1);
    sum += x;
    least = std::min(least, x);
    most = std::max(most, x);
  }
  CHECK(sum / 10000 == doctest::Approx(0.5).epsilon(0.04));
  CHECK(least < 0.01);
  CHECK(most > 0.99);
}

TEST_CASE("fill writes exactly the bytes asked for, lowest byte first") {
  random_stream stream{13};
  random_stream same{13};
  std::vector<std::uint8_t> bytes(12, 0xee);
  stream.fill(bytes.data(), 11);
  auto word = same.next();
  for (int i = 0; i < 8; ++i)
    CHECK(bytes[i] == static_cast<std::uint8_t>(word >> (8 * i)));
  word = same.next();
  for (int i = 0; i < 3; ++i)
    CHECK(bytes[8 + i] == static_cast<std::uint8_t>(word >> (8 * i)));
  CHECK(bytes[11] == 0xee);
}

TEST_CASE("drawn identifiers do not repeat") {
  random_stream stream{17};
  std::set<peer_id> drawn;
  for (int i = 0; i < 1000; ++i)
    drawn.insert(stream.draw<peer_id>());
  CHECK(drawn.size() == 1000);
}

TEST_CASE("shuffle keeps the items and can bring each to each place") {
  random_stream stream{19};
  std::set<std::vector<int>> orders;
  for (int i = 0; i < 500; ++i) {
    std::vector<int> items{1, 2, 3, 4};
    stream.shuffle(items);
    orders.insert(items);
    std::sort(items.begin(), items.end());
    REQUIRE(items == std::vector<int>{1, 2, 3, 4});
  }
  CHECK(orders.size() == 24);
}

TEST_CASE("mixing depends on both numbers and on their order") {
  std::set<std::uint64_t> results;
  for (std::uint64_t a = 0; a < 50; ++a)
    for (std::uint64_t b = 0; b < 50; ++b)
      results.insert(mix(a, b));
  CHECK(results.size() == 2500);
  CHECK(mix(1, 2) != mix(2, 1));
  CHECK(mix(1, 2) == mix(1, 2));
}
