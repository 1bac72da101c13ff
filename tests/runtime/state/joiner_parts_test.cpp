/// The parts of a joiner, each alone: whom to ask, for which version, which
/// list of pieces to believe, what the trainer does next.
#include <doctest/doctest.h>

#include "runtime/state/limits.hpp"
#include "runtime/state/mean_course.hpp"
#include "runtime/state/piece_lists.hpp"
#include "runtime/state/version_choice.hpp"
#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using answer = donor_panel::answer;
using advice = version_choice::advice;

time_point at(duration since) {
  return time_point{since};
}

digest named(std::uint64_t number) {
  return digest_of(&number, sizeof(number));
}

std::vector<peer_id> ids(std::size_t count) {
  std::vector<peer_id> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(id_of(i));
  return result;
}

std::set<peer_id> asked(const donor_panel::letters& xs) {
  std::set<peer_id> result;
  for (auto& x : xs)
    result.insert(x.to);
  return result;
}

const state_request& wish(const state_letter& x) {
  return std::get<state_request>(x.content);
}

/// Lists one piece of the state after `step`, or of its mean.
state_manifest list_of(std::uint64_t step, std::uint64_t piece, bool mean) {
  state_manifest x;
  x.available = true;
  x.mean = mean;
  x.step = step;
  x.state = named(step);
  x.pieces = {named(piece)};
  return x;
}

} // namespace

// ---- whom to ask ------------------------------------------------------------

TEST_CASE("no more donors are asked than may be at once, each in its order") {
  donor_panel one{id_of(98), 3}, other{id_of(99), 3};
  one.begin(ids(40), 7, {});
  other.begin(ids(40), 7, {});
  auto first = asked(one.ask_for(7, named(7), false, at(0s)));
  CHECK(first.size() == 3);
  CHECK(first != asked(other.ask_for(7, named(7), false, at(0s))));
  CHECK_FALSE(one.add(id_of(50), at(0s)));
  one.remove(*first.begin());
  CHECK(one.add(id_of(51), at(0s)));
}

TEST_CASE(
    "a busy donor is asked again when it said, others hear that we live") {
  donor_panel x{id_of(99), 8};
  x.begin(ids(2), 7, {});
  auto first = x.ask_for(7, named(7), false, at(0s));
  x.find(id_of(0))->said = answer::busy;
  x.find(id_of(0))->retry = at(1s);
  CHECK(x.look(at(999ms)).empty());
  auto again = x.look(at(1s));
  REQUIRE(again.size() == 1);
  CHECK(again[0].to == id_of(0));
  // A new question, and the same one that was asked before.
  CHECK(wish(again[0]).token > wish(first[0]).token);
  auto signs = x.look(at(limits::joiner_sign_of_life));
  REQUIRE(signs.size() == 1);
  CHECK(signs[0].to == id_of(1));
  CHECK(wish(signs[0]).token == x.find(id_of(1))->wish.token);
}

TEST_CASE("while a relay does its work, donors are asked for lists only") {
  donor_panel x{id_of(99), 8};
  x.begin(ids(12), 7, {id_of(0), true});
  auto first = x.ask_for(6, named(6), true, at(0s));
  REQUIRE(first.size() == 1 + limits::lists_wanted);
  CHECK(first[0].to == id_of(0));
  CHECK_FALSE(wish(first[0]).lists_only);
  for (std::size_t i = 1; i < first.size(); ++i)
    CHECK(wish(first[i]).lists_only);
  auto second = x.ask_for_pieces(at(1s));
  CHECK(second.size() == 8 - 1);
  for (auto& letter : second)
    CHECK_FALSE(wish(letter).lists_only);
  CHECK(x.ask_for_pieces(at(1s)).empty());
}

TEST_CASE("a relay keeps others away as long as it may yet list the same") {
  preferred_relay x{id_of(1), false};
  const blob_key mean{false, 7};
  CHECK(x.keeps_others_away(mean, named(1), at(0s), at(1s)));
  CHECK_FALSE(x.keeps_others_away(mean, named(1), at(0s),
                                  at(limits::chain_patience + 1ms)));
  x.lists(mean, named(1));
  CHECK(x.keeps_others_away(mean, named(1), at(0s), at(1h)));
  CHECK_FALSE(x.keeps_others_away(mean, named(2), at(0s), at(1h)));
  x.was_late(at(1s));
  CHECK_FALSE(x.keeps_others_away(mean, named(1), at(0s), at(1s)));
  x.forget();
  CHECK_FALSE(x.has_listed(mean, named(1)));
}

TEST_CASE("a hub is too slow when nothing has come from it for long") {
  preferred_relay x{id_of(1), false, true};
  x.sent(at(1s));
  x.was_late(at(1s + limits::piece_cap));
  CHECK_FALSE(x.late());
  x.was_late(at(1s + limits::piece_cap + 1ms));
  CHECK(x.late());
}

TEST_CASE("joiners of one hub ask the same few for lists") {
  std::set<peer_id> asked;
  for (std::size_t self : {97u, 98u, 99u}) {
    donor_panel x{id_of(self), 8};
    x.begin(ids(12), self, {id_of(50), false, true});
    for (auto& letter : x.ask_for(6, named(6), false, at(0s)))
      asked.insert(letter.to);
  }
  CHECK(asked.size() == 1 + limits::lists_wanted);
}

TEST_CASE("a version that a hub keeps is followed where it is of use") {
  version_choice x{1000};
  fetch_goal goal;
  goal.step = 100;
  goal.own_step = 90;
  x.begin(goal, at(0s));
  for (auto useless : {std::uint64_t{0}, std::uint64_t{90}, std::uint64_t{100},
                       std::uint64_t{101}})
    CHECK_FALSE(x.follow(useless, goal, {}, at(1s)));
  CHECK(x.follow(97, goal, {}, at(1s)));
  CHECK(x.step() == 97);
  CHECK_FALSE(x.follow(97, goal, {}, at(1s)));
  goal.own_step = 0;
  CHECK_FALSE(x.follow(100 - limits::means_of_a_shelf - 1, goal, {}, at(1s)));
}

TEST_CASE("a liar is asked nothing until its time is over") {
  donor_panel x{id_of(99), 8};
  x.begin(ids(2), 7, {});
  x.ask_for(7, named(7), false, at(0s));
  x.distrust(id_of(0), at(60s));
  CHECK_FALSE(x.find(id_of(0)));
  x.begin(ids(2), 8, {});
  CHECK(asked(x.ask_for(8, named(8), false, at(1s)))
        == std::set<peer_id>{id_of(1)});
  x.expire_distrust(at(60s));
  CHECK_FALSE(x.distrusts(id_of(0)));
}

// ---- which list -------------------------------------------------------------

TEST_CASE("the list that most donors name is chosen, and a draw changes none") {
  piece_lists x;
  const blob_key key{true, 7};
  CHECK(x.name(id_of(1), list_of(7, 1, false), true, at(0s)).chosen_now);
  CHECK_FALSE(x.name(id_of(2), list_of(7, 2, false), true, at(0s)).chosen_now);
  CHECK(x.chosen(key)->manifest.pieces[0] == named(1));
  auto third = x.name(id_of(3), list_of(7, 2, false), true, at(0s));
  CHECK(third.chosen_now);
  CHECK(x.chosen(key)->manifest.pieces[0] == named(2));
  CHECK(x.outvoted(key, third.most, 3) == std::set<peer_id>{id_of(1)});
  // Two of four are no majority of those that were asked.
  CHECK(x.outvoted(key, third.most, 4).empty());
}

TEST_CASE("a donor has one vote, whatever it names") {
  piece_lists x;
  const blob_key key{true, 7};
  for (std::uint8_t i = 1; i <= 9; ++i)
    x.name(id_of(1), list_of(7, i, false), true, at(0s));
  x.name(id_of(2), list_of(7, 50, false), true, at(0s));
  const auto third = x.name(id_of(3), list_of(7, 50, false), true, at(0s));
  CHECK(third.chosen_now);
  CHECK(x.outvoted(key, third.most, 3) == std::set<peer_id>{id_of(1)});
}

TEST_CASE("who names many means alone is known") {
  piece_lists x;
  for (std::uint8_t step = 8; step <= 12; ++step)
    for (std::uint8_t who : {1, 2})
      x.name(id_of(who), list_of(step, 1, true), true, at(0s));
  CHECK_FALSE(x.alone_with(0, 2));
  for (std::uint8_t step = 20; step <= 24; ++step)
    x.name(id_of(3), list_of(step, 1, true), true, at(0s));
  CHECK_FALSE(x.alone_with(5, 2));
  CHECK(x.alone_with(4, 2) == id_of(3));
  CHECK_FALSE(x.alone_with(4, 1));
}

TEST_CASE("what is here is not thrown away for the word of one") {
  for (bool lied : {false, true}) {
    CAPTURE(lied);
    piece_lists x;
    x.name(id_of(1), list_of(7, 1, false), true, at(0s));
    if (lied)
      x.doubt(id_of(1));
    else
      x.forget(id_of(1));
    auto other = x.name(id_of(2), list_of(7, 2, false), false, at(0s));
    CHECK(other.chosen_now == lied);
  }
}

TEST_CASE("means are found by the state that they lead to") {
  piece_lists x;
  x.name(id_of(1), list_of(8, 1, true), true, at(0s));
  x.name(id_of(1), list_of(9, 1, true), true, at(0s));
  x.name(id_of(2), list_of(9, 1, true), true, at(0s));
  CHECK(x.leading_to(named(8), true) == blob_key{false, 8});
  CHECK_FALSE(x.leading_to(named(8), false));
  CHECK(x.any_behind(8, 2));
  CHECK_FALSE(x.any_behind(8, 3));
  CHECK_FALSE(x.any_behind(9, 0));
  x.forget(id_of(1));
  CHECK(x.unheld() == std::vector<blob_key>{{false, 8}});
}

// ---- which version ----------------------------------------------------------

TEST_CASE("a joiner fetches few means, or else a state") {
  for (std::uint64_t missed : {1, 3, 4}) {
    CAPTURE(missed);
    version_choice x{1000};
    fetch_goal goal;
    goal.step = 20;
    goal.state = named(20);
    goal.own_step = 20 - missed;
    goal.own_state = named(goal.own_step);
    auto way = x.begin(goal, at(0s));
    CHECK(way
          == (missed <= limits::means_of_a_state ? version_choice::way::means
                                                 : version_choice::way::state));
    CHECK(x.step() == (x.means_only() ? goal.own_step : goal.step));
  }
}

TEST_CASE("a version that donors are past is left for one that they can give") {
  version_choice x{1000};
  vouchers claims;
  fetch_goal goal;
  goal.step = 20;
  goal.state = named(20);
  x.begin(goal, at(0s));
  version_choice::situation s;
  SUBCASE("one that half of them keep for others") {
    claims.claim(id_of(1), 24, named(24));
    s.donors.refusals = {{30, 24}, {31, 0}};
    s.donors.declining = 2;
    CHECK(x.judge(s, goal, claims, at(1s)).what == advice::change);
    CHECK(x.step() == 24);
    CHECK(x.state() == named(24));
  }
  SUBCASE("a step ahead, since steps pass while it asks") {
    s.donors.refusals = {{26, 0}, {26, 0}, {900, 0}};
    s.donors.declining = 3;
    CHECK(x.judge(s, goal, claims, at(1s)).what == advice::change);
    // Six steps passed, by the donor in the middle: ten more, rounded up.
    CHECK(x.step() == 48);
    CHECK(x.state().empty());
    CHECK_FALSE(x.reached());
    s.donors = {};
    s.donors.waiting = 3;
    SUBCASE("to which they come") {
      x.heard_of(48, at(2s));
      CHECK(x.reached());
      CHECK(x.judge(s, goal, claims, at(9s)).what == advice::go_on);
    }
    SUBCASE("before which they stand still") {
      // Asking took a second.
      x.heard_of(31, at(4s));
      const auto still = 4s + version_choice::standstill_times * 1s;
      CHECK(x.judge(s, goal, claims, at(still)).what == advice::go_on);
      claims.claim(id_of(1), 31, named(31));
      CHECK(x.judge(s, goal, claims, at(still + 1ms)).what == advice::change);
      CHECK(x.step() == 31);
      CHECK(x.state() == named(31));
    }
  }
  SUBCASE("the step that a single donor is at, for that makes room") {
    std::uint64_t step = 26;
    for (unsigned i = 0; i < version_choice::tries_alone; ++i, step += 6) {
      s.donors.refusals = {{step, 0}};
      s.donors.declining = 1;
      CHECK(x.judge(s, goal, claims, at(1s)).what == advice::change);
      CHECK(x.step() == step);
    }
    s.donors.refusals = {{step, 0}}; // It does not.
    CHECK(x.judge(s, goal, claims, at(1s)).what == advice::change);
    CHECK(x.step() > step + 6);
  }
  SUBCASE("not while any donor may yet answer") {
    s.donors.refusals = {{26, 0}};
    s.donors.declining = s.donors.waiting = 1;
    CHECK(x.judge(s, goal, claims, at(1s)).what == advice::go_on);
  }
}

TEST_CASE("what is here in part is put aside when nobody serves it, and found "
          "again") {
  version_choice x{1000};
  fetch_goal goal;
  goal.step = 20;
  goal.state = named(20);
  x.begin(goal, at(0s));
  version_choice::situation nobody;
  nobody.pieces_here = true;
  CHECK(x.judge(nobody, goal, {}, at(1s)).what == advice::go_on);
  auto end = at(1s + limits::donorless_patience + 1ms);
  CHECK(x.judge(nobody, goal, {}, end).what == advice::set_aside);
  x.put_aside(named(20), end);
  goal.step = 40;
  goal.state = named(40);
  CHECK(x.begin(goal, end + 1s) == version_choice::way::resumed);
  CHECK(x.step() == 20);
  CHECK(x.begin(goal, end + limits::parked_life) == version_choice::way::state);
}

TEST_CASE("a state that all its reporters lied about is given up at once") {
  version_choice x{1000};
  fetch_goal goal;
  goal.step = 20;
  goal.state = named(20);
  x.begin(goal, at(0s));
  version_choice::situation s;
  s.lied = true;
  CHECK(x.judge(s, goal, {}, at(0s)).what == advice::fail);
  s.donors.serving = 1; // Somebody else has it after all.
  CHECK(x.judge(s, goal, {}, at(0s)).what == advice::go_on);
}

// ---- the way ----------------------------------------------------------------

TEST_CASE("means are applied one by one, each to the state that it should") {
  using turn = mean_course::turn;
  mean_course x{7, false};
  mean_course::view view;
  view.listed = view.complete = true;
  CHECK(x.look(view) == turn::wait); // For the state.
  x.await(7, named(7));
  CHECK(x.look(view) == turn::wait);
  CHECK(x.applied(8, named(8)) == mean_course::verdict::unasked);
  CHECK(x.applied(7, named(7)) == mean_course::verdict::arrived);
  CHECK(x.look(view) == turn::apply);
  x.await(8, named(8));
  CHECK(x.applied(8, named(9)) == mean_course::verdict::wrong);
  CHECK(x.applied(8, named(8)) == mean_course::verdict::arrived);
  CHECK(x.at() == 8);
  CHECK(x.look({}) == turn::level);
  mean_course::view gap;
  gap.later = gap.asked = true;
  CHECK(x.look(gap) == turn::wait);
  gap.asked = false;
  CHECK(x.look(gap) == turn::stuck);
}
