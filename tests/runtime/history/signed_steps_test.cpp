#include "runtime/history/signed_steps.hpp"

#include <doctest/doctest.h>

#include "runtime/identity/key_pair.hpp"
#include "tests/runtime/history/signed_world.hpp"

using namespace potluck;
using namespace potluck::history_peers;

namespace {

std::size_t signers(const signed_step& x) {
  return static_cast<std::size_t>(
      std::count_if(x.makers.begin(), x.makers.end(),
                    [](auto& maker) { return !maker.by.empty(); }));
}

} // namespace

TEST_CASE("those made a step whose gradients are in it") {
  auto x = contract({{3, 10}, {1, 20}, {2, 30}, {4, 0}});
  group_member helper;
  helper.who.id = peer(5);
  helper.role = role::auxiliary;
  x.members.push_back(helper);
  const auto makers = makers_of(x, {2});
  REQUIRE(makers.size() == 2);
  CHECK(makers[0].id == peer(1));
  CHECK(makers[0].samples == 20);
  CHECK(makers[1].id == peer(3));
}

TEST_CASE("a signature covers all that a step is") {
  const auto key = key_pair::generate();
  const auto its = signatures_of(key);
  auto x = made_step(5, {1, 2});
  x.makers[0].id = key.id();
  x.makers[0].by = sign(x, *its);
  const auto holds = [&](void (*change)(signed_step&)) {
    auto y = x;
    change(y);
    drop_forgeries(y, *its);
    return !y.makers[0].by.empty();
  };
  CHECK(holds([](auto&) {}));
  CHECK_FALSE(holds([](auto& y) { y.charter.bytes[3] ^= 1; }));
  CHECK_FALSE(holds([](auto& y) { ++y.step; }));
  CHECK_FALSE(holds([](auto& y) { ++y.history_samples; }));
  CHECK_FALSE(holds([](auto& y) { ++y.samples; }));
  CHECK_FALSE(holds([](auto& y) { y.before.bytes[3] ^= 1; }));
  CHECK_FALSE(holds([](auto& y) { y.after.bytes[3] ^= 1; }));
  CHECK_FALSE(holds([](auto& y) { ++y.makers[0].samples; }));
  CHECK_FALSE(holds([](auto& y) { y.makers.pop_back(); }));
  CHECK_FALSE(holds([](auto& y) { y.makers[1].id = peer(3); }));
  CHECK_FALSE(holds([](auto& y) { y.makers[0].by.proof.bytes[3] ^= 1; }));
  // Nor does anybody sign for somebody else.
  CHECK_FALSE(holds([](auto& y) { y.makers[0].id = peer(1); }));
}

TEST_CASE("more than half of the weight has to sign") {
  const auto old = weights_of(made_step(1, {1, 2, 3, 4}));
  CHECK(most_have_signed(made_step(2, {1, 2, 3, 9}), old));
  CHECK_FALSE(most_have_signed(made_step(2, {1, 2, 8, 9}), old)); // Half.
  CHECK_FALSE(most_have_signed(signed_by({1, 2}, 2, {1, 2, 3}), old));
  auto heavy = made_step(1, {1, 2, 3});
  heavy.makers[0].samples = 1000; // Weighs as two usual ones, no more.
  CHECK_FALSE(most_have_signed(made_step(2, {1, 9}), weights_of(heavy)));
}

TEST_CASE("a group that stays the same is two steps") {
  signed_history x;
  for (std::uint64_t step = 1; step <= 100; ++step)
    x.add(made_step(step, {1, 2, 3}));
  CHECK(steps_of(x) == numbers{1, 100});
  CHECK(x.newest().step == 100);
}

TEST_CASE("the last steps of those that left are kept, and what leads on") {
  signed_history x;
  x.add(made_step(1, {1, 2, 3}));
  x.add(made_step(2, {1, 2, 3, 4}));
  x.add(made_step(3, {1, 2, 3}));
  CHECK(steps_of(x) == numbers{1, 2, 3});
  CHECK(x.is_signed_by_any({peer(4)}));
  CHECK_FALSE(x.is_signed_by_any({peer(5)}));
  // Then most of it changes, one after the other.
  x.add(made_step(4, {2, 3, 5}));
  x.add(made_step(5, {3, 5, 6}));
  x.add(made_step(6, {5, 6, 7}));
  CHECK(steps_of(x) == numbers{1, 2, 3, 4, 5, 6});
  // What does not lead to the newest is no proof of it.
  x.add(made_step(7, {7, 8, 9}));
  CHECK(steps_of(x) == numbers{7});
  // Nor is what comes later than it.
  x.add(made_step(3, {7, 8, 9}));
  CHECK(steps_of(x) == numbers{3});
}

TEST_CASE("few steps are kept, and the line stays whole") {
  signed_history x;
  for (std::uint64_t step = 1; step <= 60; ++step)
    x.add(made_step(step, {step, step + 1, step + 2}));
  CHECK(x.steps().size() == signed_history::most);
  CHECK(signed_history{x.steps(), *judge()}.steps().size()
        == signed_history::most);
  // Guests that come and go do not push out what is needed.
  signed_history y;
  y.add(made_step(1, {1, 2, 3}));
  for (std::uint64_t step = 2; step <= 60; ++step)
    y.add(made_step(step, {1, 2, 3, 10 + step}));
  CHECK(y.steps().front().step == 1);
  CHECK(y.steps().size() == signed_history::most);
}

TEST_CASE("of what is shown only that counts which holds") {
  const auto shown = [](std::vector<signed_step> x) {
    return signed_history{std::move(x), *judge()};
  };
  CHECK(shown({}).empty());
  CHECK(steps_of(shown({made_step(1, {1, 2, 3}), made_step(2, {2, 3, 4})}))
        == numbers{1, 2});
  // A step that most did not sign, whatever comes behind it.
  CHECK(shown({signed_by({1}, 1, {1, 2, 3})}).empty());
  CHECK(steps_of(shown({made_step(1, {1, 2, 3}), signed_by({1}, 2, {1, 2, 3}),
                        made_step(3, {1, 2})}))
        == numbers{3});
  // A signature under another step is none.
  auto bent = made_step(2, {1, 2, 3});
  bent.after = state(2, 'x');
  CHECK(shown({bent}).empty());
  drop_forgeries(bent, *judge());
  CHECK(signers(bent) == 0);
  // Another run's steps lead nowhere.
  auto other = made_step(1, {1, 2, 3});
  other.charter = state(2, 'c');
  CHECK(steps_of(shown({other, made_step(2, {1, 2, 3})})).size() == 1);
}

TEST_CASE("a history goes on with what most of its newest step have signed") {
  signed_history x;
  x.add(made_step(1, {1, 2, 3}));
  const auto shown = [](std::vector<signed_step> steps) {
    return signed_history{std::move(steps), *judge()};
  };
  CHECK(x.extend_with(shown({made_step(4, {1, 2, 4})})));
  CHECK(x.newest().step == 4);
  CHECK(
      x.extend_with(shown({made_step(5, {2, 4, 5}), made_step(9, {4, 5, 6})})));
  CHECK(x.newest().step == 9);
  // Not with strangers' steps, nor with what is older.
  CHECK_FALSE(x.extend_with(shown({made_step(20, {7, 8, 9}, 'x')})));
  CHECK_FALSE(x.extend_with(shown({made_step(8, {4, 5, 6}, 'x')})));
  CHECK(x.newest().step == 9);
}
