#include "runtime/ways/cells/cell_tally.hpp"

#include <doctest/doctest.h>

#include "messages/limits.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

constexpr duration longest_guess = 10s;

digest state_of(std::uint8_t i) {
  digest x;
  x.bytes[0] = i;
  return x;
}

peer_id peer(std::uint8_t i) {
  peer_id x;
  x.bytes[0] = i;
  return x;
}

time_point at(duration x) {
  return time_point{} + x;
}

/// Of peer `i` at step 3: 10 samples, 2 more each second.
progress_report report(std::uint8_t i, std::uint64_t samples = 10) {
  progress_report x;
  x.id = peer(i);
  x.step = 3;
  x.state = state_of(1);
  x.phase = phase::accumulating;
  x.samples = samples;
  x.samples_per_second = 2;
  return x;
}

cell_tally::sum sum_at(const cell_tally& x, duration now) {
  return x.at(3, state_of(1), at(now), longest_guess);
}

} // namespace

TEST_CASE("a cell has what its contributors reported, and went on to compute") {
  cell_tally x;
  CHECK(sum_at(x, 0s).contributors == 0);
  CHECK(sum_at(x, 0s).samples == 0);
  x.heard(report(2), at(0s));
  x.heard(report(1, 100), at(1s));
  CHECK(sum_at(x, 1s).contributors == 2);
  CHECK(sum_at(x, 1s).samples_per_second == 4);
  CHECK(sum_at(x, 1s).samples == 112);
  CHECK(sum_at(x, 4s).samples == 124);
  x.heard(report(2, 20), at(4s)); // Faster than was guessed: it counts.
  CHECK(sum_at(x, 4s).samples == 126);
}

TEST_CASE("nobody is believed to have gone on for ever, or before the report") {
  cell_tally x;
  x.heard(report(1), at(5s));
  CHECK(sum_at(x, 60s).samples == 30);
  CHECK(sum_at(x, 0s).samples == 10);
}

TEST_CASE("who does not accumulate, or has reported nothing, is not guessed") {
  cell_tally x;
  auto waits = report(1);
  waits.phase = phase::waiting;
  x.heard(waits, at(0s));
  x.heard(report(2, 0), at(0s)); // It would have nothing to hand over.
  CHECK(sum_at(x, 4s).samples == 10);
  x.heard(report(1), at(4s));
  CHECK(sum_at(x, 5s).samples == 12);
  x.gave(peer(1));
  CHECK(sum_at(x, 8s).samples == 0);
  CHECK(sum_at(x, 8s).contributors == 2);
}

TEST_CASE("samples of another step or state are not the sponsor's to count") {
  cell_tally x;
  x.heard(report(1), at(0s));
  auto late = report(2);
  late.step = 2;
  x.heard(late, at(0s));
  auto strange = report(3);
  strange.state = state_of(9);
  x.heard(strange, at(0s));
  auto sum = sum_at(x, 0s);
  CHECK(sum.contributors == 3);
  CHECK(sum.samples == 10);
  CHECK(sum.samples_per_second == 2);
  x.forget(peer(1));
  x.forget(peer(7)); // Nobody knows it.
  CHECK(sum_at(x, 0s).contributors == 2);
  CHECK(sum_at(x, 0s).samples == 0);
}

TEST_CASE("claims add up to no more than a report can say") {
  cell_tally x;
  for (std::uint8_t i = 1; i <= 3; ++i) {
    auto boasts = report(i, max_samples);
    boasts.samples_per_second = max_real;
    x.heard(boasts, at(0s));
  }
  CHECK(sum_at(x, 9s).samples == max_samples);
  CHECK(sum_at(x, 9s).samples_per_second == max_real);
}
