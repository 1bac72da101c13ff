/// The copies of the state that a donor keeps for joiners.
#include "runtime/state/served_versions.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/state/steps.hpp"

using namespace potluck;

namespace {

using steps = std::vector<std::uint64_t>;

std::shared_ptr<const training_state> state_after(std::uint64_t step) {
  return std::make_shared<training_state>(state_of(100, step));
}

} // namespace

TEST_CASE("no more versions are kept than there is room for") {
  served_versions x{2};
  x.add(state_after(7));
  x.add(state_after(8));
  x.add(state_after(9));
  CHECK(x.steps() == steps{7, 8});
  CHECK_FALSE(x.after(9));
  x.drop(7);
  x.add(state_after(9));
  CHECK(x.steps() == steps{8, 9});
  CHECK(x.after(9)->state().step == 9);
}

TEST_CASE("there is one version after a step") {
  served_versions x{2};
  x.add(state_after(7));
  x.add(state_after(7));
  CHECK(x.steps() == steps{7});
}

TEST_CASE("pieces outlive the version that they are of") {
  served_versions x{2};
  x.add(state_after(7));
  const auto name = x.after(7)->digest();
  const auto piece = x.piece(name, 0);
  CHECK(piece.size > 0);
  CHECK(x.piece(name, 1).size == 0);
  CHECK(x.piece(digest{}, 0).size == 0);
  x.drop(7);
  CHECK(x.piece(name, 0).size == 0);
  CHECK(piece.data[0] == 'P');
}

TEST_CASE("a version has room beside those that come before it") {
  served_versions x{2};
  CHECK(x.has_room_for(9, {7}));
  CHECK(x.has_room_for(9, {7, 9}));
  CHECK_FALSE(x.has_room_for(9, {7, 8}));
  x.add(state_after(7));
  CHECK(x.has_room_for(9, {7}));
  CHECK(x.has_room_for(7, {8}));
  CHECK_FALSE(x.has_room_for(9, {8}));
}
