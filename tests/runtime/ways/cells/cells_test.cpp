#include <doctest/doctest.h>

#include "runtime/membership/limits.hpp"
#include "runtime/ways/cells/cells.hpp"
#include "tests/runtime/step/step_peers.hpp"

using namespace potluck;
using namespace potluck::step_peers;

namespace {

struct cell_scene {
  cell_scene() : own(report(5, 10)), others(peer(5), 64, false) {
    cells::settings how;
    how.packing = packing::int8;
    it.emplace(how);
  }
  outlook at(time_point now = start) {
    return {own, others, now, 4s};
  }
  void contributor(std::uint8_t number, std::uint64_t samples,
                   std::uint64_t step = 3) {
    auto x = report(number, samples, step);
    x.contributes = true;
    x.sponsor = peer(5);
    others.joined(x.id, start);
    others.heard(x, start);
    it->heard(at(), x);
  }
  progress_report own;
  acquaintances others;
  std::optional<cells> it;
};

contribution_wanted question() {
  contribution_wanted x;
  x.by = peer(1);
  x.request.step = 3;
  x.request.state = state(3);
  return x;
}

} // namespace

TEST_CASE("a sponsor reports its contributors' samples as well") {
  cell_scene x;
  x.contributor(7, 20);
  x.contributor(8, 30, 2); // Elsewhere.
  auto said = x.it->reported(x.at());
  CHECK(said.samples == 30);
  CHECK(said.contributors == 2);
  x.it->took(peer(7)); // In its own gradient now.
  CHECK(x.it->reported(x.at()).samples == 10);
  x.it->lost(peer(8));
  CHECK(x.it->reported(x.at()).contributors == 1);
}

TEST_CASE(
    "a sponsor does not pass on what a contributor cannot have computed") {
  cell_scene x;
  x.others.tracker().update_self(x.own, start);
  x.contributor(7, std::uint64_t{1} << 40);
  // Nobody's speed is known: as many as the target batch has.
  CHECK(x.it->reported(x.at()).samples == 10 + 64);
}

TEST_CASE("a frozen gradient is completed once, from those that have samples") {
  cell_scene x;
  CHECK_FALSE(x.it->gather(x.at(), 100, 0));
  x.it->thawed();
  x.contributor(7, 20);
  x.contributor(8, 0);
  x.contributor(9, 30, 2);
  auto order = x.it->gather(x.at(), 100, 0);
  REQUIRE(order);
  CHECK(order->contributors == std::vector<peer_id>{peer(7)});
  CHECK(order->packings == std::vector<packing>{packing::int8});
  CHECK(order->step == 3);
  CHECK(x.it->gathering());
  x.it->thawed();
  CHECK_FALSE(x.it->gather(x.at(), 100, 0)); // One is under way.
  CHECK(x.it->gathered());
  CHECK_FALSE(x.it->gathered());
}

TEST_CASE("a contributor answers its sponsor where both stand alike") {
  cell_scene x;
  CHECK(x.it->asked(x.at(), question(), true) == "averaging itself");
  x.own.contributes = true;
  CHECK(x.it->asked(x.at(), question(), false) == "nothing accumulated");
  auto old = question();
  old.request.step = 2;
  CHECK(x.it->asked(x.at(), old, true) == "at another step");
  CHECK(x.it->question() == nullptr);
  CHECK(x.it->asked(x.at(), question(), true).empty());
  REQUIRE(x.it->question());
  CHECK(x.it->question()->by == peer(1));
  x.it->answered(x.at(), true);
  CHECK(x.it->question() == nullptr);
  CHECK(x.it->rests(x.at()));
  CHECK_FALSE(x.it->rests(x.at(start + limits::contributor_rest)));
  x.own.step = 4; // The step is made.
  CHECK_FALSE(x.it->rests(x.at()));
}
