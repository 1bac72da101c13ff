#include "runtime/history/history_exchange.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/history/signed_world.hpp"

using namespace potluck;
using namespace potluck::history_peers;
using namespace std::chrono_literals;

namespace {

using shown = std::vector<signed_step>;

/// Whom the invitation names.
const auto friendly = peer(100);

history_exchange::settings newcomer() {
  history_exchange::settings how;
  how.run = "poems";
  how.charter = state(1, 'c');
  how.trusted = {friendly};
  how.how = judge();
  return how;
}

history_exchange::settings keeper() {
  history_exchange::settings how;
  how.run = "poems";
  how.keeps = true;
  how.how = judge();
  return how;
}

/// Whether it was asked; then it answers that.
history_exchange::outcome answers(history_exchange& x, const peer_id& who,
                                  const history_exchange::outcome& asked,
                                  const shown& what, time_point now = start) {
  const auto question = asked.questions.find(who);
  REQUIRE(question != asked.questions.end());
  CHECK(question->second.run == "poems");
  return x.told(who, {question->second.token, "poems", what}, now);
}

} // namespace

TEST_CASE("a newcomer goes by what those show that its invitation names") {
  history_exchange x{newcomer(), {}};
  // Five liars come first, and have signed what they show.
  const shown lie{made_step(1000, {11, 12, 13, 14, 15}, 'x')};
  for (std::size_t liar = 11; liar <= 15; ++liar) {
    const auto asked = x.joined(peer(liar), true);
    CHECK_FALSE(answers(x, peer(liar), asked, lie).roots);
  }
  CHECK(x.held().empty());
  const auto asked = x.joined(friendly, false);
  const auto told = answers(x, friendly, asked, {made_step(9, {1, 2})});
  REQUIRE(told.roots);
  CHECK(told.roots->size() == 2);
  CHECK(told.roots->count(peer(1)) == 1);
  CHECK(told.changed);
  // What it took over it shows to others.
  const auto later = x.joined(peer(30), true);
  CHECK(later.questions.empty());
  CHECK(x.answer(peer(30), {1, "poems"}).steps.size() == 1);
}

TEST_CASE("a newcomer goes by what those have signed whom it cannot reach") {
  history_exchange x{newcomer(), {}};
  const auto lies = x.joined(peer(11), true);
  // A signature that is not theirs is none.
  auto forged = signed_by({11, 12}, 1000, {11, 12, 100}, 'x');
  forged.makers[2].by = forged.makers[1].by;
  CHECK_FALSE(answers(x, peer(11), lies, {forged}).roots);
  const auto asked = x.joined(peer(1), true);
  const auto told = answers(
      x, peer(1), asked, {made_step(5, {1, 2, 100}), made_step(9, {1, 2, 3})});
  REQUIRE(told.roots);
  CHECK(told.roots->count(peer(3)) == 1);
  CHECK(told.roots->count(friendly) == 0);
}

TEST_CASE("whom it trusts may have nothing to show") {
  history_exchange x{newcomer(), {}};
  const auto told = answers(x, friendly, x.joined(friendly, false), {});
  REQUIRE(told.roots);
  CHECK(told.roots->empty());
  // A stranger's silence says nothing.
  CHECK_FALSE(answers(x, peer(1), x.joined(peer(1), true), {}).roots);
}

TEST_CASE("nothing is read that was not asked for, or is another run's") {
  history_exchange x{newcomer(), {}};
  const shown truth{made_step(9, {1, 2})};
  CHECK_FALSE(x.told(friendly, {1, "poems", truth}, start).roots);
  const auto asked = x.joined(friendly, false);
  const auto token = asked.questions.at(friendly).token;
  CHECK_FALSE(x.told(friendly, {token + 1, "poems", truth}, start).roots);
  CHECK_FALSE(x.told(peer(1), {token, "poems", truth}, start).roots);
  auto other = made_step(9, {1, 2});
  other.charter = state(2, 'c');
  const auto told = x.told(friendly, {token, "poems", {other}}, start);
  REQUIRE(told.roots);
  CHECK(told.roots->empty());
  CHECK_FALSE(x.told(friendly, {token, "poems", truth}, start).roots);
}

TEST_CASE("few strangers are asked, and nobody where nobody is trusted") {
  history_exchange x{newcomer(), {}};
  std::size_t asked = 0;
  for (std::size_t i = 1; i <= 40; ++i)
    asked += x.joined(peer(i), true).questions.size();
  CHECK(asked == history_exchange::most_strangers);
  CHECK(x.joined(friendly, false).questions.size() == 1);
  auto how = newcomer();
  how.trusted.clear();
  history_exchange alone{how, {}};
  CHECK(alone.joined(peer(1), true).questions.empty());
}

TEST_CASE("own steps go on from what was taken over") {
  history_exchange x{newcomer(), {}};
  answers(x, friendly, x.joined(friendly, false), {made_step(5, {1, 2, 3})});
  x.made(made_step(6, {1, 2, 3, 4}), start);
  CHECK(x.held().steps().size() == 2);
  // What most have not signed is not kept; forgeries do not count.
  auto forged = made_step(7, {1, 2, 3, 4});
  for (auto& maker : forged.makers)
    maker.by.proof.bytes[0] ^= 1;
  x.made(forged, start);
  CHECK(x.held().newest().step == 6);
}

TEST_CASE("a keeper follows the history that it has first heard of") {
  history_exchange x{keeper(), {}};
  CHECK(x.joined(peer(50), false).questions.empty());
  answers(x, peer(1), x.joined(peer(1), true), {made_step(5, {1, 2, 3})});
  CHECK(x.held().newest().step == 5);
  x.joined(peer(11), true);
  // From now on those are asked that made it, one after the other.
  auto now = start;
  auto asked = x.look(now);
  CHECK(asked.questions.size() == 1);
  answers(x, peer(1), asked, {made_step(5, {1, 2, 3}), made_step(8, {1, 2, 4})},
          now);
  CHECK(x.held().newest().step == 8);
  CHECK(x.look(now + 1s).questions.empty());
  now += history_exchange::pause;
  asked = x.look(now);
  CHECK(asked.questions.count(peer(1)) == 1);
  // It cannot be led elsewhere by a few of them.
  answers(x, peer(1), asked, {made_step(99, {1, 7, 8}, 'x')}, now);
  CHECK(x.held().newest().step == 8);
}

TEST_CASE("a keeper without a history asks few of those that come") {
  history_exchange x{keeper(), {}};
  std::size_t asked = 0;
  for (std::size_t i = 1; i <= 40; ++i)
    asked += x.joined(peer(i), true).questions.size();
  CHECK(asked == 1);
  CHECK(x.look(start + 1s).questions.size() == 1);
  CHECK(x.joined(peer(41), true).questions.size() == 1);
}

TEST_CASE("a keeper believes a first history that most here have made") {
  history_exchange x{keeper(), {}};
  x.joined(peer(1), true);
  x.joined(peer(2), true);
  // A liar has signed one, before the others have made a step.
  x.look(start);
  answers(x, peer(11), x.joined(peer(11), true), {made_step(1000, {11}, 'x')});
  CHECK(x.held().empty());
  x.look(start);
  answers(x, peer(2), x.joined(peer(2), true), {made_step(1, {1, 2})});
  CHECK(x.held().newest().step == 1);
}

TEST_CASE("a keeper shows nothing that nobody goes on with") {
  history_exchange x{keeper(), {}};
  answers(x, peer(1), x.joined(peer(1), true), {made_step(5, {1, 2, 3})});
  x.joined(peer(30), true);
  CHECK(x.answer(peer(30), {7, "poems"}).steps.size() == 1);
  CHECK(x.answer(peer(30), {7, "poems"}).token == 7);
  CHECK(x.answer(peer(31), {7, "poems"}).steps.empty()); // Not of the run.
  // It is back, and has lost what it had.
  x.left(peer(1));
  CHECK(x.answer(peer(30), {7, "poems"}).steps.empty());
  answers(x, peer(1), x.joined(peer(1), true), {});
  CHECK(x.answer(peer(30), {7, "poems"}).steps.empty());
  x.left(peer(1));
  x.look(start + 1s);
  CHECK_FALSE(x.held().empty());
  x.look(start + history_exchange::memory + 2s);
  CHECK(x.held().empty());
}

TEST_CASE("without keys nothing is asked or believed") {
  auto how = newcomer();
  how.how = nullptr;
  history_exchange x{how, {}};
  CHECK(x.joined(friendly, false).questions.empty());
  x.made(made_step(6, {1, 2}), start);
  CHECK(x.held().empty());
}
