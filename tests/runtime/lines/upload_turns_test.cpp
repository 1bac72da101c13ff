#include "runtime/lines/upload_turns.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <memory>
#include <numeric>
#include <utility>

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
    auto left = static_cast<std::size_t>(rate * 0.005);
    while (left > 0 && !in_line.empty()) {
      auto& [id, bytes] = in_line.front();
      auto part = std::min(bytes, left);
      bytes -= part;
      left -= part;
      under_way[id] -= part;
      carried += part;
      acknowledged[id] += part;
      if (bytes == 0)
        in_line.pop_front();
    }
    turns.serve(under_way);
    if (++steps % 20 != 0)
      return;
    std::vector<upload_turns::flow> flows;
    for (auto& [id, bytes] : std::exchange(acknowledged, {}))
      flows.push_back({id, 10.0 * static_cast<double>(bytes),
                       queued[id - 1] > 0, duration{20ms}, duration{120ms}});
    turns.observe(flows);
  }

  double rate = line_rate;
  std::vector<std::size_t> queued;
  std::map<connection_id, std::size_t> under_way;
  std::deque<std::pair<connection_id, std::size_t>> in_line;
  std::vector<connection_id> order;
  std::size_t most = 0;
  std::size_t carried = 0;
  std::map<connection_id, std::size_t> acknowledged;
  unsigned steps = 0;
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
  // Equal turns would have given each 100'000 by now.
  CHECK(x.queued[1] + x.queued[2] + x.queued[3] > 60'000);
}

TEST_CASE(
    "a planned window is whole packets, whatever its connection carries") {
  // 2.16 packets of queue and 0.69 for two round trips of 20 ms.
  const planned_window planned{3125, 25e3};
  uplink x{{1, 1, 1}};
  x.turns.plan(1, planned);
  x.turns.plan(2, planned);
  x.turns.plan(3, {0.1, 0});
  for (int look = 0; look < 20; ++look)
    x.turns.observe({{1, 50e3, true, duration{20ms}},
                     {2, 5e3, true, duration{20ms}},
                     {3, 5e3, true, duration{20ms}}});
  CHECK(x.turns.window(1) == 3 * upload_turns::packet);
  CHECK(x.turns.window(2) == 3 * upload_turns::packet);
  CHECK(x.turns.window(3) == upload_turns::packet);
}

TEST_CASE("who has a plan's window shares the line by it") {
  // As much to send for each, but the first is to have ten parts of twelve.
  uplink x{std::vector<std::size_t>(3, 4'000'000)};
  x.turns.plan(1, {20.0 * upload_turns::packet, 0});
  x.turns.plan(2, {2.0 * upload_turns::packet, 0});
  x.turns.plan(3, {2.0 * upload_turns::packet, 0});
  x.measured(line_rate);
  x.write_all();
  for (int i = 0; i < 1000; ++i) {
    x.step();
    CHECK(x.under_way[2] <= 6 * upload_turns::packet);
  }
  auto sent = [&](std::size_t i) { return 4'000'000 - x.queued[i]; };
  CHECK(sent(0) > 3 * sent(1));
  CHECK(static_cast<double>(x.carried) >= 0.95 * line_rate * 5);
  // Without it they get on alike again.
  for (connection_id id = 1; id <= 3; ++id)
    x.turns.plan(id, {});
  for (int i = 0; i < 400; ++i)
    x.step();
  auto before = x.queued;
  for (int i = 0; i < 400; ++i)
    x.step();
  CHECK(before[1] - x.queued[1] > (before[0] - x.queued[0]) / 2);
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

TEST_CASE("what a fast line carries shows before it was ever measured") {
  std::size_t connections = 0;
  SUBCASE("to one other") {
    connections = 1;
  }
  SUBCASE("to three others") {
    connections = 3;
  }
  uplink x{std::vector<std::size_t>(connections, 220'000)};
  x.rate = 125e6; // 1 Gbit/s.
  x.write_all();
  auto checks = 0;
  auto send_all = [&] {
    for (checks = 0; x.carried < connections * 220'000; ++checks) {
      REQUIRE(checks < 20);
      x.step();
    }
    x.carried = 0;
  };
  send_all();
  CHECK(checks <= 10);
  CHECK_FALSE(x.turns.left_alone());
  // The next gradient finds it known.
  x.queued.assign(connections, 220'000);
  x.write_all();
  send_all();
  CHECK(checks <= 3);
  // And when it has become slow, that lasts no longer than a few looks.
  x.rate = line_rate;
  x.queued.assign(connections, 3'000'000);
  x.write_all();
  CHECK(x.most <= upload_turns::largest_growth);
  for (int i = 0; i < 400; ++i) // 512 KiB take 1.4 s.
    x.step();
  x.most = 0;
  for (int i = 0; i < 200; ++i)
    x.step();
  CHECK(x.most < 375e3 * 0.3);
}

TEST_CASE("small talk of a long time is not taken for a fast line") {
  uplink x{{0, 0}};
  for (int i = 0; i < 1000; ++i)
    CHECK(x.turns.take(1, 500) == 500);
  x.queued = {1'000'000, 1'000'000};
  x.write_all();
  x.turns.serve({}); // All that has arrived.
  CHECK(x.most < 10'000);
}

TEST_CASE("who has gone leaves no place in line and nothing under way") {
  uplink x{{300'000, 300'000}};
  x.measured(line_rate);
  x.write_all();
  x.turns.forget(1);
  x.turns.forget(2);
  CHECK_FALSE(x.turns.anybody_waits());
  CHECK(x.turns.take(3, 5000) > 0);
}

namespace {

/// Many senders, each with a fast line of its own, and one receiver whose
/// downlink is slow and holds 250 ms: more is dropped, and sent again after
/// 200 ms.
struct crowded_downlink {
  struct packet {
    std::size_t sender;
    std::size_t bytes;
  };

  explicit crowded_downlink(std::size_t senders)
      : acknowledged(senders), under_way(senders), carried(senders) {
    for (std::size_t i = 0; i < senders; ++i)
      turns.push_back(std::make_unique<upload_turns>(
          [this, i](connection_id id) { write(i, id); }));
  }

  /// Connection 1 leads to the slow one, 2 to somebody who takes everything.
  void write(std::size_t i, connection_id id) {
    while (auto bytes = turns[i]->take(id, 1'000'000)) {
      if (id == 2) {
        elsewhere += bytes;
        continue;
      }
      under_way[i] += bytes;
      for (std::size_t left = bytes; left > 0;) {
        auto size = std::min(left, upload_turns::packet);
        left -= size;
        arrive({i, size});
      }
    }
  }

  void arrive(packet x) {
    if (static_cast<double>(queued) > line_rate * 0.25) {
      ++dropped;
      again.push_back({now + 200, x});
      return;
    }
    queued += x.bytes;
    queue.push_back(x);
  }

  void step() { // 5 ms.
    now += 5;
    while (!again.empty() && again.front().first <= now) {
      auto x = again.front().second;
      again.pop_front();
      arrive(x);
    }
    for (budget += line_rate * 0.005; !queue.empty(); queue.pop_front()) {
      auto& x = queue.front();
      if (budget < static_cast<double>(x.bytes))
        break;
      budget -= static_cast<double>(x.bytes);
      queued -= x.bytes;
      under_way[x.sender] -= x.bytes;
      acknowledged[x.sender] += x.bytes;
      carried[x.sender] += x.bytes;
    }
    for (std::size_t i = 0; i < turns.size(); ++i)
      turns[i]->serve({{1, under_way[i]}});
    if (now % 100 != 0)
      return;
    auto waits = duration{20ms}
                 + std::chrono::milliseconds{
                     static_cast<int>(1000 * queued / line_rate)};
    for (std::size_t i = 0; i < turns.size(); ++i) {
      auto rate = 10 * static_cast<double>(std::exchange(acknowledged[i], 0));
      turns[i]->observe({{1, rate, true, duration{20ms}, waits},
                         {2, 2e6, true, duration{20ms}, duration{21ms}}});
    }
  }

  int now = 0; ///< ms.
  double budget = 0;
  std::size_t queued = 0;
  std::size_t dropped = 0;
  std::size_t elsewhere = 0;
  std::deque<packet> queue;
  std::deque<std::pair<int, packet>> again;
  std::vector<std::size_t> acknowledged, under_way, carried;
  std::vector<std::unique_ptr<upload_turns>> turns;
};

} // namespace

TEST_CASE("many fast senders do not flood a slow downlink, and share it") {
  for (std::size_t senders : {7, 23}) {
    CAPTURE(senders);
    crowded_downlink x{senders};
    for (std::size_t i = 0; i < senders; ++i) {
      x.write(i, 1);
      x.write(i, 2);
    }
    for (int i = 0; i < 4000; ++i) // 20 s.
      x.step();
    CHECK(x.dropped == 0);
    auto sum = std::accumulate(x.carried.begin(), x.carried.end(), 0.0);
    CHECK(sum >= 0.97 * line_rate * 20);
    // And nobody is starved.
    auto least = *std::min_element(x.carried.begin(), x.carried.end());
    CHECK(static_cast<double>(least)
          >= 0.5 * sum / static_cast<double>(senders));
  }
}
