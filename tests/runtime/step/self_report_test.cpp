#include <doctest/doctest.h>

#include "runtime/step/self_report.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

self_report one() {
  progress_report x;
  x.id = peer(5);
  x.upload_bytes_per_second = 5e6;
  return self_report{x};
}

cell_standing contributor() {
  cell_standing x;
  x.contributes = true;
  x.sponsor = peer(1);
  return x;
}

} // namespace

TEST_CASE(
    "what the user states of the line counts more than what is measured") {
  auto x = one();
  x.measure(line_measured{2e6, 3e6, {}});
  CHECK(x.own().upload_bytes_per_second == 5e6);
  CHECK(x.own().download_bytes_per_second == 3e6);
}

TEST_CASE("a peer joins until it knows how it takes part") {
  auto x = one();
  CHECK(x.averages()); // Nobody is going to say.
  x.await_place(true);
  CHECK_FALSE(x.averages());
  x.update(phase::accumulating, 0, 0);
  CHECK(x.told(x.own()).phase == phase::joining);
  CHECK(x.stand({}, false));
  CHECK(x.averages());
  CHECK(x.told(x.own()).phase == phase::accumulating);
  x.await_place(true); // The same one asks again.
  CHECK(x.averages());
}

TEST_CASE("nobody changes places in the middle of a group") {
  auto x = one();
  x.stand({}, false);
  CHECK_FALSE(x.stand(contributor(), true));
  CHECK(x.averages());
  REQUIRE(x.postponed());
  auto later = *x.postponed();
  CHECK(x.stand(later, false));
  CHECK_FALSE(x.averages());
  CHECK(x.own().sponsor == peer(1));
  CHECK_FALSE(x.postponed());
}

TEST_CASE("more samples of a contributor are news only now and then") {
  auto x = one();
  x.stand(contributor(), false);
  x.update(phase::accumulating, 1, 0);
  CHECK(x.is_news(false, 4s, start));
  CHECK_FALSE(x.is_news(false, 4s, start + 3s));
  CHECK(x.is_news(true, 4s, start + 3s));
  CHECK(x.is_news(false, 4s, start + 7s));
  x.update(phase::waiting, 1, 0);
  CHECK(x.is_news(false, 4s, start + 7s));
}

TEST_CASE("a peer without a model stands where the history that counts does") {
  auto x = one();
  CHECK_FALSE(x.follow({}));
  CHECK(x.follow({report(1, 0, 4), report(2, 0, 4)}));
  CHECK(x.own().step == 4);
  CHECK(x.own().state == state(4));
}
