/// A group's lines, all of them busy both ways: what `upload_turns` makes of a
/// round in which everybody sends to everybody, with the plan's windows.
///
/// A model in steps of a millisecond: every host has an uplink and a downlink
/// with a queue of 250 ms each, and what does not fit is dropped and sent
/// again. Every second packet is acknowledged, and acknowledgements wait in the
/// same queues as data: that is what tells one window from another here. A
/// chunk's mean can be sent when everybody's part of it is there.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/lines/upload_turns.hpp"
#include "runtime/planning/planned_windows.hpp"
#include "runtime/random.hpp"

using namespace potluck;

namespace {

constexpr double queue_seconds = 0.25;
constexpr double header = 66; ///< Ethernet's, IP's and TCP's bytes.
constexpr int way = 10;       ///< ms.
constexpr int repeated_after = 250;
constexpr int acknowledged_after = 40;
constexpr std::uint64_t gradient = 3'066'840; ///< Bytes.
constexpr std::uint32_t chunks = 192;

struct packet {
  std::size_t from;
  std::size_t to;
  std::size_t bytes;            ///< 0: an acknowledgement.
  std::size_t acknowledges = 0; ///< Bytes.
  int sent = 0;                 ///< ms; of what is acknowledged, if it is one.
};

/// One direction of a host's line.
struct lane {
  double rate = 0; ///< Bytes per second.
  double budget = 0;
  double queued = 0;
  std::deque<packet> waiting;

  bool add(const packet& x) {
    if (queued > rate * queue_seconds)
      return false;
    queued += static_cast<double>(x.bytes) + header;
    waiting.push_back(x);
    return true;
  }

  /// What it carries in one step.
  template <class To>
  void carry(To&& to) {
    budget = (waiting.empty() ? 0 : budget) + rate / 1000;
    while (!waiting.empty()) {
      auto size = static_cast<double>(waiting.front().bytes) + header;
      if (budget < size)
        return;
      budget -= size;
      queued -= size;
      auto x = waiting.front();
      waiting.pop_front();
      to(x);
    }
  }
};

struct receipt {
  std::size_t bytes = 0; ///< Not acknowledged yet.
  int since = 0;
  int sent = 0;
};

/// One host's connection to another.
struct flow {
  std::size_t parts = 0; ///< Bytes to send in all; they go first.
  std::size_t means = 0; ///< Likewise.
  std::size_t made = 0;  ///< Of those.
  std::size_t left = 0;  ///< To send, and there to be sent.
  std::size_t under_way = 0;
  std::size_t arrived = 0; ///< Since the last look.
  std::size_t there = 0;   ///< In this round.
  double round_trip = 0;   ///< Smoothed, ms.
  receipt received;
};

struct host {
  lane up;
  lane down;
  std::vector<flow> to;    ///< One for each host.
  int check = 0;           ///< When, of every 5 ms.
  int look = 0;            ///< Of every 100 ms.
  std::uint32_t share = 0; ///< Chunks that it averages.
  std::uint32_t averaged = 0;
  std::unique_ptr<upload_turns> turns;
};

struct group_lines {
  std::vector<host> hosts;
  std::deque<std::pair<int, packet>> between;
  std::deque<std::pair<int, packet>> again;
  int now = 0;
  std::size_t dropped = 0;
  double bound = 0; ///< Seconds, by the busiest line, without any header.

  group_lines(const collaboration& group, std::uint64_t seed)
      : hosts(group.peers.size()) {
    random_stream chance{seed};
    const auto n = hosts.size();
    const auto planned = plan(group);
    const auto& shares = planned.shares;
    bound = exchange_seconds(group, shares);
    auto bytes = [&](std::size_t i) {
      return static_cast<std::size_t>(shares[i] * gradient);
    };
    for (std::size_t i = 0; i < n; ++i) {
      auto& h = hosts[i];
      h.up.rate = group.peers[i].upload_bytes_per_second;
      h.down.rate = group.peers[i].download_bytes_per_second;
      h.to.resize(n);
      h.share = planned.chunks[i];
      h.check = static_cast<int>(chance.below(5));
      h.look = static_cast<int>(chance.below(100));
      h.turns = std::make_unique<upload_turns>(
          [this, i](connection_id id) { write(i, id - 1); });
      const auto windows = planned_windows(group, shares, i);
      for (std::size_t j = 0; j < n; ++j)
        if (j != i) {
          h.to[j].parts = bytes(j);
          h.to[j].means = bytes(i);
          h.turns->plan(j + 1, windows[j]);
        }
    }
  }

  void begin_round() {
    for (auto& h : hosts) {
      h.averaged = 0;
      for (auto& x : h.to) {
        x.left = x.parts;
        x.made = x.there = 0;
      }
    }
    write_all();
  }

  void write_all() {
    const auto n = hosts.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 1; k < n; ++k)
        write(i, (i + k) % n);
  }

  /// Averages the chunks whose parts are all there, and sends their means.
  void average(std::size_t j) {
    auto& own = hosts[j];
    auto whole = own.share;
    for (std::size_t i = 0; i < hosts.size(); ++i)
      if (const auto& x = hosts[i].to[j]; x.there < x.parts)
        whole = std::min(
            whole, static_cast<std::uint32_t>(x.there * own.share / x.parts));
    if (whole <= own.averaged)
      return;
    own.averaged = whole;
    for (std::size_t k = 1; k < hosts.size(); ++k) {
      auto to = (j + k) % hosts.size();
      auto& x = own.to[to];
      auto made = x.means * whole / own.share;
      x.left += made - std::exchange(x.made, made);
      write(j, to);
    }
  }

  void write(std::size_t i, std::size_t j) {
    auto& x = hosts[i].to[j];
    while (x.left > 0) {
      auto bytes = std::min(x.left, hosts[i].turns->take(j + 1, x.left));
      if (bytes == 0)
        return;
      x.left -= bytes;
      x.under_way += bytes;
      for (auto rest = bytes; rest > 0;) {
        auto size = std::min(rest, upload_turns::packet);
        rest -= size;
        send({i, j, size, 0, now});
      }
    }
  }

  void repeat(const packet& x) {
    ++dropped;
    again.emplace_back(now + repeated_after, x);
  }

  void send(const packet& x) {
    if (!hosts[x.from].up.add(x))
      repeat(x);
  }

  void acknowledge(std::size_t i, std::size_t j) {
    auto& x = hosts[j].to[i].received;
    send({i, j, 0, x.bytes, x.sent});
    x.bytes = 0;
  }

  void arrive(const packet& x) {
    if (x.bytes == 0) {
      auto& own = hosts[x.to].to[x.from];
      own.under_way -= x.acknowledges;
      own.arrived += x.acknowledges;
      auto took = static_cast<double>(now - x.sent);
      own.round_trip
          += own.round_trip == 0 ? took : (took - own.round_trip) / 8;
      return;
    }
    hosts[x.from].to[x.to].there += x.bytes;
    average(x.to);
    auto& got = hosts[x.from].to[x.to].received;
    if (got.bytes == 0)
      got.since = now;
    got.bytes += x.bytes;
    got.sent = x.sent;
    if (got.bytes > upload_turns::packet)
      acknowledge(x.to, x.from);
  }

  void step() {
    ++now;
    for (; !again.empty() && again.front().first <= now; again.pop_front())
      send(again.front().second);
    for (auto& h : hosts)
      h.up.carry([&](const packet& x) { between.emplace_back(now + way, x); });
    for (; !between.empty() && between.front().first <= now;
         between.pop_front())
      if (const auto& x = between.front().second; !hosts[x.to].down.add(x))
        repeat(x);
    for (auto& h : hosts)
      h.down.carry([&](const packet& x) { arrive(x); });
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      for (std::size_t j = 0; j < hosts.size(); ++j)
        if (auto& x = hosts[j].to[i].received;
            x.bytes > 0 && now - x.since > acknowledged_after)
          acknowledge(i, j);
      if (now % 5 == hosts[i].check)
        serve(hosts[i]);
      if (now % 100 == hosts[i].look)
        look(hosts[i]);
    }
  }

  static void serve(host& h) {
    std::map<connection_id, std::size_t> under_way;
    for (std::size_t j = 0; j < h.to.size(); ++j)
      if (h.to[j].under_way > 0)
        under_way[j + 1] = h.to[j].under_way;
    h.turns->serve(std::move(under_way));
  }

  static void look(host& h) {
    std::vector<upload_turns::flow> seen;
    for (std::size_t j = 0; j < h.to.size(); ++j) {
      auto& x = h.to[j];
      if (x.left == 0 && x.under_way == 0 && x.arrived == 0)
        continue;
      seen.push_back(
          {j + 1, 10.0 * static_cast<double>(x.arrived), x.left > 0,
           std::chrono::milliseconds{2 * way},
           std::chrono::milliseconds{static_cast<int>(x.round_trip)}});
      x.arrived = 0;
    }
    h.turns->observe(seen);
  }

  bool done() const {
    return std::all_of(hosts.begin(), hosts.end(), [](const host& h) {
      return std::all_of(h.to.begin(), h.to.end(), [](const flow& x) {
        return x.made == x.means && x.left == 0 && x.under_way == 0;
      });
    });
  }

  /// How many times the bound it takes until the last byte is acknowledged.
  double ratio() {
    const auto began = now;
    begin_round();
    while (!done() && now - began < 100'000)
      step();
    return (now - began) / 1000.0 / bound;
  }
};

collaboration group_of(const std::vector<double>& rates) {
  collaboration result;
  for (auto rate : rates) {
    planned_peer x;
    x.id.bytes[0] = static_cast<std::uint8_t>(result.peers.size() + 1);
    x.upload_bytes_per_second = x.download_bytes_per_second = rate;
    result.peers.push_back(x);
  }
  result.gradient_bytes = gradient;
  result.chunks = chunks;
  return result;
}

double worst_of(const std::vector<double>& rates, std::size_t& dropped) {
  double worst = 0;
  dropped = 0;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    group_lines x{group_of(rates), seed};
    x.ratio(); // In which the lines become known.
    worst = std::max(worst, x.ratio());
    dropped = std::max(dropped, x.dropped);
  }
  return worst;
}

std::vector<double> lines(std::size_t slow, std::size_t fast, double faster) {
  std::vector<double> result(slow, 375e3); // 3 Mbit/s.
  result.insert(result.end(), fast, 375e3 * faster);
  return result;
}

} // namespace

// Headers and acknowledgements alone make 1.07, the wait for the first means
// 1.04 more. Without the plan's windows these were 1.16, 1.11, 1.31 and 1.46.

TEST_CASE("a round on equal fast lines fills them") {
  std::size_t dropped = 0;
  CHECK(worst_of(lines(0, 8, 5), dropped) < 1.2);
  CHECK(dropped == 0);
}

TEST_CASE("in a round on equal slow lines nobody is left behind") {
  std::size_t dropped = 0;
  CHECK(worst_of(lines(16, 0, 0), dropped) < 1.15);
  CHECK(dropped == 0);
}

TEST_CASE("a round on slow and fast lines fills both") {
  std::size_t dropped = 0;
  CHECK(worst_of(lines(16, 8, 5), dropped) < 1.2);
  CHECK(dropped == 0);
}

TEST_CASE("a round on slow lines and a very fast one fills both") {
  std::size_t dropped = 0;
  CHECK(worst_of(lines(16, 1, 12.5), dropped) < 1.2);
  CHECK(dropped == 0);
}
