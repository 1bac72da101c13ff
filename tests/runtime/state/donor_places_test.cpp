/// Who has a donor's few places, and who does not.
#include <doctest/doctest.h>

#include "tests/runtime/state/steps.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t values = 100;
const time_point begin{100s};

/// A donor at step 7 that has made a copy of its state.
waiting_donor donor() {
  waiting_donor x{
      {{limits::joiners_served, limits::joiner_bytes_in_flight, 0,
        limits::joiner_silence, limits::listeners_served},
       {limits::means_kept, limits::journal_steps, limits::journal_bytes},
       limits::snapshots_kept}};
  x.holds(7, state_of(values, 7).recent.front(), begin);
  return x;
}

state_request wish(std::uint64_t token, std::uint64_t step) {
  state_request x;
  x.token = token;
  x.step = step;
  return x;
}

/// The donor's last word to the peer.
state_manifest last_word(waiting_donor& x, const peer_id& to) {
  state_manifest result;
  for (auto& letter : x.take_letters())
    if (letter.to == to)
      if (auto* manifest = std::get_if<state_manifest>(&letter.content))
        result = *manifest;
  return result;
}

} // namespace

TEST_CASE("who asks for a step that is far ahead gets no place") {
  auto x = donor();
  for (std::size_t i = 0; i < 4; ++i) {
    x.read(id_of(i), wish(i, 1'000'000'000), begin);
    const auto word = last_word(x, id_of(i));
    CHECK_FALSE(word.available);
    CHECK(word.retry_ms == 0);
    CHECK(word.step == 7);
  }
  CHECK(x.budget().joiners() == 0);
}

TEST_CASE("whoever is declined leaves the place to others") {
  auto x = donor();
  // Copies are kept of so many steps; whoever wants a further one is declined.
  for (std::size_t i = 0; i < limits::snapshots_kept; ++i)
    x.read(id_of(i), wish(i, 8 + i), begin);
  x.read(id_of(8), wish(8, 20), begin);
  CHECK_FALSE(last_word(x, id_of(8)).available);
  CHECK(x.budget().joiners() == limits::snapshots_kept);
  CHECK_FALSE(x.budget().serves(id_of(8)));
  // Nor has a place who wants what is past, and of which no means are left.
  x.read(id_of(9), wish(9, 3), begin);
  CHECK_FALSE(x.budget().serves(id_of(9)));
}

TEST_CASE("who wants the present state has room beside those that want later "
          "ones") {
  for (const bool lists : {true, false}) {
    CAPTURE(lists);
    auto x = donor();
    for (std::size_t i = 0; i < limits::snapshots_kept; ++i) {
      auto far = wish(i, 1000 + i);
      far.lists_only = lists;
      x.read(id_of(i), far, begin);
    }
    x.read(id_of(8), wish(8, 7), begin + 1s);
    CHECK(x.wants_copy());
    CHECK(x.budget().serves(id_of(8)));
  }
}

TEST_CASE("a version that nobody makes use of gives way to a newer one") {
  auto x = donor();
  auto now = begin;
  const auto serves = [&](std::uint64_t step, const peer_id& whom) {
    x.copied(std::make_shared<training_state>(state_of(values, step)), now);
    return last_word(x, whom).available;
  };
  const auto pin = [&](std::size_t i, bool lists) {
    auto it = wish(i, 7 + i);
    it.lists_only = lists;
    x.holds(7 + i, state_of(values, 7 + i).recent.front(), now);
    x.read(id_of(i), it, now);
    CHECK(x.wants_copy());
    CHECK(serves(7 + i, id_of(i)));
  };
  bool at_once = true;
  SUBCASE("of those that only listen at once") {
    pin(0, true);
    pin(1, true);
  }
  SUBCASE("of others when nothing has come to them for long") {
    pin(0, false);
    pin(1, false);
    at_once = false;
  }
  x.holds(9, state_of(values, 9).recent.front(), now);
  if (!at_once) {
    x.read(id_of(8), wish(8, 9), now);
    // It is no lie of the donor's, so the joiner hears that it is to wait.
    CHECK(last_word(x, id_of(8)).retry_ms > 0);
    CHECK_FALSE(x.wants_copy());
    now += limits::place_patience;
  }
  x.read(id_of(8), wish(9, 9), now);
  CHECK(x.wants_copy());
  CHECK(serves(9, id_of(8)));
}

TEST_CASE("who asks with another token keeps its place no longer") {
  auto x = donor();
  for (std::size_t i = 0; i < limits::joiners_served; ++i)
    x.read(id_of(i), wish(1, 7), begin);
  auto now = begin;
  for (std::uint64_t token = 2; now < begin + limits::place_patience; ++token) {
    now += 2s;
    for (std::size_t i = 0; i < limits::joiners_served; ++i)
      x.read(id_of(i), wish(token, 7), now);
  }
  x.read(id_of(8), wish(1, 7), now);
  CHECK(x.budget().serves(id_of(8)));
}

TEST_CASE("those who wait for a step that does not come make room") {
  auto x = donor();
  for (std::size_t i = 0; i < limits::joiners_served; ++i)
    x.read(id_of(i), wish(i, 1000), begin);
  x.read(id_of(9), wish(9, 1000), begin + 1s);
  CHECK(last_word(x, id_of(9)).retry_ms > 0);
  // They ask again and again, which keeps nobody's place.
  auto now = begin;
  for (int i = 0; i < 5; ++i) {
    now += 2s;
    for (std::size_t k = 0; k < limits::joiners_served; ++k)
      x.read(id_of(k), wish(k, 1000), now);
  }
  x.read(id_of(9), wish(10, 1000), now);
  CHECK(x.budget().serves(id_of(9)));
  CHECK(x.budget().joiners() == limits::joiners_served);
  // Whose place it was hears that it is to ask again.
  std::size_t busy = 0;
  for (auto& letter : x.take_letters())
    if (auto* manifest = std::get_if<state_manifest>(&letter.content))
      busy += manifest->retry_ms > 0;
  CHECK(busy == 1);
}

TEST_CASE(
    "who asks for a step that is kept hears its digest, and gets nothing") {
  state_donor donor{usual_donor()};
  digest kept;
  kept.bytes[0] = 7;
  donor.keeps([&](std::uint64_t step) { return step == 10 ? kept : digest{}; });
  const time_point now{std::chrono::hours{1}};
  digest held;
  held.bytes[0] = 1;
  donor.holds(20, held, now);
  const auto told = [&](const state_request& x) {
    for (auto& y : donor.read(id_of(1), x, now))
      if (auto letter = std::get_if<state_letter>(&y))
        return std::get<state_manifest>(letter->content);
    return state_manifest{};
  };
  const auto yes = told({1, 10, {}, false, true});
  CHECK_FALSE(yes.available);
  CHECK(yes.state == kept);
  CHECK(yes.step == 20);
  CHECK(told({2, 11, {}, false, true}).state.empty());
  // Whoever names a state fetches it, and is told where others may have it.
  CHECK(told({3, 10, held, false, true}).state.empty());
}
