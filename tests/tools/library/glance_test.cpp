#include "tools/library/glance.hpp"

#include <cstring>

#include <doctest/doctest.h>

#include "runtime/optimizer/schedules/schedule.hpp"

using namespace potluck;
using namespace potluck::library;

namespace {

glance open_at(potluck::phase phase) {
  glance x;
  x.at = stage::open;
  x.heard.last.phase = phase;
  return x;
}

struct potluck_status filled(const glance& x) {
  struct potluck_status result;
  std::memset(&result, 0x7f, sizeof(result));
  x.fill(result);
  return result;
}

} // namespace

TEST_CASE("the phase of an open handle is its peer's, and whoever founds a run "
          "joins it") {
  CHECK(open_at(phase::averaging).phase() == "averaging");
  CHECK(open_at(phase::waiting).phase() == "waiting");
  CHECK(open_at(phase::founding).phase() == "joining");
  auto calls = open_at(phase::accumulating);
  calls.only_calls = true;
  CHECK(calls.phase() == "calling");
}

TEST_CASE("how a handle ended comes before what its peer does") {
  auto x = open_at(phase::averaging);
  x.heard.closed = true;
  CHECK(x.phase() == "left");
  x.heard.closed = false;
  x.at = stage::leaving;
  CHECK(x.phase() == "left");
  x.heard.finished = true;
  CHECK(x.phase() == "finished");
  x.heard.problem = "no such file";
  CHECK(x.phase() == "failed");
  x.at = stage::closed;
  CHECK(x.phase() == "closed");
}

TEST_CASE("an open handle is a peer itself, even if it has heard of none") {
  CHECK(filled(open_at(phase::joining)).peers == 1);
  auto x = open_at(phase::averaging);
  x.heard.last.peers = 3;
  CHECK(filled(x).peers == 3);
  x.at = stage::left;
  CHECK(filled(x).peers == 0);
}

TEST_CASE("what only the run's settings say is 0 until they are known") {
  auto x = open_at(phase::accumulating);
  x.figures.taken = 6;
  CHECK(filled(x).target == 0);
  CHECK(filled(x).learning_rate == 0);
  run_settings settings;
  settings.target_batch = 512;
  x.run = charter(settings, "");
  CHECK(filled(x).target == 512);
  CHECK(filled(x).learning_rate == learning_rate_at(settings, 7));
}

TEST_CASE("joining is done once there are parameters") {
  auto x = open_at(phase::joining);
  x.heard.progress = 0.25;
  CHECK(filled(x).progress == 0.25);
  x.figures.has_parameters = true;
  CHECK(filled(x).progress == 1);
}

TEST_CASE("the trouble is why the peer ended, or else what it has now") {
  auto x = open_at(phase::averaging);
  x.heard.last.trouble = "nobody answers";
  CHECK(std::string{filled(x).trouble} == "nobody answers");
  x.heard.problem = "no such file";
  CHECK(std::string{filled(x).trouble} == "no such file");
  x.heard.problem = std::string(1000, 'x');
  const auto status = filled(x);
  CHECK(std::strlen(status.trouble) == sizeof(status.trouble) - 1);
}
