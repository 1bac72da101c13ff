#include "runtime/averaging/round/round_jury.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

using members = std::vector<std::size_t>;

template <class Order>
std::vector<Order> all_of(const round_orders& orders) {
  std::vector<Order> result;
  for (auto& x : orders)
    if (auto y = std::get_if<Order>(&x))
      result.push_back(*y);
  return result;
}

shared_bytes body_of_one() {
  auto value = std::make_shared<float>(2.0F);
  return {value, reinterpret_cast<const std::uint8_t*>(value.get()),
          sizeof(float)};
}

/// A member of three trainers, which average a chunk of one value each.
struct one_of_three {
  explicit one_of_three(std::size_t self = 0, safeguard_set guards = {},
                        std::shared_ptr<call_offs> known
                        = std::make_shared<call_offs>())
      : what{terms_of(setting, self, guards, std::move(known))},
        agreement{what.contract, setting.map(), what.self},
        bulk{what.contract, what.plan,      self,
             what.usual,    value_pool{10}, std::make_shared<round_intake>(1),
             [] {}},
        it{what, agreement, bulk, watch} {
    for (std::size_t i = 0; i < 3; ++i)
      if (i != self)
        watch.joined(i);
  }
  static round_terms terms_of(const round_setting& setting, std::size_t self,
                              safeguard_set guards,
                              std::shared_ptr<call_offs> known) {
    round_terms result;
    result.contract = contract_of(setting);
    result.contract.patience_ms = 2000;
    result.plan.chunks = {1, 1, 1};
    result.self = peer(self);
    result.guards = guards;
    result.call_offs = std::move(known);
    return result;
  }
  chunk_mean mean_of(std::uint32_t chunk) const {
    chunk_mean result;
    result.group = what.contract.group;
    result.chunk = chunk;
    result.samples = 3;
    result.seal = mean_number(8);
    return result;
  }
  /// It leads, all means are here, and each of the others tells of a mean.
  void all_prepared(const digest& second, const digest& third) {
    agreement.averaged(0, {});
    agreement.mean_here(mean_of(1));
    agreement.mean_here(mean_of(2));
    agreement.whole_vector_here(mean_number(1));
    const auto& group = what.contract.group;
    agreement.receive(peer(1), round_prepared{group, second, 0, 3, 3});
    agreement.receive(peer(2), round_prepared{group, third, 0, 3, 3});
  }
  /// The second of the three has other means than the others.
  void differ() {
    all_prepared(mean_number(2), mean_number(1));
    REQUIRE(agreement.standing() == standing::aborted);
  }
  round_orders decided() {
    round_outcome news;
    news.committed = agreement.standing() == standing::committed;
    return it.decided(news);
  }
  round_orders finds(std::size_t by, std::vector<digest> owners) {
    return it.heard(by, round_findings{what.contract.group, std::move(owners)});
  }

  const round_setting setting{3, 0, {1, 1, 1}};
  const round_terms what;
  round_agreement agreement;
  round_bulk bulk;
  member_watch watch{3, time_point{1min}};
  round_jury it;
};

/// What this member tells others that it got.
std::vector<digest> findings_in(const round_orders& orders) {
  for (auto& mail : all_of<round_mail>(orders))
    if (auto found = std::get_if<round_findings>(&mail.content))
      return found->owners;
  return {};
}

} // namespace

TEST_CASE("a member whose data cannot be used is accused; for a mean it is "
          "dropped, too") {
  one_of_three x;
  const auto part = x.it.part_refused(1, "a NaN");
  CHECK(all_of<round_fault>(part).size() == 1);
  REQUIRE(all_of<member_accused>(part).size() == 1);
  CHECK_FALSE(all_of<member_accused>(part)[0].by_majority);
  CHECK(all_of<member_dropped>(part).empty());
  const auto mean = x.it.mean_refused(2, "a NaN");
  CHECK(all_of<member_accused>(mean).size() == 1);
  REQUIRE(all_of<member_dropped>(mean).size() == 1);
  CHECK(all_of<member_dropped>(mean)[0].member == 2);
}

TEST_CASE("whose part most trainers refuse has offended for everybody") {
  one_of_three x;
  x.it.part_refused(2, "a NaN");
  auto lacking = x.mean_of(1);
  lacking.left_out = {2};
  SUBCASE("as the plan's means tell") {
    const auto accused = all_of<member_accused>(x.it.mean_here(1, lacking));
    REQUIRE(accused.size() == 1);
    CHECK(accused[0].member == 2);
    CHECK(accused[0].by_majority);
  }
  SUBCASE("but a heal does without members that are lost") {
    lacking.version = 2;
    CHECK(x.it.mean_here(1, lacking).empty());
  }
}

TEST_CASE("a mean that somebody calls wrong is checked, if it is here") {
  one_of_three x;
  const mean_challenge wrong{x.what.contract.group, 2};
  SUBCASE("it is not") {
    CHECK(x.it.heard(1, wrong).empty());
  }
  SUBCASE("it is, until the chunk is averaged anew") {
    x.agreement.mean_here(x.mean_of(2));
    x.bulk.note_seal(x.mean_of(2));
    const auto asked = all_of<round_mail>(x.it.heard(1, wrong));
    REQUIRE_FALSE(asked.empty());
    for (auto& mail : asked)
      CHECK(std::holds_alternative<part_request>(mail.content));
    chunk_part part;
    part.chunk = 2;
    part.samples = 1;
    CHECK(x.it.shown(1, part, body_of_one()));
    x.it.forget(2);
    CHECK_FALSE(x.it.shown(1, part, body_of_one()));
  }
}

TEST_CASE("a round that counts is told at once") {
  one_of_three x;
  x.all_prepared(mean_number(1), mean_number(1));
  REQUIRE(x.agreement.standing() == standing::committed);
  const auto orders = x.decided();
  REQUIRE(orders.size() == 1);
  REQUIRE(all_of<round_outcome>(orders).size() == 1);
  CHECK(all_of<round_outcome>(orders)[0].committed);
}

TEST_CASE("a round whose means differ is told when all have said what they "
          "got") {
  one_of_three x;
  x.differ();
  const auto asked = x.decided();
  CHECK(all_of<round_outcome>(asked).empty());
  CHECK(all_of<audit_reminder>(asked).size() == 1);
  auto found = findings_in(asked);
  REQUIRE(found.size() == 3);
  CHECK(x.finds(1, found).empty());
  SUBCASE("it got what all got: then it says so without a reason") {
    const auto told = x.finds(2, found);
    CHECK(all_of<round_outcome>(told).size() == 1);
    REQUIRE(all_of<members_in_doubt>(told).size() == 1);
    CHECK(all_of<members_in_doubt>(told)[0].members == members{1});
  }
  SUBCASE("one that no longer can is not waited for") {
    x.watch.left(2);
    const auto told = x.it.heard(1, mean_request{});
    CHECK(all_of<round_outcome>(told).size() == 1);
  }
  SUBCASE("nor one that takes too long") {
    CHECK(all_of<round_outcome>(x.it.reminded(std::nullopt)).size() == 1);
    CHECK(x.it.reminded(std::nullopt).empty());
  }
  SUBCASE("nor anybody when the next round begins") {
    CHECK(all_of<round_outcome>(x.it.give_up()).size() == 1);
    CHECK(x.it.give_up().empty());
  }
}

TEST_CASE("a lie about means explains why they differ") {
  one_of_three x;
  x.differ();
  auto found = findings_in(x.decided());
  REQUIRE(found.size() == 3);
  // Everybody got another mean of the third member.
  found[2] = mean_number(20);
  x.finds(1, found);
  found[2] = mean_number(21);
  const auto told = x.finds(2, found);
  REQUIRE(all_of<members_in_doubt>(told).size() == 1);
  CHECK(all_of<members_in_doubt>(told)[0].members == members{2});
  REQUIRE(all_of<member_accused>(told).size() == 1);
  CHECK(all_of<member_accused>(told)[0].by_majority);
  CHECK(all_of<round_outcome>(told).size() == 1);
}

TEST_CASE("nobody is asked for the liar where it is not to be found out") {
  one_of_three x{0, safeguard_set{}.without(safeguard::naming)};
  x.differ();
  const auto orders = x.decided();
  REQUIRE(orders.size() == 1);
  CHECK(all_of<round_outcome>(orders).size() == 1);
}

TEST_CASE("findings that come before the end wait for it") {
  one_of_three x;
  const std::vector<digest> found(3, mean_number(20));
  CHECK(all_of<round_outcome>(x.finds(1, found)).empty());
  const auto later = x.it.reminded(std::nullopt);
  REQUIRE(later.size() == 1);
  REQUIRE(all_of<audit_reminder>(later).size() == 1);
  CHECK_FALSE(all_of<audit_reminder>(later)[0].chunk);
}

TEST_CASE("who ends rounds before their time again and again is doubted, "
          "before the outcome is told") {
  auto known = std::make_shared<call_offs>();
  round_orders last;
  for (std::size_t i = 0; i <= limits::call_offs_excused; ++i) {
    CHECK(all_of<members_in_doubt>(last).empty());
    one_of_three x{1, {}, known};
    round_verdict off;
    off.group = x.what.contract.group;
    CHECK_FALSE(x.it.is_unfounded(0, off)); // It is obeyed.
    x.agreement.receive(peer(0), off);
    REQUIRE(x.agreement.standing() == standing::aborted);
    last = x.decided();
  }
  REQUIRE(last.size() == 2);
  REQUIRE(all_of<members_in_doubt>(last).size() == 1);
  CHECK(all_of<members_in_doubt>(last)[0].members == members{0});
  CHECK(std::holds_alternative<round_outcome>(last.back()));
}
