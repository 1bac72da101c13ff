/// What a step computes does not depend on how many computed it.

#include "tests/loopback/scene.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "runtime/state/checkpoint.hpp"

using namespace potluck::loopback;
using potluck::load_checkpoint;
using potluck::training_state;

namespace {

training_state end_of(scene& s, const std::string& name) {
  auto saved = load_checkpoint(s.path(name + "/potluck.checkpoint"));
  REQUIRE(static_cast<bool>(saved));
  return saved->state;
}

/// |a - b| / |b|, in the Euclidean norm.
double distance(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double apart = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    apart += std::pow(double{a[i]} - double{b[i]}, 2);
    size += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(apart / size);
}

/// The same run twice: by one peer, and by four with a quarter of every batch.
struct twice {
  scene s;
  peer& alone;
  std::vector<peer*> four;

  explicit twice(std::uint64_t steps)
      : alone(s.join("alone", tiny_run(64, steps) + words{"--shard", "0/1"})) {
    check_all_finish({&alone});
    // Each stops at its quarter, so none of them runs ahead of the others.
    auto seed = s.bootstrap().address();
    for (auto shard : {"0/4", "1/4", "2/4", "3/4"})
      four.push_back(&s.join(std::string{"quarter"} + shard[0],
                             words{"--peer", seed, "--shard", shard}
                                 + tiny_run(64, steps)));
    check_all_finish(four);
    check_equal_digests(four);
  }
};

} // namespace

TEST_CASE("one peer and four that split its batch have the same averaged "
          "gradient") {
  twice run{1};
  auto alone = end_of(run.s, "alone");
  auto four = end_of(run.s, "quarter0");
  // After one step the first moment is a tenth of the averaged (and clipped)
  // gradient. 64 samples are summed in another order: float32 rounds each sum
  // by 6e-8 of it, and errors of 64 summands walk to at most some 1e-6.
  CHECK(alone.step == 1);
  CHECK(distance(four.first_moment, alone.first_moment) < 1e-5);
  CHECK(distance(four.parameters, alone.parameters) < 1e-4);
}

TEST_CASE("one peer and four that split its batch have the same loss curve") {
  constexpr std::uint64_t steps = 20;
  twice run{steps};
  auto curve = run.alone.log.named("step");
  auto split = run.four.front()->log.named("step");
  REQUIRE(curve.size() == steps);
  REQUIRE(split.size() == steps);
  for (std::size_t i = 0; i < steps; ++i) {
    INFO("step " << i + 1);
    CHECK(curve[i].at("samples") == 64);
    CHECK(split[i].at("samples") == 64);
    CHECK(split[i].at("peers") == 4);
    // Rounding grows from step to step: LAMB divides by the gradient's own
    // size, so a value that is all rounding moves as far as any other.
    auto loss = curve[i].at("loss").get<double>();
    CHECK(std::abs(split[i].at("loss").get<double>() - loss) < 1e-4 * loss);
  }
  // The batches differ from step to step, and so do the losses.
  CHECK(curve[0].at("loss") != curve[1].at("loss"));
  check_shares(run.four);
  CHECK(distance(end_of(run.s, "quarter0").parameters,
                 end_of(run.s, "alone").parameters)
        < 1e-3);
}
