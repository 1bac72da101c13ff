#include "runtime/ways/cells/cell_choice.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace potluck;
using namespace std::chrono_literals;

namespace {

peer_id peer(unsigned i) {
  peer_id x;
  x.bytes[0] = static_cast<std::uint8_t>(i >> 8);
  x.bytes[1] = static_cast<std::uint8_t>(i);
  x.bytes[2] = 1;
  return x;
}

progress_report report(unsigned i, bool contributes = false) {
  progress_report x;
  x.id = peer(i);
  x.phase = phase::accumulating;
  x.contributes = contributes;
  return x;
}

time_point at(duration x) {
  return time_point{} + x;
}

cell_choice choice(unsigned self, std::size_t group_size = 4) {
  return {peer(self), group_size, 15s, self};
}

/// Peers 1 to `count` average.
void hear_members(cell_choice& x, unsigned count) {
  for (unsigned i = 1; i <= count; ++i)
    x.heard(report(i), at(0s));
}

/// Trainers that all look once a second and hear what members said a second
/// ago; contributors only those that they are connected with.
struct crowd {
  struct one {
    explicit one(cell_choice x) : choice(std::move(x)) {
    }
    cell_choice choice;
    bool here = true;
    progress_report said;
  };

  explicit crowd(std::size_t size) : group_size(size) {
  }
  void add(unsigned i, std::uint64_t seed) {
    all.push_back(std::make_unique<one>(
        cell_choice{peer(i), group_size, 15s, mix(seed, i)}));
    all.back()->said = report(i);
    all.back()->said.phase = phase::joining;
  }
  void second() {
    ++now;
    auto time = at(std::chrono::seconds{now});
    std::set<peer_id> members;
    for (auto& x : all)
      if (x->here && !x->said.contributes)
        members.insert(x->said.id);
    for (auto& x : all) {
      if (!x->here)
        continue;
      auto wanted = x->choice.wanted(members, time);
      for (auto& y : all) {
        // Who lacks connections looks everybody up.
        auto near = !x->choice.contributes()
                    || wanted.size() < cell_choice::links
                    || std::count(wanted.begin(), wanted.end(), y->said.id);
        if (y->here && y != x && !y->said.contributes && near)
          x->choice.heard(y->said, time);
      }
    }
    for (auto& x : all) {
      if (!x->here)
        continue;
      x->choice.reconsider(time);
      x->said.phase = phase::accumulating;
      x->said.contributes = x->choice.contributes();
      x->said.sponsor = x->choice.sponsor(members, time);
      x->said.members = static_cast<std::uint32_t>(x->choice.members(time) + 1);
    }
    for (auto& x : all) {
      x->said.contributors = 0;
      for (auto& y : all)
        x->said.contributors += y->here && y->said.sponsor == x->said.id;
    }
  }
  std::size_t members() const {
    std::size_t result = 0;
    for (auto& x : all)
      result += x->here && !x->choice.contributes();
    return result;
  }
  /// A member of the lowest or highest id leaves; the others notice at once.
  void lose_member() {
    for (auto& x : all)
      if (x->here && !x->choice.contributes()) {
        x->here = false;
        for (auto& y : all)
          y->choice.lost(x->said.id);
        return;
      }
  }

  std::size_t group_size;
  std::vector<std::unique_ptr<one>> all;
  int now = 0;
};

} // namespace

TEST_CASE("of a crowd it need not have heard to contribute to it") {
  auto x = choice(9);
  hear_members(x, 2);
  SUBCASE("there are records of many") {
    x.looked_up(6); // More than 1.25 times the group's size.
    x.reconsider(at(0s));
    CHECK(x.contributes());
  }
  SUBCASE("some records may be of others than members") {
    x.looked_up(5);
    x.reconsider(at(0s));
    CHECK_FALSE(x.contributes());
  }
}

TEST_CASE("few trainers all average") {
  auto x = choice(9);
  hear_members(x, 3);
  x.reconsider(at(1s));
  CHECK_FALSE(x.contributes());
  CHECK(x.members(at(1s)) == 3);
  CHECK(x.sponsor({peer(1)}, at(1s)).empty());
}

TEST_CASE("a newcomer contributes where the group is full") {
  auto x = choice(0);
  hear_members(x, 4);
  x.reconsider(at(1s));
  CHECK(x.contributes());
}

TEST_CASE("newcomers count as members for nobody") {
  auto x = choice(9);
  x.heard(report(10), at(0s));
  x.reconsider(at(1s));
  for (unsigned i = 1; i <= 8; ++i) {
    auto newcomer = report(i);
    newcomer.phase = phase::joining;
    x.heard(newcomer, at(1s));
  }
  x.reconsider(at(2s));
  CHECK(x.members(at(2s)) == 1);
  CHECK_FALSE(x.contributes());
}

TEST_CASE("a newcomer believes those who know more of the group") {
  auto x = choice(0);
  auto told = report(1);
  told.members = 4;
  x.heard(told, at(0s));
  x.reconsider(at(1s));
  CHECK(x.contributes());
}

TEST_CASE("of trainers that all are new, the first by id average") {
  for (unsigned self : {3u, 4u, 5u}) {
    auto x = choice(self);
    for (unsigned i = 0; i < 9; ++i) {
      auto other = report(i);
      other.phase = phase::joining;
      x.heard(other, at(0s));
    }
    x.reconsider(at(1s));
    CHECK(x.contributes() == (self >= 4));
  }
}

TEST_CASE("old reports and contributors do not count as members") {
  auto x = choice(9);
  hear_members(x, 3);
  x.heard(report(4), at(-20s));
  x.heard(report(5, true), at(0s));
  auto aux = report(6);
  aux.role = role::auxiliary;
  x.heard(aux, at(0s));
  CHECK(x.members(at(0s)) == 3);
  x.reconsider(at(0s));
  CHECK_FALSE(x.contributes());
}

TEST_CASE("a sponsor stays the same while it can") {
  auto x = choice(0);
  hear_members(x, 4);
  x.reconsider(at(0s));
  std::set<peer_id> two{peer(2), peer(3)};
  auto first = x.sponsor(two, at(0s));
  REQUIRE(two.count(first) == 1);
  auto burdened = report(first == peer(2) ? 2 : 3);
  burdened.contributors = 100;
  x.heard(burdened, at(1s));
  CHECK(x.sponsor(two, at(1s)) == first);
  auto other = first == peer(2) ? peer(3) : peer(2);
  x.lost(first);
  CHECK(x.sponsor(two, at(1s)) == other);
  CHECK(x.sponsor({}, at(1s)).empty());
}

TEST_CASE("who is advised to goes to another sponsor, once it is connected") {
  auto x = choice(0);
  hear_members(x, 5);
  x.reconsider(at(0s));
  std::set<peer_id> two{peer(2), peer(3)};
  auto first = x.sponsor(two, at(0s));
  x.advised(peer(5));
  CHECK(x.sponsor(two, at(0s)) == first);
  two.insert(peer(5));
  CHECK(x.sponsor(two, at(0s)) == peer(5));
  CHECK(x.wanted(two, at(0s)).front() == peer(5));
  // That was all: it does not go back there for ever.
  x.lost(peer(5));
  two.erase(peer(5));
  auto second = x.sponsor(two, at(0s));
  two.insert(peer(5));
  x.heard(report(5), at(1s));
  CHECK(x.sponsor(two, at(1s)) == second);
  x.advised(peer(5));
  x.advised({});
  CHECK(x.sponsor(two, at(1s)) == second);
  // A member that became a contributor is no sponsor.
  x.heard(report(4, true), at(1s));
  x.advised(peer(4));
  two.insert(peer(4));
  CHECK(x.sponsor(two, at(1s)) == second);
}

TEST_CASE("a sponsor that contributes itself is left for another") {
  auto x = choice(0);
  hear_members(x, 4);
  x.reconsider(at(0s));
  REQUIRE(x.sponsor({peer(1)}, at(0s)) == peer(1));
  x.heard(report(1, true), at(1s));
  CHECK(x.sponsor({peer(1), peer(2)}, at(1s)) == peer(2));
}

TEST_CASE("a contributor wants two connections, to those with little to do") {
  auto x = choice(0);
  for (unsigned i = 1; i <= 6; ++i) {
    auto other = report(i);
    other.contributors = i == 3 || i == 5 ? 0 : 40;
    x.heard(other, at(0s));
  }
  x.reconsider(at(0s));
  auto wanted = x.wanted({}, at(0s));
  CHECK(std::set<peer_id>(wanted.begin(), wanted.end())
        == std::set<peer_id>{peer(3), peer(5)});
  // Connections that there are need not be made.
  auto kept = x.wanted({peer(6)}, at(0s));
  CHECK(kept.size() == 2);
  CHECK(std::count(kept.begin(), kept.end(), peer(6)) == 1);
}

TEST_CASE("a crowd settles on about as many members as a group has") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    crowd x{8};
    random_stream chance{seed};
    for (unsigned i = 0; i < 100; ++i) {
      x.add(static_cast<unsigned>(chance.below(60000)), seed);
      if (chance.below(4) == 0)
        x.second();
    }
    for (int i = 0; i < 30; ++i)
      x.second();
    CHECK(x.members() >= 6);
    CHECK(x.members() <= 10);
    // Nobody changes his mind without a reason.
    auto before = x.members();
    for (int i = 0; i < 60; ++i)
      x.second();
    CHECK(x.members() == before);
  }
}

TEST_CASE("members that leave are replaced, also all of them at once") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    crowd x{8};
    for (unsigned i = 0; i < 100; ++i)
      x.add(i * 7, seed);
    for (int i = 0; i < 30; ++i)
      x.second();
    auto one_by_one = x.members();
    for (std::size_t i = 0; i < one_by_one; ++i) {
      x.lose_member();
      for (int s = 0; s < 10; ++s)
        x.second();
    }
    CHECK(x.members() >= 4);
    CHECK(x.members() <= 10);
    while (x.members() > 0)
      x.lose_member();
    for (int i = 0; i < 90; ++i)
      x.second();
    CHECK(x.members() >= 6);
    CHECK(x.members() <= 10);
  }
}

TEST_CASE("a newcomer that reaches no member yet does not take them for gone") {
  // In a round members' lines are full, and their sessions may take a while.
  auto x = choice(9);
  auto told = report(1, true);
  told.members = 4;
  x.heard(told, at(0s));
  x.reconsider(at(1s));
  REQUIRE(x.contributes());
  CHECK(x.members(at(1s)) == 0);
  for (int i = 2; i < 16; ++i) {
    x.reconsider(at(std::chrono::seconds{i}));
    CHECK(x.contributes());
  }
  // If there is really nobody, somebody has to begin.
  for (int i = 16; i < 40; ++i)
    x.reconsider(at(std::chrono::seconds{i}));
  CHECK_FALSE(x.contributes());
}

TEST_CASE("who has come forward does not make others believe that they are "
          "alone") {
  auto x = choice(0, 8);
  for (unsigned i = 1; i <= 8; ++i)
    x.heard(report(i), at(0s));
  x.reconsider(at(1s));
  REQUIRE(x.contributes());
  // Three are left, and only one is heard.
  for (unsigned i = 2; i <= 8; ++i)
    x.lost(peer(i));
  auto left = report(1);
  left.members = 3;
  int second = 2;
  for (; x.contributes() && second < 60; ++second) {
    x.heard(left, at(std::chrono::seconds{second}));
    x.reconsider(at(std::chrono::seconds{second}));
  }
  REQUIRE_FALSE(x.contributes());
  CHECK(x.members(at(std::chrono::seconds{second})) == 3);
  x.heard(left, at(std::chrono::seconds{second + 15}));
  CHECK(x.members(at(std::chrono::seconds{second + 15})) == 1);
}

TEST_CASE("a member on a busy line stays one while it is connected") {
  auto x = choice(9, 2);
  for (unsigned i : {1, 2}) {
    x.met(peer(i));
    x.heard(report(i), at(0s));
  }
  x.reconsider(at(1s));
  REQUIRE(x.contributes());
  auto first = x.sponsor({peer(1), peer(2)}, at(1s));
  REQUIRE_FALSE(first.empty());
  x.reconsider(at(50s));
  CHECK(x.members(at(50s)) == 2);
  CHECK(x.sponsor({peer(1), peer(2)}, at(50s)) == first);
  // But not for ever.
  CHECK(x.members(at(61s)) == 0);
  // Of somebody who is gone nothing counts that is told now.
  x.lost(peer(1));
  x.heard(report(1), at(60s));
  CHECK(x.members(at(76s)) == 0);
}

// ---- who cannot be dialled -------------------------------------------------

namespace {

progress_report hidden(unsigned i) {
  auto x = report(i);
  x.where = {"10.0.0.9", 0};
  return x;
}

} // namespace

TEST_CASE("who cannot be dialled contributes to somebody who can") {
  auto x = choice(0);
  x.hide(true);
  x.met(peer(1));
  x.heard(hidden(1), at(0s));
  x.reconsider(at(1s));
  CHECK_FALSE(x.contributes()); // Somebody has to average.
  x.met(peer(2));
  x.heard(report(2), at(1s));
  x.reconsider(at(5s));
  CHECK_FALSE(x.contributes()); // That one may just have come.
  x.reconsider(at(6s));
  CHECK(x.contributes());
  // However few average, it does not come forward.
  CHECK(x.enough_members(at(6s)));
  for (auto s = 7s; s < 60s; ++s) {
    x.heard(report(2), at(s));
    x.reconsider(at(s));
    CHECK(x.contributes());
  }
  CHECK(x.sponsor({peer(2)}, at(59s)) == peer(2));
}

TEST_CASE("where groups are redrawn everybody averages, whoever cannot be "
          "reached") {
  cell_choice x{peer(0), 4, 15s, 1, true};
  x.hide(true);
  x.met(peer(2));
  for (auto s = 0s; s < 20s; ++s) {
    x.heard(report(2), at(s));
    x.reconsider(at(s));
    CHECK_FALSE(x.contributes());
  }
}

TEST_CASE("nobody hands gradients to who is not connected, or still joins") {
  auto x = choice(0);
  x.hide(true);
  auto joining = report(2);
  joining.phase = phase::joining;
  joining.members = 1;
  x.met(peer(2));
  for (auto s = 0s; s < 60s; ++s) {
    x.heard(report(1), at(s));
    x.heard(joining, at(s));
    x.reconsider(at(s));
    CHECK_FALSE(x.contributes());
  }
}

TEST_CASE("who turns out to be reachable comes forward again") {
  auto x = choice(0);
  x.hide(true);
  x.met(peer(2));
  x.heard(report(2), at(0s));
  x.reconsider(at(5s));
  REQUIRE(x.contributes());
  x.hide(false);
  CHECK_FALSE(x.enough_members(at(6s)));
  for (auto s = 6s; s < 60s && x.contributes(); ++s) {
    x.heard(report(2), at(s));
    x.reconsider(at(s));
  }
  CHECK_FALSE(x.contributes());
}

TEST_CASE("without anybody who can be dialled it averages itself") {
  auto x = choice(0);
  x.hide(true);
  x.met(peer(2));
  x.heard(report(2), at(0s));
  x.reconsider(at(5s));
  REQUIRE(x.contributes());
  x.lost(peer(2));
  for (auto s = 6s; s < 60s && x.contributes(); ++s)
    x.reconsider(at(s));
  CHECK_FALSE(x.contributes());
}

TEST_CASE("a contributor looks for nobody whom it cannot dial") {
  auto x = choice(0, 1);
  x.heard(hidden(1), at(0s));
  x.heard(report(2), at(0s));
  x.reconsider(at(1s));
  REQUIRE(x.contributes());
  CHECK(x.wanted({}, at(1s)) == std::vector<peer_id>{peer(2)});
  // But whoever has come is as good as any other.
  CHECK(x.wanted({peer(1)}, at(1s)) == std::vector<peer_id>{peer(1), peer(2)});
}

TEST_CASE("a member that could not be dialled once is looked for again") {
  auto x = choice(0, 1);
  x.heard(report(2), at(0s));
  x.reconsider(at(1s));
  REQUIRE(x.contributes());
  x.missed(peer(2), at(1s)); // It restarts.
  x.heard(report(2), at(2s));
  CHECK(x.wanted({}, at(2s)) == std::vector<peer_id>{peer(2)});
}

namespace {

/// A trainer among others; one of them it dials in vain, every 20 s.
struct apart {
  apart(unsigned self, unsigned other)
      : it(choice(self, 64)), away(report(other)) {
    it.met(peer(1));
    it.met(peer(7));
    away.members = 4;
  }
  void pass(duration until) {
    for (; now < until; now += 1s) {
      for (unsigned i : {1u, 7u}) {
        auto near = report(i);
        near.members = 4;
        it.heard(near, at(now));
      }
      if (now < heard_until)
        it.heard(away, at(now));
      if (now % 20s == 1s && !it.contributes())
        it.missed(away.id, at(now));
      if (now < heard_until) // By its record, again and again.
        it.heard(away, at(now));
      it.reconsider(at(now));
      if (it.contributes() && !contributed)
        contributed = now;
    }
  }

  cell_choice it;
  progress_report away;
  duration now = 0s;
  duration heard_until = 1h;
  std::optional<duration> contributed;
};

} // namespace

TEST_CASE("of two that cannot reach each other one contributes to a third") {
  apart first{3, 5};
  first.pass(5min);
  CHECK_FALSE(first.contributed);
  apart second{5, 3};
  second.pass(5min);
  REQUIRE(second.contributed);
  // Missed at 1, heard from 46 on, missed again; and then by chance.
  CHECK(*second.contributed >= 61s);
  CHECK(*second.contributed < 3min);
  CHECK(second.it.contributes());
  CHECK_FALSE(second.it.sponsor({peer(1), peer(7)}, at(5min - 1s)).empty());
}

TEST_CASE("who contributes for want of reach tries again after a while") {
  apart x{5, 3};
  x.pass(3min);
  REQUIRE(x.it.contributes());
  x.it.met(peer(3)); // It turns out.
  x.pass(*x.contributed + cell_choice::estrangement);
  CHECK(x.it.contributes());
  x.heard_until = x.now;
  x.pass(x.now + 1min);
  CHECK_FALSE(x.it.contributes());
}

TEST_CASE("nobody gives way to one that hardly anybody reaches") {
  apart x{5, 3};
  x.away.members = 1;
  x.pass(5min);
  CHECK_FALSE(x.contributed);
  // That one does, whatever its id, if it reaches a third.
  apart y{3, 5};
  y.away.members = 20;
  y.pass(5min);
  CHECK(y.contributed);
}

TEST_CASE("who crashed is not out of reach, whatever its last record says") {
  apart x{5, 3};
  x.heard_until = 16s; // A record's life after the first dial failed.
  x.pass(5min);
  CHECK_FALSE(x.contributed);
  // Nor when it comes back and crashes again.
  x.heard_until = x.now + 15s;
  x.pass(x.now + 5min);
  CHECK_FALSE(x.contributed);
}

TEST_CASE("who is reached in the end was not out of reach") {
  apart x{5, 3};
  x.pass(59s); // A partition is over.
  x.it.met(peer(3));
  x.pass(2min);
  CHECK_FALSE(x.contributed);
}

TEST_CASE("if one that nobody reaches has all give way, some stay") {
  // Records are not signed: peer 0 is only heard of.
  std::vector<std::unique_ptr<cell_choice>> all;
  for (unsigned i = 1; i <= 12; ++i)
    all.push_back(std::make_unique<cell_choice>(choice(i, 64)));
  std::vector<bool> averages(13, true);
  auto forged = report(0);
  forged.members = 12;
  for (auto& x : all)
    for (unsigned j = 1; j <= 12; ++j)
      x->met(peer(j));
  for (auto s = 0s; s < 15min; ++s) {
    for (unsigned i = 1; i <= 12; ++i) {
      auto& x = *all[i - 1];
      for (unsigned j = 1; j <= 12; ++j) {
        auto near = report(j, !averages[j]);
        near.members = 12;
        if (j != i)
          x.heard(near, at(s));
      }
      x.heard(forged, at(s));
      if (s % 20s == 1s)
        x.missed(peer(0), at(s));
      x.heard(forged, at(s));
      x.reconsider(at(s));
    }
    for (unsigned i = 1; i <= 12; ++i)
      averages[i] = !all[i - 1]->contributes();
    CHECK(std::count(averages.begin() + 1, averages.end(), true) > 0);
  }
}

// ---- who has no line to those that average ---------------------------------

TEST_CASE("who is left out for its lines contributes through a member to which "
          "it has one, until it has one more") {
  auto x = choice(9, 8);
  for (unsigned i = 1; i <= 3; ++i) {
    x.met(peer(i), i != 2);
    x.heard(report(i), at(0s));
  }
  x.met(peer(4)); // Left out as well, which its reports do not say yet.
  x.heard(report(4), at(0s));
  x.reconsider(at(1s));
  CHECK_FALSE(x.contributes());
  x.left_out({peer(1), peer(2), peer(3)}, at(1s));
  x.reconsider(at(2s));
  CHECK(x.contributes());
  std::set<peer_id> direct{peer(2), peer(4)};
  CHECK(x.sponsor(direct, at(2s)) == peer(2));
  CHECK(x.wanted(direct, at(2s)) == std::vector<peer_id>{peer(2), peer(4)});
  bool one_more = true;
  SUBCASE("a hole is punched") {
    x.met(peer(3));
  }
  SUBCASE("somebody comes") {
    x.met(peer(5));
  }
  SUBCASE("it knows the line already") {
    x.met(peer(2));
    one_more = false;
  }
  for (int i = 3; i < 12; ++i)
    x.reconsider(at(std::chrono::seconds{i}));
  CHECK(x.contributes() != one_more); // So few average that it comes forward.
}

TEST_CASE("who has a line to nobody that averages does not stand in their way, "
          "but goes on when they are gone") {
  auto x = choice(0);
  for (unsigned i = 1; i <= 2; ++i) {
    x.met(peer(i), true);
    x.heard(report(i), at(0s));
  }
  x.left_out({peer(1), peer(2)}, at(1s));
  x.reconsider(at(1s));
  CHECK(x.contributes());
  CHECK(x.sponsor({}, at(1s)).empty());
  // It hears the news over the relays.
  CHECK(x.wanted({}, at(1s)).size() == 2);
  for (unsigned i = 1; i <= 2; ++i)
    x.lost(peer(i));
  for (int i = 2; i < 40; ++i)
    x.reconsider(at(std::chrono::seconds{i}));
  CHECK_FALSE(x.contributes());
}

TEST_CASE("invented members in records make nobody give way") {
  cell_choice x{peer(200), 4, 15s, 7};
  for (std::uint8_t i = 201; i < 204; ++i) { // Its group.
    x.met(peer(i));
    x.heard(report(i), at(0s));
  }
  x.reconsider(at(0s));
  REQUIRE_FALSE(x.contributes());
  for (int second = 1; second < 60; ++second) {
    for (std::uint8_t i = 201; i < 204; ++i)
      x.heard(report(i), at(std::chrono::seconds{second}));
    for (std::uint8_t i = 1; i < 100; ++i)
      x.heard(report(i), at(std::chrono::seconds{second}), false);
    x.reconsider(at(std::chrono::seconds{second}));
    CHECK_FALSE(x.contributes());
    CHECK(x.members(at(std::chrono::seconds{second})) == 3);
  }
}
