/// The means that a peer fetches and passes on at the same time.
#include "runtime/state/coming_means.hpp"

#include <doctest/doctest.h>
#include <memory>

#include "runtime/state/pieces.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;

namespace {

constexpr std::uint64_t values = 40000; ///< Of a mean: several pieces.

digest after(std::uint64_t step) {
  return digest_of(&step, sizeof(step));
}

coming_mean coming(std::uint64_t step) {
  auto mean = some_mean(values, step);
  return {
      manifest_of({step, 64, 64 * step, after(step - 1), after(step), mean}),
      mean};
}

piece_request piece(std::uint64_t step, std::uint32_t index) {
  return {after(step), index, true};
}

} // namespace

TEST_CASE("who asks for a piece too early gets it when it comes") {
  coming_means x;
  CHECK(x.expects(coming(11), 10, after(10)).empty());
  CHECK(x.wait(id_of(1), piece(11, 3)));
  CHECK(x.wait(id_of(2), piece(11, 3)));
  CHECK_FALSE(x.placed({11, 2})); // Nobody has asked for it.
  CHECK(x.piece(after(11), 2).size > 0);
  CHECK(x.piece(after(11), 3).size == 0);
  const auto arrival = x.placed({11, 3});
  REQUIRE(arrival);
  CHECK(arrival->bytes == x.piece(after(11), 3).size);
  REQUIRE(arrival->wanted.size() == 2);
  CHECK(arrival->wanted[0].from == id_of(1));
  CHECK(arrival->wanted[0].what.piece == 3);
  CHECK(arrival->wanted[1].from == id_of(2));
  CHECK_FALSE(x.placed({11, 3})); // Nobody waits for it any more.
}

TEST_CASE("nobody waits for what does not come") {
  coming_means x;
  x.expects(coming(11), 10, after(10));
  CHECK_FALSE(x.wait(id_of(1), piece(12, 0)));
  CHECK_FALSE(x.wait(id_of(1), piece(11, 1000)));
  CHECK_FALSE(x.placed({12, 0}));
  CHECK_FALSE(x.placed({11, 1000}));
}

TEST_CASE("who leaves waits for nothing any more") {
  coming_means x;
  x.expects(coming(11), 10, after(10));
  x.wait(id_of(1), piece(11, 0));
  x.wait(id_of(2), piece(11, 0));
  x.leave(id_of(1));
  const auto arrival = x.placed({11, 0});
  REQUIRE(arrival);
  REQUIRE(arrival->wanted.size() == 1);
  CHECK(arrival->wanted[0].from == id_of(2));
}

TEST_CASE("of a mean that comes no more all requests are handed back") {
  coming_means x;
  for (std::uint64_t step : {11, 12, 13}) {
    x.expects(coming(step), 10, after(10));
    x.wait(id_of(step), piece(step, 0));
  }
  const auto before = x.forget_before(12);
  REQUIRE(before.size() == 1);
  CHECK(before[0].from == id_of(11));
  const auto behind = x.forget_behind(12);
  REQUIRE(behind.size() == 1);
  CHECK(behind[0].from == id_of(13));
  CHECK_FALSE(x.manifest(11));
  CHECK(x.manifest(12)->state == after(12));
  CHECK_FALSE(x.manifest(13));
}

TEST_CASE("a mean by another list comes from nothing") {
  coming_means x;
  x.expects(coming(11), 10, after(10));
  x.placed({11, 0});
  x.wait(id_of(1), piece(11, 1));
  const auto unanswered = x.expects(coming(11), 10, after(10));
  REQUIRE(unanswered.size() == 1);
  CHECK(unanswered[0].from == id_of(1));
  CHECK(x.piece(after(11), 0).size == 0);
  CHECK_FALSE(x.placed({11, 1}));
}

TEST_CASE("means follow what is held, and each other") {
  coming_means x;
  x.expects(coming(11), 10, after(10));
  x.expects(coming(12), 10, after(10));
  x.expects(coming(15), 10, after(10));
  CHECK(x.follows(10, after(10)));
  CHECK_FALSE(x.follows(10, after(9)));
  CHECK(x.follows(11, after(11)));
  CHECK_FALSE(x.follows(12, after(12)));
  CHECK_FALSE(x.follows(14, after(14))); // Its history is not known.
}
