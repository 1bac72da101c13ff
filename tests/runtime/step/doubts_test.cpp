#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/membership/misconduct.hpp"
#include "runtime/state/limits.hpp"
#include "runtime/step/doubts.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

round_over round_with(std::initializer_list<std::uint8_t> members,
                      std::vector<peer_id> silent, bool watched = false) {
  round_over x;
  for (auto i : members) {
    struct group_member m;
    m.who.id = peer(i);
    x.contract.members.push_back(m);
  }
  x.silent = std::move(silent);
  x.watched = watched;
  return x;
}

/// One of many.
peer_id numbered(unsigned number) {
  auto x = peer(static_cast<std::uint8_t>(number >> 8));
  x.bytes[1] = static_cast<std::uint8_t>(number);
  return x;
}

} // namespace

TEST_CASE("a doubt passes") {
  doubts x;
  x.set_aside(peer(1), 5s, start);
  CHECK(x.has(peer(1), start + 4s));
  CHECK(x.all(start + 4s) == std::set<peer_id>{peer(1)});
  CHECK_FALSE(x.has(peer(1), start + 5s));
  CHECK(x.all(start + 5s).empty());
}

TEST_CASE("what a doubted peer reports is kept while it is connected") {
  doubts x;
  progress_report said;
  said.id = peer(1);
  said.step = 5;
  x.heard(said, start);
  CHECK(x.reports(start).empty());
  x.set_aside(peer(1), 5s, start);
  CHECK(x.reports(start).empty());
  x.heard(said, start);
  REQUIRE(x.reports(start + 4s).size() == 1);
  CHECK(x.reports(start + 4s)[0]->step == 5);
  CHECK(x.reports(start + 5s).empty());
  SUBCASE("it says nothing more") {
    x.set_aside(peer(1), 1h, start);
    CHECK(x.reports(start + limits::report_max_age).size() == 1);
    CHECK(x.reports(start + limits::report_max_age + 1s).empty());
  }
  SUBCASE("it leaves") {
    x.left(peer(1));
    CHECK(x.reports(start).empty());
  }
  SUBCASE("the run goes back") {
    x.forget_reports();
    CHECK(x.reports(start).empty());
  }
}

TEST_CASE("each time lasts twice as long, until all is long ago") {
  doubts x;
  auto first = x.set_aside_longer(peer(1), start);
  CHECK(first == std::chrono::seconds{limits::distrust});
  CHECK(x.set_aside_longer(peer(1), start + 90s) == 2 * first);
  CHECK(x.set_aside_longer(peer(1), start + 1h) == first);
  for (auto i = 0; i < 20; ++i)
    x.set_aside_longer(peer(1), start + 1h);
  CHECK(x.set_aside_longer(peer(1), start + 1h)
        == first * (1 << limits::most_doublings));
}

TEST_CASE("a peer that others contradict may lead a group of its own") {
  doubts x;
  x.set_aside_longer(peer(1), start, true);
  x.set_aside_longer(peer(2), start);
  CHECK(x.contradicted(start + 1s) == std::vector<peer_id>{peer(1)});
  CHECK(x.contradicted(start + 1h).empty());
}

TEST_CASE("silence in rounds in a row is too much, with rounds between not") {
  doubts x;
  auto silent = round_with({1, 2}, {peer(1)});
  CHECK(x.heard(silent, start).empty());
  SUBCASE("in a row") {
    auto found = x.heard(silent, start);
    REQUIRE(found.size() == 1);
    CHECK(found[0].first == peer(1));
    CHECK(x.has(peer(1), start));
    CHECK_FALSE(x.has(peer(2), start));
    // It has had its second chance.
    CHECK(x.heard(silent, start + 2min).size() == 1);
  }
  SUBCASE("it took part in between") {
    auto heard = round_with({1, 2}, {});
    heard.committed = true;
    x.heard(heard, start);
    CHECK(x.heard(silent, start).empty());
  }
  SUBCASE("a round that nobody watched says nothing") {
    x.heard(round_with({1, 2}, {}), start);
    CHECK(x.heard(silent, start).size() == 1);
  }
  SUBCASE("one that was watched does") {
    x.heard(round_with({1, 2}, {}, true), start);
    CHECK(x.heard(silent, start).empty());
  }
}

TEST_CASE("invitations that are not answered are silence, too") {
  doubts x;
  CHECK(x.unanswered({peer(1)}, start).empty());
  SUBCASE("twice in a row") {
    const auto all = x.unanswered({peer(1), peer(2)}, start);
    REQUIRE(all.size() == 1);
    CHECK(all[0].second == limits::unanswered_rest);
    const auto later = start + limits::unanswered_rest;
    CHECK_FALSE(x.has(peer(1), later));
    // One that does so again has had its chance.
    CHECK(x.unanswered({peer(1)}, later)[0].second
          == 2 * limits::unanswered_rest);
  }
  SUBCASE("before a round") {
    CHECK(x.heard(round_with({1, 2}, {peer(1)}), start).size() == 1);
  }
  SUBCASE("with a round in between") {
    auto heard = round_with({1, 2}, {});
    heard.committed = true;
    x.heard(heard, start);
    CHECK(x.unanswered({peer(1)}, start).empty());
    return;
  }
  CHECK(x.has(peer(1), start));
  CHECK_FALSE(x.has(peer(2), start));
}

TEST_CASE("forgiving says whether there was anything to forgive") {
  doubts x;
  x.set_aside(peer(1), 5s, start);
  CHECK(x.forgive(peer(1)));
  CHECK_FALSE(x.forgive(peer(1)));
  CHECK_FALSE(x.has(peer(1), start));
}

TEST_CASE("peers that do not come back are forgotten in the end") {
  doubts x;
  for (unsigned i = 0; i < 10'000; ++i)
    x.set_aside_longer(numbered(i), start + i * 1s);
  const auto at_most = (misconduct::memory + duration{limits::distrust}) / 1s;
  CHECK(x.remembered() <= 2 * static_cast<std::size_t>(at_most + 1));
  // Nobody else is.
  CHECK(x.has(numbered(9'999), start + 9'999s));
  CHECK(x.set_aside_longer(numbered(9'500), start + 9'999s)
        == 2 * limits::distrust);
}

TEST_CASE("of many silent peers those that were last silent are counted") {
  doubts x;
  for (unsigned i = 0; i < 10'000; ++i)
    x.unanswered({numbered(i)}, start + i * 1ms);
  CHECK(x.remembered() == doubts::most_silent);
  CHECK(x.unanswered({numbered(0)}, start + 10s).empty());
  CHECK(x.unanswered({numbered(9'999)}, start + 10s).size() == 1);
}
