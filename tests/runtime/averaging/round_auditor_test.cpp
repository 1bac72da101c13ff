#include <doctest/doctest.h>

#include "runtime/averaging/round_auditor.hpp"
#include "runtime/packing/packing.hpp"
#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;

namespace {

template <class Order>
std::vector<Order> all_of(const round_orders& orders) {
  std::vector<Order> result;
  for (auto& x : orders)
    if (auto y = std::get_if<Order>(&x))
      result.push_back(*y);
  return result;
}

/// Member 0 of three trainers with a sample each and a chunk each, of one
/// value; it looks at the mean of chunk 2, which member 2 made.
struct one_auditor {
  one_auditor() {
    for (std::size_t i = 0; i < 3; ++i) {
      auto body = body_of(i);
      digests.push_back(digest_of(body.data, body.size));
    }
    evidence.values = &mean;
    evidence.seal = digest_of(digests);
    evidence.own = part_source::part{head(), body_of(0)};
  }

  /// Of member i: i + 1.
  shared_bytes body_of(std::size_t member) const {
    auto value = std::make_shared<float>(static_cast<float>(member + 1));
    return {value, reinterpret_cast<const std::uint8_t*>(value.get()),
            sizeof(float)};
  }
  chunk_part head() const {
    chunk_part result;
    result.chunk = 2;
    result.samples = 1;
    return result;
  }
  round_orders receive(std::size_t by, const message& what) {
    return it.receive(by, what, [this](std::uint32_t) {
      return std::optional<mean_evidence>{evidence};
    });
  }
  /// All show their parts, and the reducer tells what it summed.
  round_orders show_all() {
    it.shown(1, head(), body_of(1));
    it.shown(2, head(), body_of(2));
    return receive(2, part_digests{{}, 2, digests});
  }

  const round_setting setting{3, 0, {1, 1, 1}};
  std::vector<digest> digests;
  float mean = 2;
  mean_evidence evidence;
  round_auditor it{contract_of(setting), setting.map(), 0, {}};
};

} // namespace

TEST_CASE("a check asks all for their parts, and the reducer what it summed") {
  one_auditor x;
  auto asked = x.it.check(2, std::nullopt, x.evidence);
  CHECK(all_of<round_mail>(asked).size() == 2); // Our own is here.
  REQUIRE(all_of<audit_reminder>(asked).size() == 1);
  CHECK(all_of<audit_reminder>(asked)[0].chunk == 2);
  auto found = x.show_all();
  REQUIRE(all_of<mean_checked>(found).size() == 1);
  CHECK(all_of<mean_checked>(found)[0].outcome == "right");
  CHECK(all_of<member_accused>(found).empty());
}

TEST_CASE("a mean that is not that of its parts names its reducer to all") {
  one_auditor x;
  x.mean = 3;
  x.it.check(2, std::nullopt, x.evidence);
  auto found = x.show_all();
  REQUIRE(all_of<member_accused>(found).size() == 1);
  CHECK(all_of<member_accused>(found)[0].member == 2);
  CHECK(all_of<member_accused>(found)[0].by_majority);
  auto told = all_of<round_mail>(found);
  REQUIRE(told.size() == 2);
  CHECK(std::holds_alternative<mean_challenge>(told[0].content));
}

TEST_CASE("who calls a right mean wrong makes a doubted pair") {
  one_auditor x;
  auto asked = x.receive(1, mean_challenge{{}, 2});
  CHECK(all_of<round_mail>(asked).size() == 2);       // It sees for itself.
  CHECK(x.receive(1, mean_challenge{{}, 2}).empty()); // Once a member.
  auto found = x.show_all();
  REQUIRE(all_of<members_in_doubt>(found).size() == 1);
  CHECK(all_of<members_in_doubt>(found)[0].members
        == std::vector<std::size_t>{1, 2});
}

TEST_CASE("a reducer that does not show its own part is doubted") {
  one_auditor x;
  x.it.check(2, std::nullopt, x.evidence);
  x.it.shown(1, x.head(), x.body_of(1));
  auto found = x.it.waited_for(2);
  REQUIRE(all_of<members_in_doubt>(found).size() == 1);
  CHECK(all_of<members_in_doubt>(found)[0].members
        == std::vector<std::size_t>{2});
  CHECK(x.it.waited_for(2).empty()); // Judged once.
}

TEST_CASE("a member shows a part once to each that asks, and few of them") {
  round_setting setting{3, 0, {10, 10, 10}};
  round_auditor x{contract_of(setting), setting.map(), 0, {}};
  std::size_t shown = 0;
  for (std::uint32_t chunk = 0; chunk < 10; ++chunk) {
    shown += x.may_show(1, chunk);
    CHECK_FALSE(x.may_show(1, chunk));
  }
  CHECK(shown < 10);
  // Its own again after a failure, and once more when its sum is disputed.
  for (std::uint32_t chunk = 10; chunk < 20; ++chunk) {
    CHECK(x.may_show(1, chunk));
    CHECK(x.may_show(1, chunk));
    CHECK_FALSE(x.may_show(1, chunk));
  }
  CHECK(x.may_show(2, 0));
  CHECK_FALSE(x.may_show(2, 30)); // There is no such chunk.
}

TEST_CASE("the news of an abort waits until all have said what they got") {
  one_auditor x;
  const std::vector<digest> ours{mean_number(0), mean_number(1),
                                 mean_number(2)};
  auto theirs = ours;
  theirs[2] = mean_number(9);
  round_outcome over;
  over.samples = 7;
  auto told = x.it.inquire(ours, over);
  CHECK(all_of<round_mail>(told).size() == 2);
  CHECK(all_of<audit_reminder>(told).size() == 1);
  CHECK(all_of<round_outcome>(told).empty());
  auto present = [](std::size_t) { return true; };
  x.receive(1, round_findings{{}, ours});
  CHECK_FALSE(x.it.all_spoke(present));
  CHECK(x.it.all_spoke([](std::size_t) { return false; }));
  x.receive(2, round_findings{{}, theirs});
  REQUIRE(x.it.all_spoke(present));
  auto judged = x.it.judge();
  // It does not hold what the majority got of it.
  REQUIRE(all_of<member_accused>(judged).size() == 1);
  CHECK(all_of<member_accused>(judged)[0].member == 2);
  REQUIRE(all_of<round_outcome>(judged).size() == 1);
  CHECK(all_of<round_outcome>(judged)[0].samples == 7);
  CHECK(x.it.judge().empty()); // Once.
}
