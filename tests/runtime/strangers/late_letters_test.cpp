#include "runtime/strangers/late_letters.hpp"

#include <doctest/doctest.h>

using namespace potluck;

namespace {

message at_step(std::uint64_t step) {
  progress_report x;
  x.step = step;
  return x;
}

} // namespace

TEST_CASE("of what comes too early the newest report and heartbeat are read") {
  late_letters x;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    x.keep(at_step(i));
    x.keep(heartbeat{i});
    x.keep(find_nodes{});
    x.keep(group_invite{});
  }
  const auto late = x.take();
  REQUIRE(late.size() == 2);
  for (const auto& letter : late)
    if (const auto* report = std::get_if<progress_report>(&letter))
      CHECK(report->step == 1000);
    else
      CHECK(std::get<heartbeat>(letter).token == 1000);
  CHECK(x.take().empty());
}

TEST_CASE("a report that was read is not followed by an older one") {
  late_letters x;
  x.keep(at_step(1));
  x.read(at_step(2));
  CHECK(x.take().empty());
  x.keep(at_step(3));
  x.read(heartbeat{});
  CHECK(x.take().size() == 1);
}
