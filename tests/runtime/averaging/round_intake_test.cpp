#include "runtime/averaging/round_intake.hpp"

#include <atomic>
#include <limits>
#include <thread>

#include <doctest/doctest.h>

#include "runtime/packing/packing.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point now{5s};

peer_id peer(std::uint8_t number) {
  peer_id result;
  result.bytes[0] = number;
  return result;
}

shared_bytes bytes_of(std::vector<float> values) {
  auto owner = std::make_shared<std::vector<float>>(std::move(values));
  return {owner, reinterpret_cast<const std::uint8_t*>(owner->data()),
          owner->size() * sizeof(float)};
}

/// Peers 1 and 2 with 1 and 3 samples; chunk 4, of two values, is averaged
/// here, and the mean of chunk 5 comes from peer 2.
struct one_round {
  one_round() {
    group.bytes[0] = 9;
    sum = std::make_shared<shared_average>(2, std::vector<std::uint64_t>{1, 3},
                                           averaging_rule{});
    intake.begin(group, {peer(1), peer(2)},
                 [this](round_intake::arrival) { ++all_here; });
    intake.expect_parts(4, sum, [this] { ++complete; });
    intake.expect_mean(5, 1, whole, 2, 2);
  }

  bool part(std::uint8_t from, std::vector<float> values,
            std::uint64_t samples) {
    message content = chunk_part{group, 4, samples, packing::float32};
    return intake.take(peer(from), content, bytes_of(std::move(values)), now);
  }
  bool mean(std::uint8_t from, std::vector<float> values,
            std::uint32_t version = 1) {
    chunk_mean x;
    x.group = group;
    x.chunk = 5;
    x.version = version;
    message content = x;
    return intake.take(peer(from), content, bytes_of(std::move(values)), now);
  }

  round_intake intake{1};
  group_id group;
  std::shared_ptr<shared_average> sum;
  std::shared_ptr<std::vector<float>> whole
      = std::make_shared<std::vector<float>>(4, 0.0f);
  int complete = 0;
  int all_here = 0;
};

constexpr auto nan = std::numeric_limits<float>::quiet_NaN();

} // namespace

TEST_CASE("parts go into their sum as they come, and the last one is told of") {
  one_round x;
  CHECK(x.part(1, {1, 7}, 1));
  CHECK(x.complete == 0);
  CHECK(x.part(2, {3, -3}, 3));
  CHECK(x.complete == 1);
  CHECK(x.sum->average.mean() == std::vector<float>{1, 1});
  auto second = bytes_of({3, -3});
  CHECK(x.sum->parts[1] == digest_of(second.data, second.size));
  auto news = x.intake.arrivals();
  REQUIRE(news.size() == 2);
  CHECK(news[1].from == peer(2));
  CHECK(std::get<chunk_part>(news[1].content).samples == 3);
  CHECK(news[1].body.data == nullptr);
  CHECK(news[1].body.size == 8);
  CHECK(news[1].when == now);
  CHECK(x.intake.arrivals().empty());
}

TEST_CASE("packed parts and means are unpacked on their way") {
  one_round x;
  auto pack_int8 = [](std::vector<float> values) {
    return packed_body(packing::int8, nullptr, values.data(), values.size());
  };
  message part = chunk_part{x.group, 4, 1, packing::int8};
  CHECK(x.intake.take(peer(1), part, pack_int8({127, -3}), now));
  CHECK(x.part(2, {1, 3}, 3));
  CHECK(x.sum->average.mean() == std::vector<float>{32, 0});

  auto body = pack_int8({-127, 5});
  chunk_mean mean;
  mean.group = x.group;
  mean.chunk = 5;
  mean.version = 1;
  mean.packing = packing::int8;
  message content = mean;
  CHECK(x.intake.take(peer(2), content, body, now));
  CHECK(*x.whole == std::vector<float>{0, 0, -127, 5});
  auto news = x.intake.arrivals();
  REQUIRE(news.size() == 2); // The mean was the last: it was told at once.
  CHECK(x.all_here == 1);
  CHECK(news[0].body.size == packed_bytes(packing::int8, 2));
}

TEST_CASE("a part that has another verdict than counted goes the usual way") {
  one_round x;
  CHECK(x.part(1, {1, 7}, 1));
  CHECK_FALSE(x.part(1, {1, 7}, 1));    // Repeated.
  CHECK_FALSE(x.part(2, {3, nan}, 3));  // Not finite.
  CHECK_FALSE(x.part(2, {3, 3}, 2));    // Other samples than the contract's.
  CHECK_FALSE(x.part(2, {3, 3, 3}, 3)); // Of another length.
  CHECK_FALSE(x.part(2, {}, 3));
  CHECK_FALSE(x.part(3, {3, 3}, 3)); // A stranger.
  CHECK(x.intake.arrivals().size() == 1);
  CHECK(x.complete == 0);
  CHECK(x.part(2, {3, -3}, 3)); // None of it has changed anything.
  CHECK(x.sum->average.mean() == std::vector<float>{1, 1});
}

TEST_CASE("nobody waits for a sum that somebody else is at") {
  one_round x;
  std::lock_guard<std::mutex> guard{x.sum->mutex};
  CHECK_FALSE(x.part(1, {1, 7}, 1));
  CHECK(x.intake.arrivals().empty());
}

TEST_CASE("a mean goes to its place, with its digest, and only once") {
  one_round x;
  x.intake.expect_mean(6, 1, x.whole, 0, 2); // Else it would be the last.
  CHECK(x.mean(2, {8, 9}));
  CHECK(*x.whole == std::vector<float>{0, 0, 8, 9});
  auto news = x.intake.arrivals();
  REQUIRE(news.size() == 1);
  CHECK(news[0].body.data
        == reinterpret_cast<const std::uint8_t*>(x.whole->data() + 2));
  CHECK(news[0].body.sum == digest_of(news[0].body.data, news[0].body.size));
  CHECK_FALSE(x.mean(2, {1, 1}));
  CHECK(*x.whole == std::vector<float>{0, 0, 8, 9});
}

TEST_CASE("the last of all means is told of at once") {
  one_round x;
  CHECK(x.mean(2, {8, 9}));
  CHECK(x.all_here == 1);
  CHECK(x.intake.arrivals().empty());
}

TEST_CASE("a mean that no place is open for goes the usual way") {
  one_round x;
  CHECK_FALSE(x.mean(1, {8, 9}));    // Not its owner.
  CHECK_FALSE(x.mean(2, {8, 9}, 2)); // A heal's.
  CHECK_FALSE(x.mean(2, {8, 9, 9})); // Of another length.
  CHECK(*x.whole == std::vector<float>(4, 0.0f));
  CHECK_FALSE(x.mean(2, {8, nan}));
  CHECK_FALSE(x.mean(2, {8, 9})); // Its one chance is gone.
  CHECK(x.intake.arrivals().empty());
  CHECK(x.all_here == 0);
}

TEST_CASE("nothing is taken when the round is closed, or another one") {
  one_round x;
  CHECK(x.part(1, {1, 7}, 1));
  SUBCASE("closed") {
    x.intake.close();
    CHECK(x.intake.arrivals().size() == 1);
  }
  SUBCASE("ended") {
    x.intake.end();
    CHECK(x.intake.arrivals().empty());
  }
  SUBCASE("chunk by chunk") {
    x.intake.close_parts(4);
    x.intake.close_mean(5);
  }
  SUBCASE("another group") {
    x.group.bytes[0] = 8;
  }
  CHECK_FALSE(x.part(2, {3, -3}, 3));
  CHECK_FALSE(x.mean(2, {8, 9}));
  CHECK(*x.whole == std::vector<float>(4, 0.0f));
}

TEST_CASE("places are not opened for bodies that are not worth it") {
  round_intake x{9};
  CHECK_FALSE(x.worth_a_look(8));
  CHECK(x.worth_a_look(9));
  group_id group;
  x.begin(group, {peer(1)}, nullptr);
  auto whole = std::make_shared<std::vector<float>>(2, 0.0f);
  x.expect_mean(0, 0, whole, 0, 2);
  chunk_mean mean;
  mean.version = 1;
  message content = mean;
  CHECK_FALSE(x.take(peer(1), content, bytes_of({1, 2}), now));
}

// For the thread sanitizer: the transport's thread and the owner's have nothing
// in common but this.
TEST_CASE("parts and means come while the owner opens, reads and closes") {
  constexpr std::size_t count = 512;
  one_round x;
  std::atomic<bool> over{false};
  std::atomic<unsigned> taken{0};
  std::thread receiver{[&] {
    while (!over) {
      for (std::uint8_t from : {1, 2}) {
        std::vector<float> values(count, from);
        taken += x.part(from, values, from == 1 ? 1 : 3) ? 1 : 0;
        taken += x.mean(from, values) ? 1 : 0;
      }
    }
  }};
  unsigned sums = 0;
  for (int round = 0; round < 200; ++round) {
    auto whole = std::make_shared<std::vector<float>>(count, 0.0f);
    auto sum = std::make_shared<shared_average>(
        count, std::vector<std::uint64_t>{1, 3}, averaging_rule{});
    std::atomic<int> complete{0};
    std::atomic<int> all_here{0};
    const auto enough = taken + static_cast<unsigned>(round % 4);
    x.intake.begin(x.group, {peer(1), peer(2)},
                   [&](round_intake::arrival) { ++all_here; });
    x.intake.expect_parts(4, sum, [&] { ++complete; });
    x.intake.expect_mean(5, 1, whole, 0, count);
    // Closed before, between and after all are here.
    while (taken < enough)
      std::this_thread::yield();
    x.intake.close();
    auto arrived = x.intake.arrivals();
    CHECK(arrived.size() + static_cast<std::size_t>(all_here) <= 3);
    if (all_here != 0)
      CHECK(*whole == std::vector<float>(count, 2.0f));
    std::lock_guard<std::mutex> guard{sum->mutex};
    if (complete != 0) {
      ++sums;
      CHECK(sum->average.mean() == std::vector<float>(count, 0.75f));
    }
    x.intake.end();
  }
  over = true;
  receiver.join();
  CHECK(sums > 0);
}
