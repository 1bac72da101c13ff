/// Tensors that no rule sees.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "runtime/optimizer/optimizer_kinds.hpp"
#include "runtime/optimizer/run_optimizer.hpp"

using namespace potluck;

namespace {

struct two_tensors {
  model_layout layout;
  std::vector<float> x{1, 2, 3, 4}, m{0, 0, 0, 0}, v{0, 0, 0, 0};

  two_tensors() {
    layout.add("weight", {2}, true, 0, 0);
    layout.add_buffer("mean", {2}, 0);
  }

  optimizer::verdict step(const std::string& name,
                          const std::vector<float>& gradient,
                          double clip_norm = 0) {
    run_settings run;
    run.optimizer = name;
    run.clip_norm = clip_norm;
    complete(run, built_in_families());
    auto how = make_optimizer(run, layout, 1);
    REQUIRE_MESSAGE(how, how.error());
    return how->apply({x.data(), m.data(), v.data()}, gradient.data(), 1, 0.1);
  }
};

} // namespace

TEST_CASE("a buffer loses its mean gradient, whatever the optimizer") {
  for (const auto& kind : optimizer_family().kinds) {
    CAPTURE(kind.name);
    two_tensors all;
    REQUIRE(all.step(kind.name, {1, 1, 0.5f, -2})
            == optimizer::verdict::applied);
    CHECK(all.x[0] != 1);
    CHECK(all.x[2] == 2.5f);
    CHECK(all.x[3] == 6);
    CHECK(all.m[2] == 0);
    CHECK(all.v[3] == 0);
  }
}

TEST_CASE("clipping looks at parameters alone, and clips no buffer") {
  two_tensors all;
  REQUIRE(all.step("sgd", {3, 4, 1e6f, 8}, 1) == optimizer::verdict::applied);
  CHECK(all.x[2] == 3 - 1e6f);
  CHECK(all.x[3] == -4);
  CHECK(all.x[0] == doctest::Approx(1 - 0.1 * 0.6));
}

TEST_CASE("a buffer that is no number is refused with the whole update") {
  for (auto bad : {std::numeric_limits<float>::quiet_NaN(),
                   std::numeric_limits<float>::infinity()}) {
    two_tensors all;
    CHECK(all.step("sgd", {1, 1, bad, 0}) == optimizer::verdict::unusable);
    CHECK(all.x == std::vector<float>{1, 2, 3, 4});
  }
}
