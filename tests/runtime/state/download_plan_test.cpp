#include "runtime/state/download_plan.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <queue>

#include "runtime/random.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t piece_bytes = 1000;
constexpr blob_key state_5{true, 5};
constexpr blob_key mean_6{false, 6};

peer_id donor(std::uint8_t number) {
  peer_id x;
  x.bytes[0] = number;
  return x;
}

download_plan make_plan(std::uint64_t in_flight = 1u << 20) {
  return download_plan{{in_flight, 1s, 10s}};
}

time_point at(duration since) {
  return time_point{since};
}

bool take(download_plan& plan, const download_plan::request& x, duration now) {
  auto first = plan.arrived(x, piece_bytes, at(now));
  if (first)
    plan.place(x.blob, x.piece);
  return first;
}

} // namespace

TEST_CASE("means are asked for before the state, each piece of one donor") {
  auto plan = make_plan();
  plan.add(state_5, 3, piece_bytes);
  plan.add(mean_6, 2, piece_bytes);
  for (auto blob : {state_5, mean_6})
    for (std::uint8_t i : {1, 2})
      plan.add_holder(blob, donor(i));
  auto asked = plan.next(at(0s));
  REQUIRE(asked.size() == 2 * download_plan::least_window);
  CHECK(asked[0].blob == mean_6);
  CHECK(asked[1].blob == mean_6);
  CHECK(asked[0].donor != asked[1].donor);
  CHECK(asked[2].blob == state_5);
  CHECK(plan.next(at(0s)).empty());
}

TEST_CASE("a donor's window grows with what its line carries") {
  auto plan = make_plan();
  plan.add(state_5, 1000, piece_bytes);
  plan.add_holder(state_5, donor(1));
  // Any number of pieces takes 100 ms.
  auto asked = plan.next(at(0s));
  duration now{0};
  for (int round = 0; round < 4; ++round) {
    now += 100ms;
    for (auto& x : asked)
      take(plan, x, now);
    auto before = asked.size();
    asked = plan.next(at(now));
    CHECK(asked.size() > before);
  }
}

TEST_CASE("what a lost donor was asked is asked of another at once") {
  auto plan = make_plan();
  plan.add(state_5, 4, piece_bytes);
  plan.add_holder(state_5, donor(1));
  CHECK(plan.next(at(0s)).size() == 2);
  plan.drop_donor(donor(1));
  plan.add_holder(state_5, donor(2));
  auto asked = plan.next(at(1ms));
  REQUIRE(asked.size() == 2);
  CHECK(asked[0].piece == 0);
  CHECK(asked[1].piece == 1);
}

TEST_CASE("a piece beyond its deadline is asked of somebody else") {
  auto plan = make_plan();
  plan.add(state_5, 2, piece_bytes);
  plan.add_holder(state_5, donor(1));
  auto asked = plan.next(at(0s));
  CHECK(plan.expire(at(9s)).empty());
  CHECK(plan.expire(at(11s)).size() == 2);
  plan.add_holder(state_5, donor(2));
  for (auto& x : plan.next(at(11s)))
    CHECK(x.donor == donor(2));
  // Its answer counts all the same.
  CHECK(take(plan, asked[0], 12s));
  CHECK_FALSE(take(plan, {donor(2), state_5, asked[0].piece}, 13s));
}

TEST_CASE("a whole that turns out wrong is asked for again") {
  auto plan = make_plan();
  plan.add(state_5, 1, piece_bytes);
  plan.add_holder(state_5, donor(1));
  take(plan, plan.next(at(0s)).at(0), 1s);
  CHECK(plan.complete(state_5));
  plan.drop(state_5);
  plan.add(state_5, 1, piece_bytes);
  plan.add_holder(state_5, donor(1));
  CHECK(plan.progress(state_5).first == 0);
  CHECK(plan.next(at(1s)).size() == 1);
}

TEST_CASE("every download completes while one good donor stays") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed); // Replays the failure.
    random_stream chance{seed};
    constexpr std::uint64_t in_flight = 16 * piece_bytes;
    auto plan = make_plan(in_flight);
    auto pieces = static_cast<std::uint32_t>(1 + chance.below(200));
    auto means = static_cast<std::uint32_t>(chance.below(4));
    std::vector<blob_key> blobs{state_5};
    plan.add(state_5, pieces, piece_bytes);
    for (std::uint32_t i = 0; i < means; ++i) {
      blobs.push_back({false, 6 + i});
      plan.add(blobs.back(), pieces, piece_bytes);
    }
    struct line {
      duration delay{0};
      duration a_piece{0};
      duration dies{1h};
      bool mute = false;
      duration free{0};
    };
    std::map<peer_id, line> donors;
    auto count = static_cast<std::uint8_t>(1 + chance.below(6));
    for (std::uint8_t i = 1; i <= count; ++i) {
      auto& x = donors[donor(i)];
      x.delay = chance.below(200) * 1ms;
      x.a_piece = (1 + chance.below(50)) * 1ms;
      if (i > 1 && chance.below(3) == 0) // The first one stays.
        x.dies = chance.below(3000) * 1ms;
      x.mute = i > 1 && chance.below(4) == 0;
      for (auto& blob : blobs)
        plan.add_holder(blob, donor(i));
    }
    std::multimap<duration, download_plan::request> under_way;
    std::map<std::pair<blob_key, std::uint32_t>, int> open;
    std::set<std::pair<blob_key, std::uint32_t>> ever;
    std::size_t requests = 0, reasons = 0;
    auto complete = [&] {
      return std::all_of(blobs.begin(), blobs.end(),
                         [&](auto& b) { return plan.complete(b); });
    };
    duration now{0};
    for (; !complete() && now < 10min; now += 1ms) {
      for (auto& [id, x] : donors)
        if (x.dies == now) {
          reasons += plan.outstanding(id) / piece_bytes;
          plan.drop_donor(id);
          for (auto i = under_way.begin(); i != under_way.end();)
            i = i->second.donor == id ? under_way.erase(i) : std::next(i);
        }
      while (!under_way.empty() && under_way.begin()->first <= now) {
        auto x = under_way.begin()->second;
        under_way.erase(under_way.begin());
        take(plan, x, now);
      }
      reasons += plan.expire(at(now)).size();
      for (auto& x : plan.next(at(now))) {
        ++requests;
        if (!ever.insert({x.blob, x.piece}).second)
          ++reasons; // Checked below by count: a second asking.
        auto& l = donors.at(x.donor);
        REQUIRE(l.dies > now);
        REQUIRE(plan.outstanding(x.donor) <= in_flight);
        if (l.mute)
          continue;
        l.free = std::max(l.free, now + l.delay) + l.a_piece;
        under_way.emplace(l.free + l.delay, x);
      }
    }
    REQUIRE(complete());
    // Never twice without a lost, late or last piece.
    CHECK(requests <= blobs.size() * pieces + reasons);
  }
}

TEST_CASE("good donors are asked for each piece once, but for the last ones") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    random_stream chance{seed};
    auto plan = make_plan();
    constexpr std::uint32_t pieces = 300;
    plan.add(state_5, pieces, piece_bytes);
    std::map<peer_id, std::pair<duration, duration>> lines; // Piece, free.
    for (std::uint8_t i = 1; i <= 4; ++i) {
      plan.add_holder(state_5, donor(i));
      lines[donor(i)] = {(5 + chance.below(40)) * 1ms, 0ms};
    }
    std::multimap<duration, download_plan::request> under_way;
    std::size_t requests = 0;
    for (duration now{0}; !plan.complete(state_5); now += 1ms) {
      REQUIRE(now < 1min);
      while (!under_way.empty() && under_way.begin()->first <= now) {
        take(plan, under_way.begin()->second, now);
        under_way.erase(under_way.begin());
      }
      CHECK(plan.expire(at(now)).empty());
      for (auto& x : plan.next(at(now))) {
        ++requests;
        auto& [takes, free] = lines[x.donor];
        free = std::max(free, now) + takes;
        under_way.emplace(free + 20ms, x);
      }
    }
    CHECK(requests <= pieces + 12);
  }
}
