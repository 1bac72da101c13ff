/// Compute where the run's packing leaves values out: what it lends, and what
/// it keeps.
#include "actors/compute.hpp"

#include <doctest/doctest.h>

#include "tests/actors/compute_stage.hpp"

using namespace potluck;
using namespace std::chrono_literals;

namespace {

using floats = std::vector<float>;

struct sparse_shop : compute_stage {
  explicit sparse_shop(bool delayed = false,
                       std::shared_ptr<state_vault> vault = nullptr)
      : compute_stage(sparse(delayed), with(std::move(vault))),
        chunk_values(config.agreed.settings().chunk_values) {
  }
  static run_settings sparse(bool delayed) {
    auto result = settings(delayed);
    result.packing = "topk";
    return result;
  }
  static compute_config with(std::shared_ptr<state_vault> vault) {
    compute_config result;
    result.vault = std::move(vault);
    return result;
  }

  void batch(std::uint64_t step, std::uint64_t first) {
    compute_stage::batch(step, first, 8);
  }
  shared_gradient lent(lend_gradient how = {}) {
    tell(how);
    return conductor->last<gradient_lent>().gradient;
  }
  /// A step whose mean holds of ours what the fate says, in all chunks.
  void step(std::uint64_t number, shared_gradient offered, part_fate fate,
            bool beside = false) {
    auto own = std::make_shared<own_parts>();
    own->offered = std::move(offered);
    own->fates.assign(tiny_trainer::values / chunk_values, fate);
    tell(apply_mean{number, 64, mean(), beside, own});
    REQUIRE(conductor->last<state_changed>().step == number);
  }
  static shared_gradient mean() {
    return std::make_shared<floats>(tiny_trainer::values, 0.01f);
  }
  shared_gradient after(shared_gradient offered) const {
    return residual_after({std::move(offered), {}}, chunk_values,
                          packing::topk);
  }
  shared_gradient after_gift(shared_gradient given) const {
    return residual_after({std::move(given), {}},
                          contribution_values(chunk_values), packing::topk);
  }
  shared_gradient kept() {
    tell(take_snapshot{});
    return state_keeper->last<snapshot_taken>().state->residual;
  }

  std::uint32_t chunk_values = 0;
};

const floats nothing(tiny_trainer::values, 0.0f);

} // namespace

TEST_CASE("what a mean lacks of a gradient goes into the next one") {
  for (auto delayed : {false, true}) {
    CAPTURE(delayed);
    sparse_shop x{delayed};
    x.batch(0, 0);
    auto first = x.lent();
    CHECK_FALSE(x.kept());
    x.step(1, first, part_fate::packed, delayed);
    auto rest = x.after(first);
    REQUIRE(x.kept());
    CHECK(*x.kept() == *rest);
    x.tell(drop_gradient{});
    CHECK(*x.lent() == *rest);
    x.batch(1, 8);
    auto second = x.lent();
    CHECK(*second != *rest);
    CHECK(*second != nothing);
    x.step(2, second, part_fate::none, delayed);
    CHECK(*x.kept() == *second);
    x.tell(drop_gradient{});
    x.step(3, x.lent(), part_fate::whole, delayed);
    CHECK(*x.kept() == nothing);
  }
}

TEST_CASE("a dropped round leaves gradient and residual as they were") {
  sparse_shop x;
  x.batch(0, 0);
  x.step(1, x.lent(), part_fate::packed);
  auto rest = x.kept();
  x.batch(1, 8);
  auto once = *x.lent();
  CHECK(*x.lent() == once);
  CHECK((x.kept() == rest));
  // Set aside, lent, and taken back: likewise.
  sparse_shop y{true};
  y.batch(0, 0);
  y.tell(set_gradient_aside{});
  auto aside = *y.lent({true});
  y.tell(take_gradient_back{});
  CHECK(*y.lent() == aside);
}

TEST_CASE(
    "the residual outlives compute, and what was lent is not sent twice") {
  sparse_shop x;
  x.batch(0, 0);
  x.step(1, x.lent(), part_fate::packed);
  x.batch(1, 8);
  auto offered = x.lent();
  auto rest = x.kept();
  x.start(); // Another took its place, in the middle of a round.
  CHECK(*x.kept() == *rest);
  x.tell(apply_mean{2, 64, x.mean()}); // It had counted, others say.
  CHECK(*x.kept() == *x.after(offered));
}

TEST_CASE("a peer goes on with the residual of its checkpoint") {
  auto vault = std::make_shared<state_vault>();
  tiny_trainer model;
  auto saved
      = std::make_shared<training_state>(initial_state(model.layout(), 1));
  saved->step = 7;
  saved->residual = std::make_shared<floats>(tiny_trainer::values, 0.5f);
  vault->state = saved;
  SUBCASE("at the same step") {
    sparse_shop x{false, vault};
    CHECK(*x.lent() == floats(tiny_trainer::values, 0.5f));
  }
  SUBCASE("not when others have gone on from there") {
    sparse_shop x{false, vault};
    x.tell(apply_mean{8, 64, x.mean()});
    CHECK(*x.lent() == nothing);
  }
  SUBCASE("not with another state") {
    sparse_shop x{false, vault};
    x.tell(adopt_state{
        std::make_shared<training_state>(initial_state(model.layout(), 2))});
    CHECK(*x.lent() == nothing);
  }
  SUBCASE("not when it is another model's") {
    saved->residual = std::make_shared<floats>(5, 0.5f);
    sparse_shop x{false, vault};
    CHECK(*x.lent() == nothing);
    CHECK_FALSE(x.kept());
  }
}

TEST_CASE("what a sponsor gets counts as sent, unless it was refused") {
  sparse_shop x;
  x.batch(0, 0);
  lend_gradient gift;
  gift.gift = 4;
  auto given = x.lent(gift);
  x.tell(drop_gradient{});
  CHECK(*x.kept() == *x.after_gift(given));
  CHECK(*x.lent() == *x.after_gift(given));
  gift.gift = 5;
  x.batch(0, 8);
  auto again = x.lent(gift);
  x.tell(drop_gradient{});
  CHECK(*x.kept() == *x.after_gift(again));
  x.tell(gift_refused{5});
  CHECK(*x.kept() == *x.after_gift(given));
}

TEST_CASE("a run whose packing leaves nothing out keeps nothing") {
  auto vault = std::make_shared<state_vault>();
  tiny_trainer model;
  vault->state
      = std::make_shared<training_state>(initial_state(model.layout(), 1));
  vault->state->residual = std::make_shared<floats>(tiny_trainer::values, 1.0f);
  sparse_shop x{false, vault};
  auto settings = x.config.agreed.settings();
  settings.packing = "int8";
  x.config.agreed = charter{settings, ""};
  x.config.vault = std::make_shared<state_vault>();
  x.config.vault->state = std::make_shared<training_state>(*vault->state);
  x.start();
  CHECK(*x.lent() == nothing);
  CHECK_FALSE(x.kept());
}
