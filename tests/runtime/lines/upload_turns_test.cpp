#include "runtime/lines/upload_turns.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr double line_rate = 375e3; // 3 Mbit/s.

/// Connections with queues, over one line that carries `line_rate`.
struct uplink {
  explicit uplink(std::vector<std::size_t> queues) : queued(std::move(queues)) {
    for (std::size_t i = 0; i < queued.size(); ++i)
      under_way[i + 1] = 0;
  }

  void measured(double rate) {
    std::vector<upload_turns::flow> flows;
    for (std::size_t i = 0; i < queued.size(); ++i)
      flows.push_back({i + 1, rate / static_cast<double>(queued.size()), true,
                       duration{20ms}});
    turns.observe(flows);
  }

  void write(connection_id id) {
    auto& left = queued[id - 1];
    while (left > 0) {
      auto bytes = std::min(left, turns.take(id, left));
      if (bytes == 0)
        return;
      order.push_back(id);
      left -= bytes;
      under_way[id] += bytes;
      in_line.push_back({id, bytes});
      most = std::max(most, sum());
    }
  }
  void write_all() {
    for (connection_id id = 1; id <= queued.size(); ++id)
      write(id);
  }

  std::size_t sum() const {
    return std::accumulate(
        under_way.begin(), under_way.end(), std::size_t{0},
        [](auto bytes, auto& x) { return bytes + x.second; });
  }

  /// The line carries what it does in 5 ms, in the order of writing.
  void step() {
    auto left = static_cast<std::size_t>(line_rate * 0.005);
    while (left > 0 && !in_line.empty()) {
      auto& [id, bytes] = in_line.front();
      auto part = std::min(bytes, left);
      bytes -= part;
      left -= part;
      under_way[id] -= part;
      carried += part;
      if (bytes == 0)
        in_line.pop_front();
    }
    turns.serve(under_way);
  }

  std::vector<std::size_t> queued;
  std::map<connection_id, std::size_t> under_way;
  std::deque<std::pair<connection_id, std::size_t>> in_line;
  std::vector<connection_id> order;
  std::size_t most = 0;
  std::size_t carried = 0;
  upload_turns turns{[this](connection_id id) { write(id); }};
};

std::size_t spread(const std::vector<std::size_t>& x) {
  auto ends = std::minmax_element(x.begin(), x.end());
  return *ends.second - *ends.first;
}

} // namespace

TEST_CASE("a fast line is left alone") {
  uplink x{{40'000'000, 40'000'000}};
  x.measured(upload_turns::fast_line);
  CHECK(x.turns.left_alone());
  x.write_all();
  CHECK(x.queued == std::vector<std::size_t>{0, 0});
  CHECK_FALSE(x.turns.anybody_waits());
}

TEST_CASE("many connections keep a slow line's queue short, and get on alike") {
  uplink x{std::vector<std::size_t>(16, 300'000)};
  x.measured(line_rate);
  x.write_all();
  for (int i = 0; i < 1000; ++i)
    x.step();
  CHECK(x.turns.anybody_waits());
  // Round trip and queue, and the turn that was begun before it was full.
  auto longest
      = line_rate
        * (0.04 + upload_turns::queue_seconds + upload_turns::turn_seconds);
  CHECK(static_cast<double>(x.most) <= longest + upload_turns::largest_turn);
  CHECK(spread(x.queued) <= 4 * upload_turns::largest_turn);
  // Nothing is gained by leaving it idle.
  CHECK(static_cast<double>(x.carried) >= 0.95 * line_rate * 5);
}

TEST_CASE("who has most to send catches up, and nobody waits for it") {
  uplink x{{400'000, 100'000, 100'000, 100'000}};
  x.measured(line_rate);
  x.write_all();
  x.order.clear();
  while (x.queued[0] > 200'000)
    x.step();
  for (connection_id id = 2; id <= 4; ++id)
    CHECK(std::count(x.order.begin(), x.order.end(), id) > 0);
  CHECK(x.queued[1] > 20'000); // Equal turns would have emptied it.
}

TEST_CASE("small writes do not wait for gradients") {
  uplink x{{300'000, 300'000}};
  x.measured(line_rate);
  x.write_all();
  REQUIRE(x.turns.anybody_waits());
  CHECK(x.turns.take(9, 200) == 200);
  CHECK(x.turns.take(9, 100'000) == 0);
  // Behind its own gradient it does: frames stay in order.
  CHECK(x.turns.take(9, 200) == 0);
}

TEST_CASE("a connection that takes no more leaves the line to the others") {
  uplink x{{300'000, 300'000}};
  x.measured(line_rate);
  x.write_all();
  // The first one's other side acknowledges nothing.
  auto look = [&] {
    x.turns.observe(
        {{1, 0, true, duration{20ms}}, {2, line_rate, true, duration{20ms}}});
  };
  for (unsigned i = 0; i < upload_turns::stuck_looks; ++i)
    look();
  for (int i = 0; i < 100; ++i) {
    x.under_way[2] = 0;
    x.turns.serve(x.under_way);
  }
  CHECK(x.queued[1] == 0);
  CHECK(x.queued[0] > 200'000);
}

TEST_CASE("a line that was never measured is not flooded, and shows itself") {
  uplink x{std::vector<std::size_t>(16, 1'000'000)};
  x.write_all();
  CHECK(x.turns.anybody_waits());
  CHECK(x.most < 200'000);
  // Somebody who sends little says nothing of the line.
  x.turns.observe({{1, 1e3, false, duration{1ms}}});
  x.turns.observe({{1, 50e6, false, duration{1ms}}});
  CHECK(x.turns.left_alone());
}

TEST_CASE("who has gone leaves no place in line and nothing under way") {
  uplink x{{300'000, 300'000}};
  x.measured(line_rate);
  x.write_all();
  x.turns.forget(1);
  x.turns.forget(2);
  CHECK_FALSE(x.turns.anybody_waits());
  CHECK(x.turns.take(3, 5000) == 5000);
}
