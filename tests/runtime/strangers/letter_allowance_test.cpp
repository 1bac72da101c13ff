#include "runtime/strangers/letter_allowance.hpp"

#include <doctest/doctest.h>

#include "runtime/strangers/letter_cost.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using verdict = letter_allowance::verdict;

std::size_t read(letter_allowance& x, const message& what, std::size_t letters,
                 time_point now, bool trusted = false) {
  std::size_t result = 0;
  for (; letters > 0; --letters)
    result += x.take(cost_of(what, trusted), trusted, now) == verdict::read;
  return result;
}

} // namespace

TEST_CASE("an honest peer behind a line that stalls is read") {
  // Ten times what the busiest honest peers of simulations say, held up as long
  // as a session lasts in silence, and then all at once, again and again.
  constexpr std::size_t per_second = 100;
  for (bool trusted : {false, true}) {
    time_point now{};
    letter_allowance x{"192.0.2.1", std::make_shared<homes_letters>()};
    for (auto stall : {1s, 20s, 5s, 60s, 20s, 20s}) {
      now += stall;
      auto letters = per_second * static_cast<std::size_t>(stall.count());
      CHECK(read(x, progress_report{}, letters, now, trusted) == letters);
    }
  }
}

TEST_CASE("a flood is dropped within seconds, and gross after a while") {
  time_point now{};
  letter_allowance x{"192.0.2.1", std::make_shared<homes_letters>()};
  std::size_t dropped = 0;
  for (int i = 0; i < 100'000; ++i) {
    now += 100us;
    switch (x.take(cost_of(find_records{}), false, now)) {
      case verdict::read:
        break;
      case verdict::dropped:
        ++dropped;
        break;
      case verdict::gross:
        CHECK(dropped == limits::letters_dropped);
        CHECK(now < time_point{5s});
        return;
    }
  }
  FAIL("ten thousand look-ups a second went on for ten seconds");
}

TEST_CASE("a school looks up and stores at once, while 32 homes flood") {
  auto homes = std::make_shared<homes_letters>();
  std::vector<letter_allowance> floods, school;
  for (int i = 0; i < 32; ++i)
    floods.emplace_back("198.51." + std::to_string(i) + ".1", homes);
  for (int i = 0; i < 40; ++i)
    school.emplace_back("192.0.2.1", homes);
  store_records own;
  own.records.resize(1);
  time_point now{};
  std::size_t taken = 0;
  for (int tenth = 0; tenth < 600; ++tenth) {
    now += 100ms;
    for (auto& x : floods)
      taken += read(x, find_records{}, 1000, now);
    // One of them comes each second, and then looks up, reports and stores.
    for (std::size_t i = 0; i < school.size(); ++i)
      if (tenth / 10 == static_cast<int>(i)) {
        CHECK(read(school[i], find_records{}, 1, now) == 1);
        CHECK(read(school[i], progress_report{}, 2, now) == 2);
        if (tenth % 10 == 0)
          CHECK(read(school[i], own, 1, now) == 1);
      }
  }
  // What all floods together had is bounded, however long each waits.
  const auto in_a_minute
      = [](double at_once, double a_second) { return at_once + 60 * a_second; };
  const auto units
      = in_a_minute(limits::letters_of_all_at_once, limits::letters_of_all)
        + 32
              * in_a_minute(limits::letters_of_a_prefix_at_once,
                            limits::letters_of_a_prefix)
        + 32
              * in_a_minute(limits::letters_of_everybody_at_once,
                            limits::letters_of_everybody);
  CHECK(static_cast<double>(taken) * cost_of(find_records{}) <= units);
}

TEST_CASE("in a home that floods a newcomer is heard, and a member is not "
          "limited") {
  auto homes = std::make_shared<homes_letters>();
  time_point now{1s};
  std::vector<letter_allowance> floods;
  for (int i = 0; i < 60; ++i)
    floods.emplace_back("192.0.2.1", homes);
  for (auto& x : floods)
    read(x, find_records{}, 10'000, now);
  letter_allowance late{"192.0.2.1", homes}, member{"192.0.2.1", homes};
  std::size_t heard = 0;
  for (int tenth = 0; tenth < 100; ++tenth) {
    now += 100ms;
    for (auto& x : floods)
      read(x, find_records{}, 100, now);
    heard += read(late, find_records{}, tenth % 5 == 0, now);
  }
  CHECK(heard == 20);
  CHECK(read(late, find_records{}, 1000, now) < 20);
  CHECK(read(member, find_records{}, 1000, now, true) == 1000);
}

TEST_CASE("parts, pieces and calls of a partner are bounded elsewhere") {
  CHECK(cost_of(chunk_part{}, true) == 0);
  CHECK(cost_of(state_piece{}, true) == 0);
  CHECK(cost_of(expert_request{}, true) == 0);
  CHECK(cost_of(heartbeat{}, true) > 0);
}

TEST_CASE("a stranger's parts, pieces and calls are letters as any other") {
  CHECK(cost_of(chunk_part{}) > 0);
  CHECK(cost_of(chunk_mean{}) > 0);
  CHECK(cost_of(contribution_part{}) > 0);
  CHECK(cost_of(state_piece{}) > 0);
  CHECK(cost_of(artifact_piece{}) > 0);
  CHECK(cost_of(expert_request{}) > 0);
  CHECK(cost_of(expert_answer{}) > 0);
  CHECK(cost_of(replica_chunk{}) > 0);
  CHECK(cost_of(heartbeat{}) > 0);
  CHECK(cost_of(piece_request{}) > 0);
  CHECK(cost_of(find_records{}) > cost_of(progress_report{}));
}
