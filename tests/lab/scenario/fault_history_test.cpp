#include "tools/lab/scenario/fault_history.hpp"

#include <doctest/doctest.h>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

fault_event event(fault_kind kind, duration at,
                  std::vector<std::size_t> peers) {
  fault_event x;
  x.kind = kind;
  x.at = at;
  x.peers = std::move(peers);
  return x;
}

} // namespace

TEST_CASE("a line says when, what, whom, how much and how long") {
  fault_history x;
  CHECK(x.lines().empty());
  CHECK(x.counts().empty());
  x.note(event(fault_kind::kill, 12500ms, {3, 7}), std::nullopt);
  auto slow = event(fault_kind::slow, 40s, {2});
  slow.amount = 8;
  x.note(slow, duration{30s});
  auto come = event(fault_kind::join, 100'049us, {4});
  come.detail = "homes";
  come.amount = 5; // Which this kind has none of.
  x.note(come, std::nullopt);
  CHECK(x.lines()
        == std::vector<std::string>{"12.5 s: kill 3, 7",
                                    "40 s: slow 2 (8) for 30 s",
                                    "0.1 s: join 4 (homes)"});
}

TEST_CASE("faults beyond the last line are counted all the same") {
  fault_history x;
  for (std::size_t i = 0; i < limits::fault_history; ++i)
    x.note(event(fault_kind::cut, 1s, {1}), std::nullopt);
  CHECK(x.lines().size() == limits::fault_history);
  CHECK(x.lines().back() == "1 s: cut 1");
  for (int i = 0; i < 3; ++i)
    x.note(event(fault_kind::stop, 2s, {1}), duration{1s});
  CHECK(x.lines().size() == limits::fault_history + 1);
  CHECK(x.lines().back() == "... and 3 more");
  CHECK(x.counts().at(fault_kind::cut) == limits::fault_history);
  CHECK(x.counts().at(fault_kind::stop) == 3);
}
