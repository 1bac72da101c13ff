#include <doctest/doctest.h>

#include "messages/limits.hpp"
#include "runtime/ways/moshpit/moshpit_groups.hpp"
#include "runtime/ways/moshpit/redrawn_groups.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

struct many {
  many() : own(report(1, 10)), others(peer(1), 64, true), it(settings()) {
    others.tracker().update_self(own, start);
    for (std::uint8_t i = 2; i <= 16; ++i)
      hear(report(i, 10), true);
  }
  static redrawn_groups::settings settings() {
    redrawn_groups::settings x;
    x.group_size = 4;
    x.seed = 7;
    return x;
  }
  void hear(const progress_report& x, bool connected) {
    if (connected) {
      others.joined(x.id, start);
      others.heard(x, start);
    } else {
      others.left(x.id);
      others.joined(x.id, start);
      others.left(x.id);
    }
  }
  outlook at(time_point now = start) {
    return {own, others, now, 4s};
  }
  std::set<peer_id> drawn() {
    auto group = moshpit_group_of(own.id, others.known_trainers(start), 4, 7,
                                  own.step);
    return {group.begin(), group.end()};
  }
  progress_report own;
  acquaintances others;
  redrawn_groups it;
};

} // namespace

TEST_CASE("partners are those that were drawn, anew for each step") {
  many x;
  auto drawn = x.drawn();
  auto partners = x.it.partners(x.at());
  CHECK(partners.size() + 1 == drawn.size());
  for (auto& p : partners)
    CHECK(drawn.count(p.id) == 1);
  CHECK(x.it.awaits(x.at(), partners[0].id));
  peer_id stranger = peer(99);
  CHECK_FALSE(x.it.awaits(x.at(), stranger));
}

TEST_CASE("a step is due when others have made theirs") {
  many x;
  x.own.samples = 0;
  x.others.tracker().update_self(x.own, start);
  for (std::uint8_t i = 2; i <= 16; ++i)
    x.others.heard(report(i, 0), start);
  CHECK_FALSE(x.it.due(x.at()));
  x.others.heard(report(9, 0, 4), start);
  CHECK(x.it.due(x.at()));
}

TEST_CASE("a group begins with half of what it has") {
  many x;
  auto partners = x.it.partners(x.at());
  CHECK(x.it.least_samples(x.at(), partners)
        == (10 + 10 * partners.size()) / 2);
  x.own.samples = 0;
  CHECK(x.it.least_samples(x.at(), {}) == 1);
}

TEST_CASE("a peer that is one step behind waits for its group, then fetches") {
  many x;
  std::vector<progress_report> ahead{report(9, 0, 4)};
  CHECK(x.it.donors(x.at(), ahead, 10s).empty());
  CHECK(x.it.donors(x.at(start + 9s), ahead, 10s).empty());
  CHECK(x.it.donors(x.at(start + 10s), ahead, 10s).size() == 1);
  SUBCASE("at once where two steps are missing") {
    many y;
    CHECK(y.it.donors(y.at(), {report(9, 0, 5)}, 10s).size() == 1);
  }
  SUBCASE("but not from a peer that claims more samples for no later step") {
    auto liar = report(9);
    liar.history_samples = 1u << 30;
    CHECK(x.it.donors(x.at(start + 20s), {liar}, 10s).empty());
  }
}

TEST_CASE("all at one step report the same, whatever they hold") {
  many x;
  CHECK(x.it.reported_state(3, state(1)) == x.it.reported_state(3, state(2)));
  CHECK(x.it.reported_state(3, state(1)) != x.it.reported_state(4, state(1)));
  CHECK(x.it.round_values(100) == 200);
  CHECK(x.it.lends_parameters());
}

TEST_CASE("a peer alone leads, and one whose group is elsewhere waits") {
  many x;
  CHECK(x.it.can_lead(x.at(), x.it.partners(x.at())));
  CHECK_FALSE(x.it.can_lead(x.at(), {}));
  acquaintances nobody{peer(1), 64, true};
  redrawn_groups alone{many::settings()};
  CHECK(alone.can_lead({x.own, nobody, start, 4s}, {}));
}
