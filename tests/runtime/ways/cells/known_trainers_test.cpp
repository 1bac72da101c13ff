#include "runtime/ways/cells/known_trainers.hpp"

#include <doctest/doctest.h>

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

progress_report report(unsigned i, phase what = phase::accumulating) {
  progress_report x;
  x.id = peer(i);
  x.phase = what;
  return x;
}

progress_report contributor(unsigned i, std::uint32_t knows) {
  auto x = report(i);
  x.contributes = true;
  x.members = knows;
  return x;
}

constexpr time_point start{1h};
constexpr auto silent_after = 15s;

/// Peer 5 hears of others.
struct scene {
  void hear(const progress_report& x, time_point when = start,
            bool connected = true) {
    others.heard(x, when, connected);
  }
  known_trainers::census count(time_point when = start,
                               bool contributes = false) const {
    return others.count(when, contributes);
  }
  known_trainers others{peer(5), silent_after};
};

} // namespace

TEST_CASE("others are kept in the order of ids, and nobody but trainers") {
  scene x;
  for (unsigned i : {7, 3, 9, 3})
    x.hear(report(i));
  x.hear(report(5)); // Itself.
  auto auxiliary = report(4);
  auxiliary.role = role::auxiliary;
  x.hear(auxiliary);
  REQUIRE(x.others.all().size() == 3);
  CHECK(x.others.all()[0].id == peer(3));
  CHECK(x.others.all()[1].id == peer(7));
  CHECK(x.others.all()[2].id == peer(9));
  CHECK(x.others.find(peer(7)) == &x.others.all()[1]);
  CHECK(x.others.find(peer(4)) == nullptr);
  x.others.lost(peer(7));
  CHECK(x.others.find(peer(7)) == nullptr);
  CHECK(x.others.all().size() == 2);
}

TEST_CASE("a report counts for a while, of somebody connected for longer") {
  scene x;
  CHECK(x.others.met(peer(1), false));
  CHECK_FALSE(x.others.met(peer(1), false));
  x.hear(report(1));
  x.hear(report(2));
  CHECK(x.count(start + silent_after).members == 2);
  CHECK(x.count(start + silent_after + 1ns).members == 1);
  const auto end
      = start + known_trainers::patience_with_connected * silent_after;
  CHECK(x.count(end).members == 1);
  CHECK(x.count(end + 1ns).members == 0);
  x.others.forget_silent(end, false);
  CHECK(x.others.find(peer(1)) != nullptr);
  CHECK(x.others.find(peer(2)) == nullptr);
}

TEST_CASE("a circuit is no line of one's own") {
  scene x;
  x.hear(report(1));
  CHECK_FALSE(x.others.met(peer(1), true));
  CHECK(x.others.relayed(peer(1)));
  CHECK_FALSE(x.others.find(peer(1))->here);
  CHECK(x.others.met(peer(1), false));
  CHECK_FALSE(x.others.relayed(peer(1)));
  CHECK(x.others.find(peer(1))->here);
  x.others.lost(peer(1));
  x.hear(report(1));
  CHECK_FALSE(x.others.find(peer(1))->here);
}

TEST_CASE("members are those that have decided, by their own word") {
  scene x;
  x.hear(report(1));
  x.hear(report(2, phase::joining));
  x.hear(contributor(3, 40));
  x.hear(report(4), start, false);
  auto sponsor = report(9);
  sponsor.contributors = 6;
  sponsor.members = 8;
  x.hear(sponsor);
  auto there = x.count();
  CHECK(there.members == 2);
  CHECK(there.contributors == 6);
  CHECK(there.told == 40);
  CHECK(there.before_us == 1);
  // The smaller newcomer will decide before us, the greater member has.
  CHECK(there.before_us_with_newcomers == 4);
  CHECK_FALSE(there.apart);
  // A contributor believes what a member knows.
  CHECK(x.count(start, true).members == 8);
}

TEST_CASE("open are settled members with a line here that others can dial") {
  scene x;
  for (unsigned i : {1, 2, 3})
    x.others.met(peer(i), false);
  x.hear(report(1));
  auto hidden = report(2);
  hidden.where = {"192.0.2.1", 0};
  x.hear(hidden);
  x.hear(report(3, phase::joining));
  x.hear(report(4)); // Not connected.
  CHECK(x.count(start).open == 0);
  const auto settled = start + known_trainers::settling;
  CHECK(x.count(settled - 1ns).open == 0);
  CHECK(x.count(settled).open == 1);
  x.hear(report(3), start + 1s);
  CHECK(x.count(settled).open == 1);
  CHECK(x.count(settled + 1s).open == 2);
}

TEST_CASE("one out of reach stays if it knows more, or else comes first") {
  const auto later = start + absences::estranged_after;
  const auto apart = [&](unsigned who, std::uint32_t knows) {
    scene x;
    x.hear(report(1), later); // With us there are two members.
    x.others.missed(peer(who), start);
    auto far = report(who);
    far.members = knows;
    x.hear(far, later, false);
    CHECK_FALSE(x.count(later).apart);
    x.others.missed(peer(who), later);
    x.hear(far, later, false);
    CHECK(x.others.estranged(peer(who)));
    return x.count(later).apart;
  };
  CHECK(apart(3, 2));
  CHECK_FALSE(apart(9, 2));
  CHECK(apart(9, 4)); // Twice as many as we know.
  CHECK_FALSE(apart(9, 3));
  CHECK_FALSE(apart(3, 1)); // Half as many.
}

TEST_CASE("beyond so many the one heard longest ago is forgotten") {
  scene x;
  for (unsigned i = 0; i < known_trainers::most; ++i)
    x.hear(report(10 + i), i == 100 ? start - 1s : start);
  x.hear(report(9));
  CHECK(x.others.all().size() == known_trainers::most);
  CHECK(x.others.find(peer(9)) != nullptr);
  CHECK(x.others.find(peer(110)) == nullptr);
  CHECK(x.others.find(peer(111)) != nullptr);
}
