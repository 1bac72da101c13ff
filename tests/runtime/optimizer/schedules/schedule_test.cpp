#include "runtime/optimizer/schedules/schedule.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <vector>

#include "messages/ids.hpp"

using namespace potluck;

namespace {

run_settings some_settings() {
  run_settings x;
  x.steps = 50;
  x.warmup_steps = 5;
  x.learning_rate = 0.01;
  return x;
}

} // namespace

TEST_CASE("the learning rate warms up, decays and stays above zero") {
  auto settings = some_settings();
  double previous = 0;
  for (std::uint64_t step = 1; step <= settings.steps; ++step) {
    CAPTURE(step);
    double rate = learning_rate_at(settings, step);
    CHECK(rate > 0);
    CHECK(rate <= settings.learning_rate);
    if (step <= settings.warmup_steps)
      CHECK(rate > previous);
    else
      CHECK(rate < previous);
    previous = rate;
  }
  CHECK(learning_rate_at(settings, 5) == settings.learning_rate);
  CHECK(learning_rate_at(settings, 1) == doctest::Approx(0.002));
  CHECK(learning_rate_at(settings, 50) == doctest::Approx(0.01 / 46));
  CHECK(learning_rate_at(settings, 0) == 0);
  CHECK(learning_rate_at(settings, 51) == 0);
  settings.warmup_steps = settings.steps;
  CHECK(learning_rate_at(settings, 50) == settings.learning_rate);
}

TEST_CASE("half a cosine is that of mathematics, to the last digits") {
  const auto& cosine = *find_schedule("cosine");
  const double pi = std::acos(-1.0);
  for (std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{7}})
    for (std::uint64_t tail : {1, 2, 3, 10, 1001, 125'000}) {
      const auto end = begin + tail;
      double worst = 0;
      for (auto step = begin + 1; step <= end; ++step) {
        // sin^2 keeps its digits where the rate is small, unlike 1 + cos.
        const double left = double(end - step + 1) / double(tail + 1);
        const double wanted = 0.003 * std::pow(std::sin(pi * left / 2), 2);
        const double rate = cosine.rate(0.003, begin, end, step);
        worst = std::max(worst, std::abs(rate / wanted - 1));
      }
      CAPTURE(tail);
      CHECK(worst < 2e-15); // Of which the library's own share is a half.
    }
  CHECK(cosine.rate(1, 0, 9, 5) == doctest::Approx(0.5)); // 5 of 10 left.
}

TEST_CASE("the bits of rates are those of every other machine") {
  // Computed once; see rules_test.cpp.
  const std::map<std::string, std::string> expected{
      {"linear", "6a92ce578a8e4b518bb16e44cf4679a5"},
      {"cosine", "0fe459279837e0bc1faed1113e551d39"},
      {"inverse-sqrt", "1116695fbef963f86e3cd6fb6fd3e282"},
      {"constant", "0873a4777aead40a2e58eed2024dfea7"},
  };
  for (auto x : schedules()) {
    CAPTURE(x->name);
    std::vector<double> rates;
    for (std::uint64_t step = 101; step <= 1100; ++step)
      rates.push_back(x->rate(0.00176, 100, 1100, step));
    REQUIRE(expected.count(x->name) == 1);
    CHECK(to_string(digest_of(rates.data(), rates.size() * sizeof(double)))
          == expected.at(x->name));
  }
}

TEST_CASE("tails without an end in sight") {
  const auto& root = *find_schedule("inverse-sqrt");
  CHECK(root.rate(0.01, 100, 1000, 400) == doctest::Approx(0.005));
  CHECK(root.rate(0.01, 100, 500, 400) == root.rate(0.01, 100, 1000, 400));
  CHECK(root.rate(0.01, 0, 1000, 1) == 0.01);
  CHECK(root.rate(0.01, 0, 1000, 4) == 0.005);
  CHECK_FALSE(root.ends_at_zero);
  const auto& constant = *find_schedule("constant");
  CHECK(constant.rate(0.01, 100, 1000, 1000) == 0.01);
  CHECK_FALSE(constant.ends_at_zero);
}

TEST_CASE("schedules have names") {
  CHECK(find_schedule("linear")->ends_at_zero);
  CHECK(find_schedule("exponential") == nullptr);
  CHECK(schedules().size() == 4);
}
