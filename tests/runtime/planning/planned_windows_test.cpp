#include "runtime/planning/planned_windows.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/runtime/planning/group_by_lines.hpp"
#include "tests/runtime/planning/group_on_lines.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

collaboration group_of(const std::vector<line_speeds>& lines) {
  return group_on_lines(lines, 3'000'000, 1000);
}

std::vector<planned_window> windows_of(const collaboration& group,
                                       std::size_t self) {
  return planned_windows(group, plan(group).shares, self);
}

} // namespace

TEST_CASE("equal members share each other's queues evenly") {
  auto group = group_of(std::vector<line_speeds>(5, {375e3, 375e3}));
  auto x = windows_of(group, 2);
  REQUIRE(x.size() == 5);
  CHECK(x[2].queue == 0);
  for (auto i : {0, 1, 3, 4})
    CHECK(x[i].queue
          == doctest::Approx(375e3 * planned_queue_seconds / 4).epsilon(0.02));
}

TEST_CASE("a member that averages nearly all has nearly all of a line's "
          "queue") {
  auto group = group_of(std::vector<line_speeds>(9, {375e3, 375e3}));
  group.peers[0].upload_bytes_per_second = 6e6;
  group.peers[0].download_bytes_per_second = 6e6;
  auto from_slow = windows_of(group, 3);
  auto from_fast = windows_of(group, 0);
  const auto queue = 375e3 * planned_queue_seconds;
  CHECK(from_slow[0].queue > queue / 2);
  CHECK(from_fast[3].queue > queue / 2);
  CHECK(from_slow[5].queue < queue / 10);
}

TEST_CASE("no more comes together in a downlink's queue than there is to be, "
          "but for senders whose own uplink holds it back") {
  auto group = group_of({{375e3, 375e3},
                         {375e3, 375e3},
                         {5e6, 5e6},
                         {2e6, 4e6},
                         {1e6, 1e6},
                         {1e5, 3e5}});
  auto shares = plan(group).shares;
  for (std::size_t j = 0; j < group.peers.size(); ++j) {
    double in = 0;
    std::vector<double> passes(group.peers.size(), 0);
    for (std::size_t i = 0; i < group.peers.size(); ++i)
      if (i != j)
        in += passes[i] = gradients_between(group, shares, i, j);
    double own = 0;
    for (std::size_t i = 0; i < group.peers.size(); ++i) {
      auto window = planned_windows(group, shares, i)[j].queue;
      auto queue = std::min(largest_planned_queue,
                            planned_queue_seconds
                                * group.peers[j].download_bytes_per_second);
      auto part = passes[i] / in * queue;
      CHECK(window >= part);
      own += part;
    }
    CHECK(own <= largest_planned_queue * 1.001);
  }
}

TEST_CASE("many that send to one hub have no more under way than it carries in "
          "a queue's time") {
  auto group = group_of(std::vector<line_speeds>(9, {375e3, 375e3}));
  auto& hub = group.peers[0];
  hub.upload_bytes_per_second = hub.download_bytes_per_second = 1.5e6;
  double sum = 0;
  for (std::size_t i = 1; i < group.peers.size(); ++i)
    sum += windows_of(group, i)[0].queue;
  CHECK(sum <= 1.5e6 * planned_queue_seconds * 1.001);
  CHECK(sum > largest_planned_queue); // Enough to keep its line busy.
}

TEST_CASE("on a very slow line it is time that bounds the queue") {
  auto group = group_of(std::vector<line_speeds>(3, {5e4, 5e4}));
  CHECK(windows_of(group, 0)[1].queue
        == doctest::Approx(5e4 * planned_queue_seconds / 2).epsilon(0.02));
}

TEST_CASE("to whom nothing goes there is no window") {
  auto group = group_of(std::vector<line_speeds>(3, {375e3, 375e3}));
  group.peers[2].computes = false;
  group.peers[2].holds_model = false;
  // Two that average all between themselves.
  auto x = planned_windows(group, {0.5, 0.5, 0}, 0);
  CHECK(x[1].queue > 0);
  CHECK(x[2].queue == 0);
  for (const auto& none : planned_windows(group, {0.5, 0.5, 0}, 2))
    CHECK(none.queue == 0);
}

TEST_CASE("a connection's rate is its part of the thinner line") {
  auto group = group_of(std::vector<line_speeds>(5, {375e3, 375e3}));
  CHECK(windows_of(group, 2)[0].rate
        == doctest::Approx(375e3 / 4).epsilon(0.02));
  // Two who send a fast one parts of all; its means come back at their rate.
  group = group_of({{5e6, 5e6}, {1e5, 2e5}, {1e5, 2e5}});
  auto from_slow = planned_windows(group, {1, 0, 0}, 1);
  CHECK(from_slow[0].rate == doctest::Approx(1e5));
  CHECK(from_slow[2].rate == 0);
  auto from_fast = planned_windows(group, {1, 0, 0}, 0);
  CHECK(from_fast[1].rate == doctest::Approx(2e5));
}

TEST_CASE("a round's windows are those of the members that something passes "
          "to") {
  auto contract = group_by_lines(2, 1, [](auto, auto) { return true; });
  share_plan of;
  of.shares = {0.5, 0.5, 0};
  const auto first = planned_windows(contract, of, 0);
  REQUIRE(first.size() == 1); // The auxiliary peer averages nothing.
  CHECK(first[0].first == numbered(1));
  const auto all = planned_windows(collaboration_of(contract), of.shares, 0);
  CHECK(first[0].second.queue == all[1].queue);
  CHECK(first[0].second.rate == all[1].rate);
  CHECK(planned_windows(contract, of, 2).empty());
}

TEST_CASE("a plan without every member's share plans no round's windows") {
  const auto contract = group_by_lines(2, 0, [](auto, auto) { return true; });
  share_plan of;
  CHECK(planned_windows(contract, of, 0).empty());
  of.shares = {1};
  CHECK(planned_windows(contract, of, 0).empty());
}
