#include "tools/potluck/live_line.hpp"

#include <doctest/doctest.h>

#include "runtime/numbers.hpp"

using namespace potluck;

namespace {

live_status full_status() {
  live_status x;
  x.step = 12;
  x.steps = 1000;
  x.loss = 6.12345;
  x.samples_per_second = 431.4;
  x.share = 0.117;
  x.peers = 4;
  x.phase = phase::accumulating;
  x.seconds_to_step = 12.4;
  return x;
}

} // namespace

TEST_CASE("the live line says how training goes") {
  CHECK(live_line(full_status(), 200)
        == "step 12/1000 | loss 6.123 | 431 samples/s | 4 peers | "
               + to_string(phase::accumulating)
               + " | yours 12% | next step in 12 s");
}

TEST_CASE("the live line says how others get here") {
  auto x = full_status();
  x.reach = "cone router";
  CHECK(live_line(x, 200) == live_line(full_status(), 200) + " | cone router");
}

TEST_CASE("what is not known is left out") {
  live_status x;
  CHECK(live_line(x, 200) == "step 0 | 1 peer | " + to_string(phase::joining));
  x.seconds_to_step = -1;
  CHECK(live_line(x, 200).find("next step") == std::string::npos);
}

TEST_CASE("the live line fits every width and keeps the step") {
  auto whole = live_line(full_status(), 1000);
  for (std::size_t width = 0; width <= whole.size(); ++width) {
    auto line = live_line(full_status(), width);
    CAPTURE(width);
    CHECK(line.size() <= width);
    if (width >= 12)
      CHECK(line.find("step 12/1000") == 0);
  }
  CHECK(live_line(full_status(), whole.size()) == whole);
  CHECK(live_line(full_status(), 26) == "step 12/1000 | loss 6.123");
}

TEST_CASE("seconds are readable") {
  CHECK(readable_seconds(0.4) == "0 s");
  CHECK(readable_seconds(119.4) == "119 s");
  CHECK(readable_seconds(180) == "3 min");
  CHECK(readable_seconds(7199) == "120 min");
  CHECK(readable_seconds(4800 * 2) == "2 h 40 min");
  CHECK(readable_seconds(-1) == "-");
  CHECK(readable_seconds(live_status::unknown) == "-");
}
