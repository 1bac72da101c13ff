#include "runtime/planning/thin_lines.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/random.hpp"
#include "tests/runtime/planning/group_on_lines.hpp"

using namespace potluck;

namespace {

/// A gradient of 8 MB.
collaboration group_of(const std::vector<line_speeds>& lines) {
  auto result = group_on_lines(lines, 8'000'000, 64);
  result.packs_thin_lines = true;
  return result;
}

/// The slowest line's time, summed message by message.
double slowest(const collaboration& input, const std::vector<double>& shares,
               const std::vector<packing>& packings) {
  auto n = input.peers.size();
  std::vector<double> up(n, 0);
  std::vector<double> down(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j)
        continue;
      auto part = input.peers[i].computes ? shares[j] : 0;
      auto mean = input.peers[j].holds_model ? shares[i] : 0;
      auto values = static_cast<std::size_t>((part + mean) * 2e6 + 0.5);
      auto bytes = static_cast<double>(packed_bytes(packings[i], values));
      up[i] += bytes / input.peers[i].upload_bytes_per_second;
      down[j] += bytes / input.peers[j].download_bytes_per_second;
    }
  return std::max(*std::max_element(up.begin(), up.end()),
                  *std::max_element(down.begin(), down.end()));
}

std::size_t count(const std::vector<packing>& x, packing how) {
  return static_cast<std::size_t>(std::count(x.begin(), x.end(), how));
}

} // namespace

TEST_CASE("only the thin line is packed") {
  auto input = group_of({{1e8, 1e8}, {1e8, 1e8}, {1e8, 1e8}, {1e6, 1e8}});
  auto x = plan(input);
  REQUIRE(x.packings.size() == 4);
  CHECK(x.packings[3] == packing::int8);
  CHECK(count(x.packings, packing::float32) == 3);
  // A byte a value, not four, and a scale a block.
  auto plain = input;
  plain.packs_thin_lines = false;
  CHECK(x.predicted_seconds < plan(plain).predicted_seconds / 3.5);
}

TEST_CASE("a thin downlink is spared by those who send through it") {
  auto input = group_of({{1e8, 1e8}, {1e8, 1e8}, {1e8, 1e6}});
  auto x = plan(input);
  CHECK(x.packings[0] != packing::float32);
  CHECK(x.packings[1] != packing::float32);
  CHECK(x.packings[2] == packing::float32);
}

TEST_CASE("lines that are as good as each other hold each other up") {
  auto x = plan(group_of({{1e6, 1e6}, {1e6, 1e6}, {1e6, 1e6}}));
  CHECK(count(x.packings, packing::int8) == 3);
}

TEST_CASE("nothing is rounded where computing takes longer anyway") {
  auto input = group_of({{1e6, 1e6}, {1e6, 1e6}, {1e6, 1e6}});
  auto seconds = plan(input).predicted_seconds * 4; // In float32.
  input.computing_seconds = 25 * seconds;
  CHECK(count(plan(input).packings, packing::float32) == 3);
  input.computing_seconds = 12 * seconds;
  CHECK(count(plan(input).packings, packing::float16) == 3);
  // Beside the next step's computing there is more time.
  input.overlaps = true;
  input.computing_seconds = 1.2 * seconds;
  CHECK(count(plan(input).packings, packing::float32) == 3);
  input.computing_seconds = -1;
  CHECK(exchange_allowance(input) == 0);
}

TEST_CASE("the exchange ends when it would with int8, and no packing can be "
          "finer") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    std::vector<line_speeds> lines(2 + chance.below(7));
    for (auto& x : lines)
      x = {1e6 * static_cast<double>(1 + chance.below(200)),
           1e6 * static_cast<double>(1 + chance.below(200))};
    auto input = group_of(lines);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      input.peers[i].computes = chance.below(4) != 0;
      input.peers[i].holds_model = input.peers[i].computes;
    }
    auto x = plan(input);
    std::vector<packing> coarsest(lines.size(), packing::int8);
    auto allowed = slowest(input, x.shares, coarsest);
    auto taken = slowest(input, x.shares, x.packings);
    CHECK(taken <= allowed * 1.01); // Blocks that are not full.
    CHECK(x.predicted_seconds == doctest::Approx(taken).epsilon(0.01));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto finer = x.packings;
      if (finer[i] == packing::float32)
        continue;
      finer[i]
          = finer[i] == packing::int8 ? packing::float16 : packing::float32;
      CHECK(slowest(input, x.shares, finer) > allowed * 0.99);
    }
    CHECK(plan_digest(plan(input)) == plan_digest(x));
  }
}

TEST_CASE("packings are part of what members agree on") {
  auto x = plan(group_of({{1e8, 1e8}, {1e6, 1e8}}));
  auto other = x;
  other.packings[0] = packing::bfloat16;
  CHECK(plan_digest(other) != plan_digest(x));
}
