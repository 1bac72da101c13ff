#include "runtime/history/step_signing.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/history/signed_world.hpp"

using namespace potluck;
using namespace potluck::history_peers;
using namespace std::chrono_literals;

namespace {

/// What it says of the step that led to its state.
progress_report said(std::size_t number, const signed_step& x) {
  auto r = report(number, x.step);
  r.step_proof = sign(x, *made_up(peer(number)));
  return r;
}

} // namespace

TEST_CASE("who made a step signs it, and collects what the others sign") {
  step_signing x{peer(1), made_up(peer(1))};
  const auto step = signed_by({}, 7, {1, 2, 3});
  const auto own = x.made(step);
  CHECK_FALSE(own.empty());
  CHECK_FALSE(x.worth_keeping(false, start)); // One of three.
  x.heard(said(2, step));
  CHECK_FALSE(x.worth_keeping(true, start)); // One may follow.
  // Neither who did not make it, nor who is elsewhere.
  x.heard(said(4, step));
  auto elsewhere = said(3, step);
  elsewhere.state = state(7, 'x');
  x.heard(elsewhere);
  CHECK_FALSE(x.worth_keeping(true, start));
  x.heard(said(3, step));
  const auto kept = x.worth_keeping(true, start);
  REQUIRE(kept);
  auto checked = *kept;
  drop_forgeries(checked, *judge());
  for (const auto& maker : checked.makers)
    CHECK_FALSE(maker.by.empty());
  CHECK_FALSE(x.worth_keeping(false, start + 1h)); // It was kept.
}

TEST_CASE("what most have signed will do when the next step is made") {
  step_signing x{peer(1), made_up(peer(1))};
  const auto step = signed_by({}, 7, {1, 2, 3});
  x.made(step);
  x.heard(said(3, step));
  CHECK(x.worth_keeping(false, start));
}

TEST_CASE("steps of one group are kept once in a while, another's at once") {
  step_signing x{peer(1), made_up(peer(1))};
  const auto signs
      = [&](std::uint64_t number, std::initializer_list<std::size_t> makers) {
          const auto step = signed_by({}, number, makers);
          x.made(step);
          for (auto other : makers)
            x.heard(said(other, step));
        };
  signs(1, {1, 2});
  CHECK(x.worth_keeping(true, start));
  signs(2, {1, 2});
  CHECK_FALSE(x.worth_keeping(true, start + 100ms));
  signs(3, {1, 2, 3});
  CHECK(x.worth_keeping(true, start + 100ms));
  signs(4, {1, 2, 3});
  CHECK_FALSE(x.worth_keeping(true, start + 1s));
  CHECK(x.worth_keeping(true, start + 1100ms));
}

TEST_CASE("who has no part in a step, or no key, signs nothing") {
  step_signing x{peer(4), made_up(peer(4))};
  CHECK(x.made(signed_by({}, 7, {1, 2, 3})).empty());
  x.heard(said(1, signed_by({}, 7, {1, 2, 3})));
  CHECK_FALSE(x.worth_keeping(false, start));
  step_signing mute{peer(1), nullptr};
  CHECK(mute.made(signed_by({}, 7, {1, 2, 3})).empty());
}

TEST_CASE("who makes its steps alone has signed them all") {
  step_signing x{peer(1), made_up(peer(1))};
  CHECK_FALSE(x.made(signed_by({}, 7, {1})).empty());
  CHECK(x.worth_keeping(true, start));
}
