#include "runtime/strangers/letter_intake.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using verdict = letter_intake::verdict;

constexpr time_point start{1h};

/// A stranger that asks until it is not read any more.
struct flooded {
  flooded() {
    for (last = verdict::read; last == verdict::read;)
      last = it.take(find_nodes{}, false, start);
  }
  letter_intake it{"192.0.2.1", std::make_shared<homes_letters>()};
  verdict last;
};

} // namespace

TEST_CASE("who sends too much is not heard for a while") {
  flooded x;
  CHECK(x.last == verdict::dropped);
  CHECK(x.it.silenced());
  CHECK(x.it.due_before(start + 1h) == start + limits::letters_pause);
  CHECK_FALSE(x.it.is_heard_again(start + limits::letters_pause - 1ms));
  CHECK(x.it.is_heard_again(start + limits::letters_pause));
  CHECK_FALSE(x.it.is_heard_again(start + 1h)); // It is said once.
  CHECK(x.it.due_before(start + 1h) == start + 1h);
}

TEST_CASE("the newest report of what came too early is read late") {
  flooded x;
  progress_report report;
  for (; report.step < 100; ++report.step)
    x.it.take(report, false, start);
  const auto late = x.it.late();
  REQUIRE(late.size() == 1);
  CHECK(std::get<progress_report>(late[0]).step == 99);
  CHECK(x.it.late().empty());
}

TEST_CASE("who goes on for ever is no honest peer") {
  flooded x;
  std::size_t sent = 0;
  while (x.it.take(find_nodes{}, false, start) == verdict::dropped)
    ++sent;
  CHECK(sent + 1 == limits::letters_dropped);
}

TEST_CASE("a partner may send what a stranger may not") {
  flooded x;
  CHECK(x.it.take(find_nodes{}, true, start) == verdict::read);
}
