#include "runtime/planning/resting.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/planning/group_by_lines.hpp"

using namespace potluck;
using namespace potluck::test;
using namespace std::chrono_literals;

namespace {

const auto thin = numbered(3);

/// Three good homes and a thin one, all of which have computed.
group_contract all_compute(std::uint64_t step) {
  auto x = group_by_lines(4, 0, [](auto, auto) { return true; });
  x.step = step;
  x.computing_ms = 1000;
  for (auto& m : x.members) {
    m.upload_bytes_per_second = 4e6;
    m.download_bytes_per_second = 1e7;
    m.samples = 30;
  }
  x.members[3].upload_bytes_per_second = 1e6;
  x.members[3].samples = 10;
  return x;
}

group_contract thin_rests(std::uint64_t step) {
  auto x = all_compute(step);
  x.members[3].samples = 0;
  return x;
}

struct member {
  explicit member(std::size_t i, bool willing = true)
      : it(numbered(i), {}, willing) {
  }
  void hear(const group_contract& x) {
    it.formed(x);
    it.look();
  }
  resting it;
};

} // namespace

TEST_CASE("all members draw one decision, and it is one's own to keep") {
  for (std::size_t i = 0; i < 4; ++i) {
    member x{i};
    CHECK_FALSE(x.it.rests(5, 0s));
    x.hear(all_compute(4));
    REQUIRE(x.it.now() != nullptr);
    CHECK(x.it.now()->resting == std::set<peer_id>{thin});
    CHECK(x.it.now()->seconds_all > 1.1 * x.it.now()->seconds);
    CHECK(x.it.rests(5, 0s) == (i == 3));
    CHECK_FALSE(x.it.rests(4, 0s)); // A round of the same step came to nothing.
  }
  member x{3, false};
  x.hear(all_compute(4));
  CHECK_FALSE(x.it.rests(5, 0s));
}

TEST_CASE("it is worked out when it is asked for") {
  member x{3};
  x.it.formed(all_compute(4));
  CHECK(x.it.now() == nullptr);
  CHECK(x.it.rests(5, 0s));
}

TEST_CASE("it holds for some steps, then all compute for one, and it is drawn "
          "anew") {
  member x{3};
  x.hear(all_compute(4));
  const auto until = x.it.now()->until;
  CHECK(until >= 4 + limits::shortest_rest);
  CHECK(until <= 4 + limits::longest_rest);
  for (std::uint64_t step = 5; step < until; ++step) {
    CHECK(x.it.rests(step, 0s));
    x.hear(thin_rests(step));
  }
  CHECK_FALSE(x.it.rests(until, 0s));
  x.hear(all_compute(until));
  CHECK(x.it.rests(until + 1, 0s));
}

TEST_CASE("the more it saves the longer it holds") {
  member little{3};
  little.hear(all_compute(4));
  auto x = all_compute(4);
  x.members[3].upload_bytes_per_second = 1e5;
  member much{3};
  much.hear(x);
  CHECK(much.it.now()->until > little.it.now()->until);
}

TEST_CASE("the decision ends when what it follows from does") {
  member x{3};
  x.hear(all_compute(4));
  auto next = thin_rests(5);
  SUBCASE("one that computes is gone") {
    next.members.erase(next.members.begin() + 1);
  }
  SUBCASE("a new one brings samples") {
    auto more = next.members[1];
    more.who.id = numbered(9);
    next.members.push_back(more);
  }
  SUBCASE("its line is faster") {
    next.members[3].upload_bytes_per_second = 3e6;
  }
  SUBCASE("an auxiliary helps") {
    auto helper = next.members[0];
    helper.who.id = numbered(9);
    helper.role = role::auxiliary;
    helper.samples = 0;
    next.members.push_back(helper);
  }
  x.hear(next);
  CHECK_FALSE(x.it.rests(6, 0s));
}

TEST_CASE("small changes do not end it") {
  member x{3};
  x.hear(all_compute(4));
  auto next = thin_rests(5);
  auto newcomer = next.members[1];
  newcomer.who.id = numbered(9);
  newcomer.samples = 0; // It has none yet.
  next.members.push_back(newcomer);
  next.members[3].upload_bytes_per_second = 1.2e6;
  next.members[0].upload_bytes_per_second = 2e6;
  x.hear(next);
  CHECK(x.it.rests(6, 0s));
  // One that rests may go.
  next = thin_rests(6);
  next.members.pop_back();
  x.hear(next);
  CHECK(x.it.rests(7, 0s));
}

TEST_CASE("who computes all the same is counted on from then on") {
  member x{0};
  x.hear(all_compute(4));
  x.hear(all_compute(5)); // It may have computed beside that round.
  REQUIRE(x.it.now() != nullptr);
  x.hear(all_compute(6));
  CHECK(x.it.now() == nullptr);
  x.hear(all_compute(7));
  CHECK(x.it.now() == nullptr);
  // Not for ever.
  x.hear(all_compute(7 + limits::unwilling_for));
  CHECK(x.it.now() != nullptr);
}

TEST_CASE("a step that takes too long needs everybody") {
  member x{3};
  x.hear(all_compute(4));
  CHECK(x.it.rests(5, 5s));
  CHECK_FALSE(x.it.rests(5, 60s));
  CHECK(x.it.rests(6, 0s));
}
