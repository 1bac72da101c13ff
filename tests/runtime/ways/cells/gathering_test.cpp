#include "runtime/ways/cells/gathering.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "runtime/averaging/chunk_average.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

/// Five values in chunks of two: 2, 2 and 1.
gathering five_values(std::vector<peer_id> who, std::size_t at_once = 8) {
  digest state;
  state.bytes[0] = 3;
  return {7, 12, state, {5, 2}, std::move(who), at_once};
}

gathering::verdict offer(gathering& g, const peer_id& from, std::uint32_t chunk,
                         std::vector<float> values, std::uint64_t samples = 4,
                         std::uint64_t number = 7) {
  contribution_part part{number, chunk, samples, 1.5, packing::float32};
  return g.offer(from, part,
                 reinterpret_cast<const std::uint8_t*>(values.data()),
                 values.size() * sizeof(float));
}

using verdict = gathering::verdict;

} // namespace

TEST_CASE("a whole contribution is taken once") {
  auto g = five_values({peer(1)});
  CHECK(g.next() == std::vector<peer_id>{peer(1)});
  CHECK(g.request().number == 7);
  CHECK(g.request().step == 12);
  CHECK(offer(g, peer(1), 0, {1, 2}) == verdict::placed);
  CHECK_FALSE(g.take(peer(1)));
  CHECK(offer(g, peer(1), 1, {3, 4}) == verdict::placed);
  CHECK(offer(g, peer(1), 2, {5}) == verdict::complete);
  CHECK_FALSE(g.over());
  auto x = g.take(peer(1));
  REQUIRE(x);
  CHECK(x->from == peer(1));
  CHECK(x->step == 12);
  CHECK(x->samples == 4);
  CHECK(x->loss_sum == 1.5);
  CHECK(x->gradient == std::vector<float>{1, 2, 3, 4, 5});
  CHECK_FALSE(g.take(peer(1)));
  CHECK(g.over());
}

TEST_CASE("no more than so many are asked at a time") {
  auto g = five_values({peer(1), peer(2), peer(3)}, 2);
  CHECK(g.next() == std::vector<peer_id>{peer(1), peer(2)});
  CHECK(g.next().empty());
  g.without(peer(2));
  CHECK(g.next() == std::vector<peer_id>{peer(3)});
  g.without(peer(1));
  g.without(peer(3));
  CHECK(g.over());
}

TEST_CASE("whoever was not asked yet can be left out") {
  auto g = five_values({peer(1), peer(2), peer(3)}, 1);
  g.next();
  g.ask_nobody_else();
  CHECK_FALSE(g.over());
  CHECK(g.unfinished() == std::vector<peer_id>{peer(1)});
  g.without(peer(1));
  CHECK(g.over());
  CHECK(g.next().empty());
}

TEST_CASE("what was not asked for is nobody's contribution") {
  auto g = five_values({peer(1), peer(2)}, 1);
  g.next();
  CHECK(offer(g, peer(2), 0, {1, 2}) == verdict::unasked);
  CHECK(offer(g, peer(9), 0, {1, 2}) == verdict::unasked);
  CHECK(offer(g, peer(1), 0, {1, 2}, 4, 6) == verdict::unasked);
  CHECK(g.asked(peer(1)));
}

TEST_CASE("a broken contribution is refused as a whole") {
  auto broken = [](std::uint32_t chunk, std::vector<float> values,
                   std::uint64_t samples = 4) {
    auto g = five_values({peer(1)});
    g.next();
    REQUIRE(offer(g, peer(1), 0, {1, 2}) == verdict::placed);
    CHECK(offer(g, peer(1), chunk, values, samples) == verdict::refused);
    CHECK_FALSE(g.reason().empty());
    CHECK(g.over());
    CHECK_FALSE(g.take(peer(1)));
    CHECK(offer(g, peer(1), 1, {3, 4}) == verdict::unasked);
  };
  broken(0, {1, 2});
  broken(2, {5});
  broken(1, {3});
  broken(1, {3, 4, 5});
  broken(1, {});
  broken(1, {3, std::numeric_limits<float>::quiet_NaN()});
  broken(1, {3, 2 * largest_contributed_value});
  broken(1, {-std::numeric_limits<float>::infinity(), 4});
  broken(1, {3, 4}, 5);
}

TEST_CASE(
    "packed contributions are unpacked, and refused when they cannot be") {
  const std::vector<float> values{1, -2};
  for (auto how : {packing::float16, packing::bfloat16, packing::int8}) {
    CAPTURE(static_cast<int>(how));
    auto g = five_values({peer(1)});
    g.next();
    CHECK(g.request(how).packing == how);
    contribution_part part{7, 0, 4, 1.5, how};
    std::vector<std::uint8_t> body(packed_bytes(how, 2));
    pack(how, values.data(), 2, body.data());
    CHECK(g.offer(peer(1), part, body.data(), body.size()) == verdict::placed);
    ++part.chunk;
    SUBCASE("a byte is missing") {
      CHECK(g.offer(peer(1), part, body.data(), body.size() - 1)
            == verdict::refused);
    }
    SUBCASE("a value is no number") {
      std::fill(body.begin(), body.end(), std::uint8_t{0xff});
      CHECK(g.offer(peer(1), part, body.data(), body.size())
            == verdict::refused);
    }
    SUBCASE("another packing than the first chunk's") {
      part.packing = packing::float32;
      CHECK(offer(g, peer(1), 1, {3, 4}) == verdict::placed);
      CHECK(offer(g, peer(1), 2, {5}) == verdict::complete);
      auto whole = g.take(peer(1));
      REQUIRE(whole);
      CHECK(whole->gradient[1] == doctest::Approx(-2).epsilon(0.01));
      CHECK(whole->gradient[4] == 5);
    }
  }
}

TEST_CASE("gatherings of chance end, whatever comes in whatever order") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    std::vector<peer_id> who;
    for (std::uint8_t i = 0; i < 1 + chance.below(10); ++i)
      who.push_back(peer(i + 1));
    auto at_once = 1 + chance.below(4);
    auto g = five_values(who, at_once);
    std::size_t whole = 0;
    std::size_t taken = 0;
    std::map<peer_id, std::uint32_t> sent;
    for (int turn = 0; !g.over(); ++turn) {
      REQUIRE(turn < 1000);
      for (auto& id : g.next())
        sent[id] = 0;
      REQUIRE(g.unfinished().size() <= at_once);
      auto open = g.unfinished();
      auto id = open[chance.below(open.size())];
      auto what = chance.below(20);
      if (what == 0) {
        g.without(id);
        continue;
      }
      auto chunk = what == 1 ? 9 : sent[id]++;
      auto verdict
          = offer(g, id, chunk, std::vector<float>(chunk < 2 ? 2 : 1, 1.0f));
      whole += verdict == verdict::complete;
      if (auto x = g.take(id)) {
        ++taken;
        CHECK(std::accumulate(x->gradient.begin(), x->gradient.end(), 0.0f)
              == 5.0f);
      }
    }
    CHECK(whole == taken);
  }
}

TEST_CASE("contributions are given what lines take for them, within reason") {
  using namespace std::chrono_literals;
  progress_report sponsor;
  sponsor.contributors = 20;
  sponsor.upload_bytes_per_second = 1e6;
  sponsor.download_bytes_per_second = 10e6;
  // Eight at a time over their uplinks, in three turns.
  CHECK(gathering_time(sponsor, 40'000'000) == 120s);
  // 20 gradients over the downlink.
  sponsor.download_bytes_per_second = 0;
  CHECK(gathering_time(sponsor, 10'000'000) == 200s);
  sponsor.contributors = 1'000'000;
  CHECK(gathering_time(sponsor, 40'000'000) == limits::longest_gathering);
  sponsor.upload_bytes_per_second = 0;
  CHECK(gathering_time(sponsor, 40'000'000) == 0s);
  sponsor.contributors = 0;
  sponsor.upload_bytes_per_second = 1e6;
  CHECK(gathering_time(sponsor, 40'000'000) == 0s);
}

TEST_CASE("a sponsor is waited for no longer than the step took, whatever it "
          "says") {
  using namespace std::chrono_literals;
  progress_report sponsor;
  sponsor.contributors = 20;
  sponsor.upload_bytes_per_second = 1e6;
  sponsor.download_bytes_per_second = 10e6;
  // 240 s by its lines.
  CHECK(gathering_patience(sponsor, 10'000'000, 1h) == 240s);
  CHECK(gathering_patience(sponsor, 10'000'000, 100s) == 100s);
  CHECK(gathering_patience(sponsor, 10'000'000, 1s) == limits::least_gathering);
  sponsor.contributors = 1'000'000; // A lie.
  CHECK(gathering_patience(sponsor, 10'000'000, 1s) == limits::least_gathering);
  sponsor.contributors = 0;
  CHECK(gathering_patience(sponsor, 10'000'000, 1h) == 0s);
}
