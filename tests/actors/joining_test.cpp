/// Whole peers join a run that is faster than their lines.
#include <doctest/doctest.h>

#include <set>

#include "messages/codec.hpp"
#include "runtime/state/limits.hpp"
#include "tests/actors/whole_peer.hpp"
#include "tests/support/wide_trainer.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

/// The state is 11 pieces, a mean 4.
constexpr std::uint64_t values = 60000;

struct fast_run {
  explicit fast_run(std::uint8_t donors, std::uint64_t steps = 5000)
      : steps_(steps) {
    for (std::uint8_t i = 1; i <= donors; ++i)
      add(i);
    REQUIRE(world.run_until(
        [&] {
          return std::all_of(peers.begin(), peers.end(),
                             [](auto& x) { return x.second->step() >= 3; });
        },
        60s));
  }

  whole_peer& add(std::uint8_t number, double upload = 0) {
    auto c = tiny_peer(world.network, number,
                       number == 1 ? std::vector<std::uint8_t>{}
                                   : std::vector<std::uint8_t>{1},
                       steps_);
    c.make_trainer
        = [](const charter&) { return std::make_unique<wide_trainer>(values); };
    auto steps = steps_;
    c.propose = [steps] {
      auto s = tiny_charter(steps, 48).settings();
      s.chunk_values = 16384;
      return charter{s, ""};
    };
    c.batch_time = [](std::uint32_t) { return duration{16ms}; };
    c.upload_bytes_per_second = upload;
    auto& place = peers[number];
    place = std::make_unique<whole_peer>(world, std::move(c));
    return *place;
  }
  whole_peer& at(std::uint8_t number) {
    return *peers.at(number);
  }
  void lines(std::uint8_t joiner, double bytes_per_second) {
    for (auto& [number, x] : peers)
      if (number != joiner)
        world.network.bandwidth(host(joiner), host(number), bytes_per_second);
  }
  /// Bytes a second of the means that the run makes.
  double mean_rate() {
    auto from = at(1).step();
    world.run_for(1s);
    auto steps = static_cast<double>(at(1).step() - from);
    return steps * values * sizeof(float);
  }
  /// Of whole states: not of the means of a missed step.
  static std::vector<event> downloads(const whole_peer& x) {
    auto all = x.observer->events("state_download");
    all.erase(
        std::remove_if(all.begin(), all.end(),
                       [](const event& e) { return !field<bool>(e, "whole"); }),
        all.end());
    return all;
  }
  /// Whether it took a step with the others.
  bool trains(std::uint8_t number) {
    return at(number).step() > 0;
  }
  /// Wherever two peers tell of a step, they tell of the same state.
  void check_digests() {
    std::map<std::uint64_t, std::string> known;
    std::size_t compared = 0;
    for (auto& [number, x] : peers)
      for (auto name : {"step", "state_download"})
        for (auto& e : x->observer->events(name)) {
          auto digest = field<std::string>(e, "digest");
          auto [at, first]
              = known.emplace(field<std::uint64_t>(e, "step"), digest);
          compared += !first;
          CHECK(at->second == digest);
        }
    CHECK(compared > 0);
  }
  void leave() {
    for (auto& [number, x] : peers)
      x->leave();
    world.run_for(1s);
  }

  test_world world;
  std::uint64_t steps_;
  std::map<std::uint8_t, std::unique_ptr<whole_peer>> peers;
};

} // namespace

TEST_CASE("a joiner enters a fast run after one download of 100 steps") {
  fast_run x{3};
  // The means alone fill most of the line: the state gets what is left.
  auto rate = x.mean_rate();
  auto& joiner = x.add(4);
  x.lines(4, 1.075 * rate / 3);
  auto entered = x.world.run_until([&] { return x.trains(4); }, 60s);
  if (!entered)
    MESSAGE(joiner.log());
  REQUIRE(entered);
  auto downloads = fast_run::downloads(joiner);
  REQUIRE(downloads.size() == 1);
  CHECK(field<std::uint64_t>(downloads[0], "means") >= 100);
  CHECK(field<std::uint64_t>(downloads[0], "donors") == 3);
  CHECK(x.world.run_until([&] { return joiner.step() == x.at(1).step(); }, 5s));
  CHECK(fast_run::downloads(joiner).size() == 1);
  CHECK(joiner.observer->events("fault").empty());
  x.check_digests();
  x.leave();
}

TEST_CASE("donors that are killed one after the other do not end a download") {
  fast_run x{4};
  auto rate = x.mean_rate();
  auto& joiner = x.add(5);
  x.lines(5, 1.1 * rate / 4);
  for (std::uint8_t left = 4; left > 1; --left) {
    // All four have listed by then; the whole of it would take 570 ms.
    x.world.run_for(left == 4 ? 300ms : 100ms);
    REQUIRE(joiner.observer->events("state_download").empty());
    for (std::uint8_t other = 1; other <= 5; ++other)
      if (other != left)
        x.world.network.cut(host(left), host(other));
    x.at(left).leave();
    x.lines(5, 1.1 * rate / (left - 1));
  }
  REQUIRE(x.world.run_until([&] { return x.trains(5); }, 60s));
  auto downloads = fast_run::downloads(joiner);
  REQUIRE(downloads.size() == 1);
  CHECK(field<std::uint64_t>(downloads[0], "donors") == 4);
  x.leave();
}

TEST_CASE("a donor that sends wrong bytes loses its place and nothing else") {
  fast_run x{3};
  x.world.network.judge_frames([](auto& from, auto&, outgoing_frame& frame) {
    auto m = decode(frame.head.data(), frame.head.size(), frame.body.size);
    if (from == host(2) && m && std::holds_alternative<state_piece>(*m)) {
      auto copy = std::make_shared<std::vector<std::uint8_t>>(
          frame.body.data, frame.body.data + frame.body.size);
      copy->front() ^= 1;
      frame.body = {copy, copy->data(), copy->size()};
    }
    return memory_network::fate::arrives;
  });
  auto rate = x.mean_rate();
  auto& joiner = x.add(4);
  x.lines(4, rate);
  REQUIRE(x.world.run_until([&] { return x.trains(4); }, 60s));
  CHECK(fast_run::downloads(joiner).size() == 1);
  auto faults = joiner.observer->events("fault");
  REQUIRE(faults.size() == 1);
  CHECK(field<std::string>(faults[0], "peer") == short_name(peer(2)));
  CHECK(field<std::string>(faults[0], "detail")
        == "it sent a piece that is not what was listed");
  x.check_digests();
  x.leave();
}

TEST_CASE("eight joiners at once get in without more than donors give") {
  fast_run x{3};
  // Who is being served by whom, as seen on the lines.
  std::map<std::string, std::set<std::string>> served;
  std::size_t most = 0;
  x.world.network.judge_frames(
      [&](auto& from, auto& to, outgoing_frame& frame) {
        auto m = decode(frame.head.data(), frame.head.size(), frame.body.size);
        if (!m)
          return memory_network::fate::arrives;
        if (auto manifest = std::get_if<state_manifest>(&*m)) {
          if (manifest->available)
            served[from].insert(to);
          most = std::max(most, served[from].size());
        }
        if (std::holds_alternative<state_done>(*m))
          served[to].erase(from);
        return memory_network::fate::arrives;
      });
  auto rate = x.mean_rate();
  for (std::uint8_t i = 4; i <= 11; ++i) {
    x.add(i);
    for (std::uint8_t donor = 1; donor <= 3; ++donor)
      x.world.network.bandwidth(host(i), host(donor), rate);
  }
  auto all = x.world.run_until(
      [&] {
        for (std::uint8_t i = 4; i <= 11; ++i)
          if (!x.trains(i))
            return false;
        return true;
      },
      120s);
  if (!all)
    for (std::uint8_t i = 4; i <= 11; ++i)
      if (!x.trains(i))
        MESSAGE(x.at(i).log());
  REQUIRE(all);
  CHECK(most <= limits::joiners_served);
  CHECK(most > 1);
  x.check_digests();
  x.leave();
}
