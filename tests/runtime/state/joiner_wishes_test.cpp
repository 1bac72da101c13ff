/// Who wants what of a donor.
#include "runtime/state/joiner_wishes.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/state/steps.hpp"

using namespace potluck;

namespace {

state_request wish(std::uint64_t step) {
  state_request x;
  x.step = step;
  return x;
}

state_request listening(std::uint64_t step) {
  auto x = wish(step);
  x.lists_only = true;
  return x;
}

state_request means_behind(std::uint64_t step) {
  auto x = wish(step);
  x.means_only = true;
  return x;
}

} // namespace

TEST_CASE("only those that wait to fetch a state keep a step for it") {
  joiner_wishes x;
  x.add(id_of(0), wish(7));
  x.add(id_of(1), wish(9));
  x.add(id_of(2), listening(8));
  x.add(id_of(3), means_behind(6));
  CHECK(x.awaited(8));
  CHECK(x.awaited_before(9) == std::set<std::uint64_t>{7});
  CHECK(x.awaited_before(10) == std::set<std::uint64_t>{7, 9});
  CHECK(x.latest_awaited() == 9);
  x.answered(id_of(1));
  CHECK_FALSE(x.awaited(9));
  CHECK(x.awaited_before(10) == std::set<std::uint64_t>{7});
  CHECK(x.latest_awaited() == 7);
  CHECK(x.unanswered().count(id_of(1)) == 0);
}

TEST_CASE("a version is fetched until the last one that wanted it goes") {
  joiner_wishes x;
  x.add(id_of(1), wish(9));
  x.add(id_of(2), listening(9));
  x.add(id_of(3), means_behind(6));
  x.answered(id_of(1));
  CHECK(x.fetching(9) == std::vector<peer_id>{id_of(1), id_of(2)});
  x.forget(id_of(1));
  CHECK(x.is_fetched(9));
  x.forget(id_of(2));
  CHECK_FALSE(x.is_fetched(9));
  CHECK_FALSE(x.is_fetched(6)); // Its state is there already.
  CHECK(x.fetching(6).empty());
}

TEST_CASE("the earliest step is that of whoever is still there") {
  joiner_wishes x;
  CHECK_FALSE(x.earliest());
  x.add(id_of(1), wish(7));
  x.add(id_of(2), means_behind(7));
  x.add(id_of(3), wish(9));
  CHECK(x.earliest() == std::uint64_t{7});
  x.forget(id_of(1));
  CHECK(x.earliest() == std::uint64_t{7});
  x.forget(id_of(2));
  CHECK(x.earliest() == std::uint64_t{9});
  x.forget(id_of(3));
  x.forget(id_of(3));
  CHECK_FALSE(x.earliest());
  CHECK(x.all().empty());
}

TEST_CASE("a joiner has been told of no mean behind its version at first") {
  joiner_wishes x;
  CHECK(x.add(id_of(1), wish(7)).means_told == 7);
  x.told(id_of(1), 9);
  REQUIRE(x.find(id_of(1)));
  CHECK(x.find(id_of(1))->means_told == 9);
  x.forget(id_of(1));
  CHECK_FALSE(x.find(id_of(1)));
  CHECK(x.add(id_of(1), wish(8)).means_told == 8);
}
