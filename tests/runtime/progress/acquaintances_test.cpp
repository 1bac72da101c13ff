#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/progress/acquaintances.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

bool anybody(const peer_id&) {
  return true;
}

acquaintances with(bool counts_unconnected) {
  acquaintances x{peer(5), 64, counts_unconnected};
  x.tracker().update_self(report(5), start);
  return x;
}

} // namespace

TEST_CASE("hearsay counts for nothing but waiting") {
  auto x = with(false);
  x.heard_of(report(1, 20), true, start);
  CHECK(x.tracker().total_samples(start) == 0);
  CHECK(x.reports().empty());
  CHECK(x.expects(anybody, start + 1s));
  CHECK_FALSE(x.expects([](auto& id) { return id == peer(2); }, start + 1s));
  CHECK_FALSE(x.expects(anybody, start + limits::connecting_patience));
  SUBCASE("until it is there") {
    x.joined(peer(1), start + 1s);
    CHECK_FALSE(x.expects(anybody, start + 1s));
  }
  SUBCASE("or cannot be reached") {
    CHECK_FALSE(x.left(peer(1)));
    CHECK_FALSE(x.expects(anybody, start + 1s));
    x.heard_of(report(1), true, start + 1s); // Its record lives on.
    CHECK_FALSE(x.expects(anybody, start + 1s));
  }
}

TEST_CASE("where all count, unconnected trainers are heard") {
  auto x = with(true);
  x.heard_of(report(1, 20), true, start);
  CHECK(x.tracker().total_samples(start) == 20);
  CHECK(x.known_trainers(start) == std::vector<peer_id>{peer(5), peer(1)});
  x.left(peer(1)); // Could not be dialled: it is in the run all the same.
  CHECK(x.known_trainers(start).size() == 2);
  x.heard_of(report(1, 20), true, start + 1s);
  CHECK_FALSE(x.expects(anybody, start + 1s));
}

TEST_CASE("a leaver's samples are deducted, and its last report told") {
  auto x = with(false);
  x.joined(peer(1), start);
  x.heard(report(1, 20), start);
  CHECK(x.tracker().total_samples(start) == 20);
  auto last = x.left(peer(1));
  REQUIRE(last);
  CHECK(last->samples == 20);
  CHECK(x.tracker().total_samples(start) == 0);
  CHECK_FALSE(x.connected(peer(1)));
}

TEST_CASE("a contributor's samples count through its sponsor alone") {
  auto x = with(false);
  x.joined(peer(1), start);
  auto contributor = report(1, 20);
  contributor.contributes = true;
  x.heard(contributor, start);
  CHECK(x.tracker().total_samples(start) == 0);
  REQUIRE(x.report(peer(1)));
  CHECK(x.report(peer(1))->samples == 20);
  x.gave(peer(1));
  CHECK(x.report(peer(1))->samples == 0);
}

TEST_CASE(
    "half of the trainers lost at once are a split, until they are back") {
  auto x = with(false);
  for (auto i : {1, 2, 3, 4}) {
    x.joined(peer(i), start);
    x.heard(report(i), start);
  }
  std::optional<split_watch::split> found;
  for (auto i : {1, 2, 3}) {
    x.left(peer(i));
    if (auto split = x.lost(peer(i), start + 1s))
      found = split;
  }
  REQUIRE(found);
  CHECK(found->lost >= 2);
  bool reunited = false;
  for (auto i : {1, 2, 3})
    reunited = x.joined(peer(i), start + 2s) || reunited;
  CHECK(reunited);
}

TEST_CASE("invented peers are waited for once at most, in all") {
  auto x = with(false);
  auto now = start;
  duration waited{0};
  for (std::uint8_t i = 10; i < 250; ++i, now += 500ms) {
    x.heard_of(report(i), true, now);
    waited += x.expects(anybody, now) ? 500ms : 0ms;
  }
  CHECK(waited <= limits::connecting_cap + limits::connecting_patience);
  CHECK_FALSE(x.expects(anybody, now));
}

TEST_CASE("once it averages with others a peer waits for these alone") {
  auto x = with(false);
  CHECK(x.averages_with(peer(1)));
  CHECK_FALSE(x.averages_with(peer(2)));
  CHECK_FALSE(x.averages_with(peer(5))); // Itself.
  x.heard_of(report(3), true, start);
  CHECK_FALSE(x.expects(anybody, start));
  x.heard_of(report(2), true, start); // Lost, and said to be there.
  CHECK(x.expects(anybody, start));
  CHECK(x.is_believed(peer(1)));
  x.joined(peer(3), start);
  CHECK_FALSE(x.is_believed(peer(3)));
}

TEST_CASE("a newcomer believes those that it is connected with") {
  auto x = with(false);
  CHECK_FALSE(x.is_believed(peer(1)));
  x.joined(peer(1), start);
  CHECK(x.is_believed(peer(1)));
}
