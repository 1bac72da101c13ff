#include "runtime/averaging/round/hasty_rulings.hpp"

#include <doctest/doctest.h>

#include "tests/runtime/averaging/round/round_world.hpp"

using namespace potluck;
using namespace potluck::testing;
using namespace std::chrono_literals;

namespace {

constexpr duration patience = 2s;
constexpr auto start = time_point{1min};

/// Member 1 of three trainers, to whom all are connected.
struct second_of_three {
  explicit second_of_three(averaging_rule how = {}) : it{patience, how, known} {
    watch.joined(0);
    watch.joined(2);
  }
  bool unfounded(std::size_t by, message content, duration after = 100ms) {
    watch.at(start + after);
    return it.is_unfounded(by, content, agreement, watch);
  }
  round_verdict verdict(bool commit, std::uint32_t epoch = 0) const {
    round_verdict x;
    x.group = contract_of(setting).group;
    x.epoch = epoch;
    x.commit = commit;
    return x;
  }
  round_heal heal(std::vector<std::uint8_t> alive) const {
    return {contract_of(setting).group,
            0,
            std::move(alive),
            {{0, 2}, {1, 2}, {2, 2}}};
  }
  /// The round ends without a step. @return Who is doubted.
  std::optional<std::size_t> ends() {
    return it.over(false, agreement.members());
  }

  const round_setting setting{3, 0, {1, 1, 1}};
  round_agreement agreement{contract_of(setting), setting.map(), peer(1)};
  member_watch watch{3, start};
  std::shared_ptr<call_offs> known = std::make_shared<call_offs>();
  hasty_rulings it;
};

} // namespace

TEST_CASE("means that are made in others' stead are unfounded while all are "
          "well") {
  second_of_three x;
  CHECK(x.unfounded(0, x.heal({0, 1, 2})));
  CHECK(x.unfounded(0, x.verdict(true)));
  SUBCASE("not when somebody is lost, by it or here") {
    CHECK_FALSE(x.unfounded(0, x.heal({0, 1})));
    x.watch.left(2);
    CHECK_FALSE(x.unfounded(0, x.heal({0, 1, 2})));
  }
  SUBCASE("nor when a leader may have lost patience") {
    CHECK_FALSE(x.unfounded(0, x.heal({0, 1, 2}), patience * 3 / 4));
    // It is not its turn.
    CHECK_FALSE(x.unfounded(2, x.heal({0, 1, 2}), patience));
  }
  SUBCASE("under a robust rule, or a bound, whoever is lost by it") {
    averaging_rule bounded;
    bounded.part_norm = 1;
    for (const auto& rule : {averaging_rule{aggregator::median}, bounded}) {
      second_of_three robust{rule};
      CHECK(robust.unfounded(0, robust.heal({0, 1})));
      CHECK_FALSE(robust.unfounded(0, robust.heal({0, 2}))); // Without us.
    }
  }
}

TEST_CASE("members that take turns in ending rounds are doubted, too") {
  second_of_three x;
  for (std::size_t i = 0; i < limits::call_offs_excused; ++i) {
    const std::uint32_t by = i % 2 == 0 ? 0 : 2;
    CHECK_FALSE(x.unfounded(by, x.verdict(false, by)));
    CHECK_FALSE(x.ends());
  }
  CHECK_FALSE(x.unfounded(2, x.verdict(false, 2)));
  CHECK(x.ends() == std::optional<std::size_t>{2});
}

TEST_CASE("who ends rounds is obeyed, and doubted when it does so again and "
          "again") {
  second_of_three x;
  for (std::size_t i = 0; i < limits::call_offs_excused; ++i) {
    CHECK_FALSE(x.unfounded(0, x.verdict(false)));
    CHECK_FALSE(x.ends());
  }
  SUBCASE("without a reason") {
    CHECK_FALSE(x.unfounded(0, x.verdict(false)));
    CHECK(x.ends() == std::optional<std::size_t>{0});
  }
  SUBCASE("but not for a round that counts all the same") {
    CHECK_FALSE(x.unfounded(0, round_settle{x.verdict(false).group, 0}));
    CHECK_FALSE(x.it.over(true, x.agreement.members()));
  }
  SUBCASE("nor late in the round") {
    CHECK_FALSE(x.unfounded(0, x.verdict(false), patience));
    CHECK_FALSE(x.ends());
  }
}
