#include "runtime/planning/chunk_size.hpp"

#include <limits>

#include "messages/limits.hpp"
#include "runtime/planning/planner.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

constexpr std::uint32_t most = 65536; // 256 KiB.

group_contract group_of(std::size_t members, std::uint64_t values,
                        double line = 0) {
  group_contract x;
  x.gradient_values = values;
  for (std::size_t i = 0; i < members; ++i)
    x.members.push_back(
        {{{}, {"10.0.0.1", 7000}}, role::trainer, 1, 0, line, line});
  return x;
}

} // namespace

TEST_CASE("a large gradient is cut as the run says") {
  CHECK(chunk_values_for(group_of(4, 100'000'000), most) == most);
}

TEST_CASE("of a small one everybody gets a few chunks, of 16 KiB at least") {
  // 1 MB for each of 4: 64 KiB hold a 64th of it and no more.
  CHECK(chunk_values_for(group_of(4, 1'048'576), most) == 16384);
  CHECK(chunk_values_for(group_of(8, 50'000), most) == 4096);
  CHECK(chunk_values_for(group_of(1, 1), most) == 4096);
}

TEST_CASE("fast lines want larger chunks, and the slowest one decides") {
  auto fast = group_of(8, 50'000, 32 * 1024 * 500.0); // 32 KiB in 2 ms.
  CHECK(chunk_values_for(fast, most) == 8192);
  fast.members[3].download_bytes_per_second = 1000;
  CHECK(chunk_values_for(fast, most) == 4096);
  auto loopback = group_of(8, 50'000, 1e9);
  CHECK(chunk_values_for(loopback, most) == most);
}

TEST_CASE("packings' blocks stay whole, and nothing grows") {
  CHECK(chunk_values_for(group_of(4, 50'000), 3 * 1024 * 4) == 3 * 1024 * 2);
  CHECK(chunk_values_for(group_of(4, 50'000), 50'000) == 50'000);
  CHECK(chunk_values_for(group_of(4, 50'000), 256) == 256);
  CHECK(least_chunk_values(most) == 4096);
  CHECK(least_chunk_values(256) == 256);
}

TEST_CASE("bodies are as long however their values are packed") {
  CHECK(packed_chunk_values(most, packing::float32) == most);
  CHECK(packed_chunk_values(most, packing::float16) == 2 * most);
  CHECK(packed_chunk_values(most, packing::bfloat16) == 2 * most);
  CHECK(packed_chunk_values(most, packing::int8) == 4 * most);
  CHECK(packed_chunk_values(max_chunk_values, packing::int8)
        == max_chunk_values);
  CHECK(chunk_values_for(group_of(4, 100'000'000), most, packing::int8)
        == 4 * most);
  // As many chunks for each member as of float32, and bodies as long at least.
  CHECK(chunk_values_for(group_of(4, 1'048'576), most, packing::int8) == 16384);
  CHECK(chunk_values_for(group_of(8, 50'000), most, packing::int8) == 16384);
  CHECK(chunk_values_for(group_of(8, 50'000), most, packing::float16) == 8192);
  CHECK(least_chunk_values(most) == 4096);
}

TEST_CASE("lines that nobody can have count as unknown") {
  auto x = group_of(3, 1'000'000, std::numeric_limits<double>::quiet_NaN());
  CHECK(chunk_values_for(x, most) == 32768);
  x = group_of(3, 1'000'000, std::numeric_limits<double>::infinity());
  CHECK(chunk_values_for(x, most) == 32768);
}

namespace {

double predicted(group_contract x, std::uint32_t values) {
  x.chunk_values = values;
  return plan(collaboration_of(x)).predicted_seconds;
}

} // namespace

TEST_CASE("chunks are fitted to the shares of a plan") {
  // Eight equal ones and 47 chunks: six each, of which one member has five.
  auto equal = group_of(8, 47 * 4096, 375e3);
  auto fitted
      = fitting_chunk_values(equal, 4096, packing::float32, plan_rules{});
  CHECK(fitted == 47 * 4096 / 48 / 64 * 64 + 64);
  CHECK(predicted(equal, fitted) < 0.995 * predicted(equal, 4096));
  // Sixteen on slow lines and a fast one: 1.6 chunks each.
  auto mixed = group_of(17, 766'710, 375e3);
  mixed.members[0].upload_bytes_per_second = 12.5 * 375e3;
  mixed.members[0].download_bytes_per_second = 12.5 * 375e3;
  fitted = fitting_chunk_values(mixed, 4096, packing::float32, plan_rules{});
  CHECK(fitted >= 3072);
  CHECK(predicted(mixed, fitted) < 0.98 * predicted(mixed, 4096));
}

TEST_CASE("chunks that fit stay as they are, and so do some others") {
  auto fit = [](const group_contract& x, std::uint32_t whole, packing how) {
    return fitting_chunk_values(x, whole, how, plan_rules{});
  };
  auto equal = group_of(8, 48 * 4096, 375e3);
  CHECK(fit(equal, 4096, packing::float32) == 4096);
  auto uneven = group_of(8, 47 * 4096, 375e3);
  CHECK(fit(uneven, 4001, packing::float32) == 4001); // A user's own number.
  CHECK(fit(uneven, 4096, packing::int8) % packing_block == 0);
  CHECK(fit(group_of(0, 100), 4096, packing::float32) == 4096);
  CHECK(fit(group_of(1, 100), 4096, packing::float32) == 4096);
}

TEST_CASE("everybody fits chunks alike, whatever the contract said before") {
  auto x = group_of(5, 1'000'000, 375e3);
  x.members[2].upload_bytes_per_second = 1e6;
  auto fitted = fitting_chunk_values(x, 16384, packing::float32, plan_rules{});
  x.chunk_values = 77;
  CHECK(fitting_chunk_values(x, 16384, packing::float32, plan_rules{})
        == fitted);
  CHECK(fitted <= 16384);
  CHECK(fitted >= 12288);
}
