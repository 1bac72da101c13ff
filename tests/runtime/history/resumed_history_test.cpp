#include "runtime/history/resumed_history.hpp"

#include <doctest/doctest.h>

#include "runtime/history/history_exchange.hpp"
#include "tests/runtime/history/signed_world.hpp"

using namespace potluck;
using namespace potluck::history_peers;

namespace {

const auto run = state(1, 'c');

/// What a checkpoint after `step` holds, with digests of so many steps.
resumed_state held_after(std::uint64_t step, std::size_t digests) {
  resumed_state result{step, {}};
  for (std::size_t i = 0; i < digests; ++i)
    result.recent.push_back(state(step - i, 'a'));
  return result;
}

} // namespace

TEST_CASE("a checkpoint's history counts where it leads to its state") {
  const std::vector<signed_step> shown{made_step(5, {1, 2}),
                                       made_step(9, {1, 2, 3})};
  const auto read = [&](const resumed_state& held) {
    return steps_of(resumed_history(shown, run, held, *judge()));
  };
  CHECK(read(held_after(9, 4)) == numbers{5, 9});
  // Not all steps are kept.
  CHECK(read(held_after(12, 8)) == numbers{5, 9});
  CHECK(read(held_after(100, 8)) == numbers{5, 9});
  // It is of later ones, or of others.
  CHECK(read(held_after(8, 4)).empty());
  auto other = held_after(12, 8);
  other.recent[3] = state(9, 'x');
  CHECK(read(other).empty());
  CHECK(resumed_history(shown, state(2, 'c'), held_after(9, 4), *judge())
            .empty());
}

TEST_CASE("of a checkpoint's history nothing counts that is forged") {
  auto last = made_step(9, {1, 2});
  for (auto& maker : last.makers)
    maker.by.proof.bytes[0] ^= 1;
  CHECK(resumed_history({made_step(5, {1, 2}), last}, run, held_after(9, 4),
                        *judge())
            .empty());
  // Those that made the one before have not signed the next.
  CHECK(steps_of(resumed_history({made_step(5, {1, 2}), made_step(9, {3, 4})},
                                 run, held_after(9, 4), *judge()))
        == numbers{9});
}

TEST_CASE("who has resumed a checkpoint shows its history, and goes on from "
          "it") {
  history_exchange::settings how;
  how.run = "poems";
  how.charter = run;
  how.how = judge();
  how.resumed = signed_history{{made_step(5, {1, 2}), made_step(9, {1, 2, 3})},
                               *judge()};
  // Nobody is shown what this peer was not asked for by a guest.
  history_exchange x{how, {}};
  CHECK(x.answer(peer(30), {1, "poems"}).steps.empty());
  x.joined(peer(30), true);
  CHECK(x.answer(peer(30), {1, "poems"}).steps.size() == 2);
  SUBCASE("with its next step, which most of them make") {
    x.made(made_step(10, {1, 2}), start);
    CHECK(steps_of(x.shown()) == numbers{5, 9, 10});
  }
  SUBCASE("but not with a step of others") {
    x.made(made_step(10, {1, 7}), start);
    CHECK(steps_of(x.shown()) == numbers{10});
  }
}

TEST_CASE("who has resumed a checkpoint asks its friends all the same") {
  history_exchange::settings how;
  how.run = "poems";
  how.charter = run;
  how.trusted = {peer(100)};
  how.how = judge();
  how.resumed = signed_history{{made_step(9, {1, 2})}, *judge()};
  history_exchange x{how, {}};
  const auto asked = x.joined(peer(100), true);
  const auto question = asked.questions.find(peer(100));
  REQUIRE(question != asked.questions.end());
  const auto told = x.told(
      peer(100), {question->second.token, "poems", {made_step(20, {3, 4})}},
      start);
  REQUIRE(told.roots);
  CHECK(told.roots->count(peer(3)) == 1);
  CHECK(steps_of(x.shown()) == numbers{20});
}
