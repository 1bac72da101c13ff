/// What a donor keeps and gives: the journal, the budget, the vouchers.
#include <doctest/doctest.h>

#include <map>

#include "runtime/random.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/state/mean_journal.hpp"
#include "runtime/state/pieces.hpp"
#include "runtime/state/serving_budget.hpp"
#include "runtime/state/vouchers.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

digest after(std::uint64_t step) {
  return digest_of(&step, sizeof(step));
}

passed_mean mean(std::uint64_t step) {
  return {step,        64,
          64 * step,   after(step - 1),
          after(step), std::make_shared<std::vector<float>>(100, 1.0f)};
}

peer_id joiner(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

time_point at(duration since) {
  return time_point{since};
}

piece_request asking(std::uint64_t arrived) {
  return {after(1), 0, false, arrived};
}

/// For a mean's piece.
piece_request missing(std::uint64_t arrived) {
  return {after(1), 0, true, arrived};
}

} // namespace

TEST_CASE("a journal keeps the newest means, and those that joiners need") {
  mean_journal journal{{4, 20, 1u << 20}};
  for (std::uint64_t step = 1; step <= 10; ++step)
    journal.add(mean(step));
  CHECK(journal.size() == 4);
  CHECK(journal.oldest() == 7);
  journal.keep_after(8);
  for (std::uint64_t step = 11; step <= 20; ++step)
    journal.add(mean(step));
  CHECK(journal.oldest() == 9);
  CHECK(journal.completing(8) == nullptr);
  CHECK(journal.completing(9)->after == after(9));
  CHECK(journal.leading_to(after(12))->step == 12);
  CHECK(journal.manifest(12).pieces.size() == 1);
  journal.keep_after(std::nullopt);
  CHECK(journal.size() == 4);
}

TEST_CASE(
    "of many bytes a journal keeps one mean, and none that nobody missed") {
  mean_journal journal{{4, 20, 1u << 20, 1000}}; // A mean has 400.
  for (std::uint64_t step = 1; step <= 3; ++step)
    journal.add(mean(step));
  CHECK(journal.size() == 2);
  mean_journal large{{4, 20, 1u << 20, 100}};
  large.add(mean(1));
  large.add(mean(2));
  CHECK(large.size() == 1);
  CHECK(large.oldest() == 2);
  auto lone = mean(3);
  lone.lone = true;
  large.add(lone);
  CHECK(large.size() == 0);
  large.keep_after(3); // Somebody joins.
  lone = mean(4);
  lone.lone = true;
  large.add(lone);
  CHECK(large.completing(4) != nullptr);
  CHECK(large.leading_to(after(4)) != nullptr);
  large.keep_after(std::nullopt);
  CHECK(large.size() == 0);
}

TEST_CASE("a journal's bounds hold whatever joiners need") {
  mean_journal by_count{{4, 20, 1u << 20}};
  mean_journal by_bytes{{4, 20, 6 * 400}};
  for (auto journal : {&by_count, &by_bytes}) {
    journal->keep_after(0);
    for (std::uint64_t step = 1; step <= 50; ++step)
      journal->add(mean(step));
  }
  CHECK(by_count.size() == 20);
  CHECK(by_bytes.size() == 6);
}

TEST_CASE("however large means are, one is kept, and for joiners a few") {
  mean_journal journal{{4, 20, 100, 100}}; // A mean has 400.
  journal.add(mean(1));
  CHECK(journal.completing(1) != nullptr);
  journal.keep_after(1);
  for (std::uint64_t step = 2; step <= 10; ++step)
    journal.add(mean(step));
  CHECK(journal.size() == limits::means_of_a_state + 1);
  journal.keep_after(std::nullopt);
  CHECK(journal.size() == 1);
}

TEST_CASE("a journal forgets what came after a state that is held again") {
  mean_journal journal{{4, 20, 1u << 20}};
  for (std::uint64_t step = 1; step <= 4; ++step)
    journal.add(mean(step));
  journal.back_to(4, after(4));
  CHECK(journal.size() == 4);
  journal.back_to(2, after(2));
  CHECK(journal.size() == 2);
  CHECK(journal.completing(3) == nullptr);
  journal.back_to(2, after(7)); // Another state of that step.
  CHECK(journal.size() == 1);
}

TEST_CASE("a journal begins anew with another history") {
  mean_journal journal{{4, 20, 1u << 20}};
  journal.add(mean(1));
  journal.add(mean(2));
  auto other = mean(3);
  other.before = after(77);
  journal.add(other);
  CHECK(journal.size() == 1);
  CHECK(journal.oldest() == 3);
}

TEST_CASE("pieces for who is behind a hub wait here, not before its letters") {
  constexpr std::uint64_t size = 64 << 10;
  serving_budget budget{{2, 4u << 20, 0, 30s, 1}};
  budget.reach(joiner(1), true);
  budget.admit(joiner(1), at(0s));
  budget.admit(joiner(2), at(0s));
  const auto sent_to = [&] {
    std::map<peer_id, std::size_t> result;
    while (auto turn = budget.next(at(0s)))
      ++result[turn->joiner];
    return result;
  };
  for (int i = 0; i < 8; ++i)
    for (auto& id : {joiner(1), joiner(2)})
      CHECK(budget.ask(id, asking(0), size, at(0s)));
  auto first = sent_to();
  CHECK(first[joiner(1)] == limits::relayed_bytes_in_flight / size);
  CHECK(first[joiner(2)] == 8);
  budget.ask(joiner(1), asking(size), size, at(0s));
  CHECK(sent_to()[joiner(1)] == 1);
  // A direct line has taken over.
  budget.reach(joiner(1), false);
  CHECK(sent_to()[joiner(1)] == 6);
}

TEST_CASE("one joiner more than the budget is turned away until one is done") {
  serving_budget budget{{2, 1000, 0, 30s, 1}};
  CHECK(budget.admit(joiner(1), at(0s)));
  CHECK(budget.admit(joiner(2), at(0s)));
  CHECK(budget.admit(joiner(1), at(0s)));
  CHECK_FALSE(budget.admit(joiner(3), at(0s)));
  SUBCASE("it says so") {
    budget.forget(joiner(1));
  }
  SUBCASE("it is silent") {
    CHECK(budget.expire(at(30s)).empty());
    budget.admit(joiner(2), at(30s));
    CHECK(budget.expire(at(31s)) == std::vector<peer_id>{joiner(1)});
  }
  CHECK(budget.admit(joiner(3), at(31s)));
}

TEST_CASE("those who fetch little take no place from those who fetch much") {
  serving_budget budget{{1, 1000, 0, 30s, 1}};
  CHECK(budget.admit(joiner(1), at(0s), 3));
  CHECK(budget.admit(joiner(2), at(0s), 3));
  CHECK(budget.admit(joiner(3), at(0s)));
  CHECK_FALSE(budget.admit(joiner(4), at(0s)));
  CHECK_FALSE(budget.admit(joiner(4), at(0s), 3));
}

TEST_CASE("no more is in flight to a joiner than it may have") {
  serving_budget budget{{2, 1000, 0, 30s, 1}};
  CHECK(!budget.ask(joiner(1), asking(0), 400, at(0s)));
  budget.admit(joiner(1), at(0s));
  for (int i = 0; i < 2; ++i) {
    CHECK(budget.ask(joiner(1), asking(0), 400, at(0s)));
    CHECK(budget.next(at(0s)));
  }
  CHECK(budget.ask(joiner(1), asking(0), 400, at(0s)));
  CHECK_FALSE(budget.next(at(0s)));
  CHECK(!budget.ask(joiner(1), asking(0), 400, at(0s)));
  // What has arrived makes room.
  CHECK(budget.ask(joiner(1), asking(400), 200, at(0s)));
  CHECK(budget.next(at(0s)));
}

TEST_CASE("joiners share the bytes a second, each in its turn") {
  serving_budget budget{{2, 1u << 20, 1000, 30s, 1}};
  for (std::uint8_t i : {1, 2}) {
    budget.admit(joiner(i), at(0s));
    for (int n = 0; n < 10; ++n)
      budget.ask(joiner(i), asking(0), 100, at(0s));
  }
  std::map<peer_id, int> turns;
  for (duration now{0}; now < 1s; now += 10ms) {
    while (auto turn = budget.next(at(now)))
      ++turns[turn->joiner];
    REQUIRE(budget.wake());
    CHECK(*budget.wake() > at(now));
  }
  CHECK(turns[joiner(1)] == 5);
  CHECK(turns[joiner(2)] == 5);
}

TEST_CASE("who trains and misses a mean is not held back with joiners") {
  serving_budget budget{{2, 1u << 20, 1000, 30s, 1}};
  budget.admit(joiner(1), at(0s));
  budget.admit(joiner(2), at(0s));
  budget.grant(joiner(2), 7, 800); // And a quarter.
  for (std::uint8_t i : {1, 2})
    for (int n = 0; n < 10; ++n)
      budget.ask(joiner(i), missing(0), 100, at(0s));
  std::map<peer_id, int> turns;
  while (auto turn = budget.next(at(0s)))
    ++turns[turn->joiner];
  CHECK(turns[joiner(1)] == 1);
  CHECK(turns[joiner(2)] == 10);
  REQUIRE(budget.wake());
  CHECK(*budget.wake() == at(100ms));
}

TEST_CASE("one mean is given for nothing once, however often it is asked for") {
  serving_budget budget{{2, 1u << 20, 1000, 30s, 1}};
  auto got_at_once = [&] {
    for (int n = 0; n < 10; ++n)
      budget.ask(joiner(1), missing(0), 100, at(0s));
    int turns = 0;
    while (budget.next(at(0s)))
      ++turns;
    return turns;
  };
  for (int again = 0; again < 3; ++again) {
    budget.parted(joiner(1));
    budget.forget(joiner(1));
    budget.admit(joiner(1), at(0s));
    budget.grant(joiner(1), 7, 400);
    CHECK(got_at_once() == (again == 0 ? 6 : 0)); // One in its turn.
  }
  budget.begins_anew(joiner(1));
  budget.grant(joiner(1), 8, 400);
  CHECK(got_at_once() == 5);
  budget.begins_anew(joiner(1));
  budget.back_to(5);
  budget.grant(joiner(1), 6, 400);
  budget.ask(joiner(1), asking(0), 100, at(0s)); // Not of a mean.
  CHECK_FALSE(budget.next(at(0s)));
  budget.begins_anew(joiner(1));
  CHECK(got_at_once() == 5);
}

TEST_CASE("who wants no means saves up few") {
  serving_budget budget{{1, 1u << 20, 1000, 30s, 1}};
  budget.admit(joiner(1), at(0s));
  for (std::uint64_t step = 1; step <= 100; ++step)
    budget.grant(joiner(1), step, 80);
  for (int n = 0; n < 10; ++n)
    budget.ask(joiner(1), missing(0), 100, at(0s));
  int turns = 0;
  while (budget.next(at(0s)))
    ++turns;
  CHECK(turns == 5); // Four, and one in its turn.
}

TEST_CASE("a digest is believed when more than half of the voices name it") {
  vouchers x;
  CHECK_FALSE(x.believed(5));
  x.claim(joiner(1), 5, after(1));
  CHECK(x.believed(5) == after(1));
  x.claim(joiner(2), 5, after(2));
  CHECK_FALSE(x.believed(5));
  x.claim(joiner(3), 5, after(2));
  CHECK(x.believed(5) == after(2));
  x.forget(joiner(3));
  CHECK_FALSE(x.believed(5));
}

TEST_CASE("pieces grow only where there would be too many") {
  CHECK(piece_bytes_for(1) == 16u << 10);
  CHECK(piece_bytes_for(std::uint64_t{4} << 20) == 16u << 10);
  CHECK(piece_bytes_for((std::uint64_t{4} << 20) + 1) == 32u << 10);
  CHECK(piece_bytes_for(std::uint64_t{16} << 20) == 64u << 10);
  CHECK(piece_bytes_for(std::uint64_t{512} << 20) == 64u << 10);
  CHECK(piece_bytes_for((std::uint64_t{512} << 20) + 1) == 128u << 10);
  CHECK(piece_bytes_for(max_state_bytes) == max_body_bytes);
  CHECK(state_bytes(max_state_values) / max_body_bytes < max_pieces);
}

TEST_CASE("who only listens takes nobody's place, and gets no pieces") {
  serving_budget budget{{2, 1000, 0, 10s, 3}};
  for (std::uint8_t i = 10; i < 13; ++i)
    CHECK(budget.listens(joiner(i), at(0s)));
  CHECK_FALSE(budget.listens(joiner(13), at(0s)));
  CHECK(budget.listens(joiner(10), at(0s)));
  CHECK(budget.joiners() == 0);
  CHECK(budget.admit(joiner(1), at(0s)));
  CHECK(budget.admit(joiner(2), at(0s)));
  CHECK_FALSE(budget.admit(joiner(3), at(0s)));
  CHECK(budget.joiners() == 2);
  CHECK(!budget.ask(joiner(10), asking(0), 100, at(0s)));
  CHECK(budget.expire(at(11s)).size() == 5);
  CHECK(budget.listens(joiner(13), at(11s)));
}

namespace {

/// Four places, as a donor has.
serving_budget four_places() {
  return serving_budget{{4, 1000, 0, 30s, 8}};
}

} // namespace

TEST_CASE("a place that brings nothing is somebody else's") {
  auto budget = four_places();
  for (std::uint8_t i = 1; i <= 4; ++i) {
    budget.reach(joiner(i), false, "192.0.2." + std::to_string(i));
    CHECK(budget.admit(joiner(i), at(0s)));
  }
  budget.reach(joiner(5), false, "198.51.100.1");
  CHECK_FALSE(budget.admit(joiner(5), at(1s)));
  CHECK_FALSE(budget.gives_way(joiner(5), at(1s)));
  // All say that they are there; three of them fetch as well.
  for (std::uint8_t i = 1; i <= 4; ++i)
    CHECK(budget.admit(joiner(i), at(9s)));
  for (std::uint8_t i = 2; i <= 4; ++i)
    CHECK(budget.ask(joiner(i), asking(0), 100, at(9s)));
  CHECK(budget.gives_way(joiner(5), at(limits::place_patience)) == joiner(1));
}

TEST_CASE("a home has no more places than are wanted elsewhere") {
  auto budget = four_places();
  for (std::uint8_t i = 1; i <= 4; ++i) {
    budget.reach(joiner(i), false, "192.0.2.1");
    CHECK(budget.admit(joiner(i), at(i * 1s)));
  }
  // Another of the same school waits;
  budget.reach(joiner(9), false, "192.0.2.1");
  CHECK_FALSE(budget.gives_way(joiner(9), at(5s)));
  // others do not, until each has as many.
  for (std::uint8_t i = 5; i <= 7; ++i) {
    budget.reach(joiner(i), false, "198.51.100." + std::to_string(i));
    CHECK_FALSE(budget.admit(joiner(i), at(5s)));
    const auto other = budget.gives_way(joiner(i), at(5s));
    REQUIRE(other);
    CHECK(*other == joiner(static_cast<std::uint8_t>(i - 4))); // The oldest.
    budget.forget(*other);
    CHECK(budget.admit(joiner(i), at(5s)));
  }
  budget.reach(joiner(8), false, "198.51.100.8");
  CHECK_FALSE(budget.gives_way(joiner(8), at(5s)));
  budget.parted(joiner(4));
  CHECK_FALSE(budget.gives_way(joiner(8), at(5s)));
}

TEST_CASE("who has had a place for long leaves it to who waits") {
  auto budget = four_places();
  for (std::uint8_t i = 1; i <= 4; ++i)
    CHECK(budget.admit(joiner(i), at(i * 1s)));
  const auto late = at(limits::place_life + 1s);
  for (std::uint8_t i = 1; i <= 4; ++i)
    budget.ask(joiner(i), asking(0), 100, late);
  CHECK(budget.gives_way(joiner(5), late) == joiner(1));
  CHECK_FALSE(budget.gives_way(joiner(5), late - 1s));
}
