#include "runtime/averaging/round/round_intake.hpp"

#include <atomic>
#include <limits>
#include <thread>

#include <doctest/doctest.h>

#include "runtime/packing/packing.hpp"
#include "tests/support/float_body.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr time_point now{5s};

peer_id peer(std::uint8_t number) {
  peer_id result;
  result.bytes[0] = number;
  return result;
}

/// Peers 1 and 2 with 1 and 3 samples; chunk 0, of two values, is averaged
/// here by peer 1, and the mean of chunk 1 comes from peer 2.
struct one_round {
  one_round() {
    group.bytes[0] = 9;
    intake.begin(group, {peer(1), peer(2)}, 0, means, [this] { ++all_here; });
    intake.expect_parts(0, sum, [this](std::size_t member, auto news) {
      complete += news.complete;
      if (news.refused)
        refused.push_back(member);
    });
  }

  bool part(std::uint8_t from, std::vector<float> values,
            std::uint64_t samples) {
    return intake.take(peer(from),
                       chunk_part{group, 0, samples, packing::float32},
                       float_body(std::move(values)), now);
  }
  bool mean(std::uint8_t from, std::vector<float> values,
            std::uint32_t version = 1) {
    chunk_mean x;
    x.group = group;
    x.chunk = 1;
    x.version = version;
    return intake.take(peer(from), x, float_body(std::move(values)), now);
  }

  round_intake intake{1};
  group_id group;
  std::shared_ptr<chunk_sum> sum = std::make_shared<chunk_sum>(
      2, std::vector<std::uint64_t>{1, 3}, averaging_rule{}, std::nullopt, 9);
  std::shared_ptr<std::vector<float>> whole
      = std::make_shared<std::vector<float>>(4, 0.0f);
  std::shared_ptr<mean_places> means
      = std::make_shared<mean_places>(chunk_map{4, 2, {1, 1}}, whole);
  int complete = 0;
  std::vector<std::size_t> refused;
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
  auto result = x.sum->settle();
  CHECK(*result.mean == std::vector<float>{1, 1});
  auto second = float_body({3, -3});
  CHECK(result.parts[1] == digest_of(second.data, second.size));
  auto news = x.intake.news();
  REQUIRE(news.size() == 2);
  CHECK(news[1].member == 1);
  CHECK(std::get<chunk_part>(news[1].head).samples == 3);
  CHECK(news[1].bytes == 8);
  CHECK(x.intake.last_taken() == now);
  CHECK(x.intake.news().empty());
}

TEST_CASE("packed parts and means are unpacked on their way") {
  one_round x;
  auto pack_int8 = [](std::vector<float> values) {
    return packed_body(packing::int8, nullptr, values.data(), values.size());
  };
  message part = chunk_part{x.group, 0, 1, packing::int8};
  CHECK(x.intake.take(peer(1), part, pack_int8({127, -3}), now));
  CHECK(x.part(2, {1, 3}, 3));
  CHECK(*x.sum->settle().mean == std::vector<float>{32, 0});

  auto body = pack_int8({-127, 5});
  chunk_mean mean;
  mean.group = x.group;
  mean.chunk = 1;
  mean.version = 1;
  mean.packing = packing::int8;
  CHECK(x.intake.take(peer(2), mean, body, now));
  CHECK(*x.whole == std::vector<float>{0, 0, -127, 5});
  auto news = x.intake.news();
  REQUIRE(news.size() == 3);
  CHECK(x.all_here == 1);
  CHECK(news[0].bytes == packed_bytes(packing::int8, 2));
}

TEST_CASE("a part gets its verdict where it is offered, and is offered once") {
  one_round x;
  CHECK(x.part(1, {1, 7}, 1));
  CHECK(x.part(1, {9, 9}, 1));       // Repeated: taken, and it changes nothing.
  CHECK_FALSE(x.part(3, {3, 3}, 3)); // A stranger has no place here.
  CHECK(x.refused.empty());
  SUBCASE("a good one") {
    CHECK(x.part(2, {3, -3}, 3));
    CHECK(*x.sum->settle().mean == std::vector<float>{1, 1});
    CHECK(x.refused.empty());
  }
  SUBCASE("not finite") {
    CHECK(x.part(2, {3, nan}, 3));
  }
  SUBCASE("other samples than the contract's") {
    CHECK(x.part(2, {3, 3}, 2));
  }
  SUBCASE("of another length") {
    CHECK(x.part(2, {3, 3, 3}, 3));
  }
  SUBCASE("empty") {
    CHECK(x.part(2, {}, 3));
  }
  CHECK(x.complete == 1); // A refused one is not waited for.
  if (x.refused.empty())
    return;
  CHECK(x.refused == std::vector<std::size_t>{1});
  auto result = x.sum->settle();
  CHECK(*result.mean == std::vector<float>{1, 7});
  CHECK(result.left_out == std::vector<std::uint8_t>{1});
  CHECK(x.intake.news().size() == 1); // What is in no sum is no news of it.
}

TEST_CASE("a part goes by letter when its reducer has ended") {
  one_round x;
  x.sum.reset();
  CHECK_FALSE(x.part(1, {1, 7}, 1));
  CHECK(x.intake.news().empty());
  SUBCASE("until it has a successor") {
    x.sum = std::make_shared<chunk_sum>(2, std::vector<std::uint64_t>{1, 3},
                                        averaging_rule{}, std::nullopt, 9);
    x.intake.expect_parts(0, x.sum, [](std::size_t, auto) {});
    CHECK(x.part(1, {1, 7}, 1));
    CHECK(x.sum->counted() == 1);
  }
}

TEST_CASE("the last of all means is told of at once") {
  one_round x;
  CHECK(x.mean(2, {8, 9}));
  CHECK(*x.whole == std::vector<float>{0, 0, 8, 9});
  CHECK(x.all_here == 1);
  CHECK(x.means->bytes(1).sum
        == digest_of(x.whole->data() + 2, 2 * sizeof(float)));
  CHECK_FALSE(x.mean(2, {1, 1}));
  CHECK(*x.whole == std::vector<float>{0, 0, 8, 9});
  CHECK(x.all_here == 1);
  REQUIRE(x.intake.news().size() == 1);
}

TEST_CASE("a mean that no place is open for goes the usual way") {
  one_round x;
  CHECK_FALSE(x.mean(1, {8, 9}));    // Not its owner.
  CHECK_FALSE(x.mean(2, {8, 9}, 2)); // A heal's.
  CHECK_FALSE(x.mean(2, {8, 9, 9})); // Of another length.
  CHECK(*x.whole == std::vector<float>(4, 0.0f));
  CHECK_FALSE(x.mean(2, {8, nan}));
  CHECK_FALSE(x.mean(2, {8, 9})); // Its one chance is gone.
  CHECK(x.intake.news().empty());
  CHECK(x.all_here == 0);
}

TEST_CASE("nothing is taken when the round is closed, or another one") {
  one_round x;
  CHECK(x.part(1, {1, 7}, 1));
  SUBCASE("closed") {
    x.intake.close();
    CHECK(x.intake.news().size() == 1);
  }
  SUBCASE("another one has begun, without places") {
    x.intake.begin(x.group, {peer(1), peer(2)}, 0, nullptr, [] {});
    CHECK(x.intake.news().empty());
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
  auto whole = std::make_shared<std::vector<float>>(2, 0.0f);
  auto means = std::make_shared<mean_places>(chunk_map{2, 2, {1, 0}}, whole);
  x.begin(group, {peer(1), peer(2)}, 1, means, [] {});
  chunk_mean mean;
  mean.version = 1;
  CHECK_FALSE(x.take(peer(1), mean, float_body({1, 2}), now));
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
    auto whole = std::make_shared<std::vector<float>>(2 * count, 0.0f);
    auto means = std::make_shared<mean_places>(
        chunk_map{2 * count, count, {1, 1}}, whole);
    auto sum
        = std::make_shared<chunk_sum>(count, std::vector<std::uint64_t>{1, 3},
                                      averaging_rule{}, std::nullopt, 9);
    std::atomic<int> complete{0};
    std::atomic<int> all_here{0};
    const auto enough = taken + static_cast<unsigned>(round % 4);
    x.intake.begin(x.group, {peer(1), peer(2)}, 0, means, [&] { ++all_here; });
    x.intake.expect_parts(
        0, sum, [&](std::size_t, auto news) { complete += news.complete; });
    // Closed before, between and after all are here.
    while (taken < enough)
      std::this_thread::yield();
    x.intake.close();
    x.intake.news();
    if (all_here != 0)
      CHECK(std::vector<float>(whole->begin() + count, whole->end())
            == std::vector<float>(count, 2.0f));
    if (complete != 0) {
      ++sums;
      CHECK(*sum->settle().mean == std::vector<float>(count, 0.75f));
    }
  }
  over = true;
  receiver.join();
  CHECK(sums > 0);
}
