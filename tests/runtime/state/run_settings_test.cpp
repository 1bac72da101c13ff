#include "runtime/state/run_settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace potluck;

namespace {

std::string problem_after(void (*change)(run_settings&)) {
  run_settings settings;
  change(settings);
  return problem_with(settings);
}

} // namespace

TEST_CASE("the default settings can make a model") {
  CHECK(problem_with(run_settings{}).empty());
}

TEST_CASE("every setting survives being printed and read") {
  run_settings original;
  original.run = "bengali = better";
  original.target_batch = std::uint64_t{1} << 32;
  original.learning_rate = 0.1 + 0.2;
  original.clip_radius = 0.98765432101234567;
  original.own["optimizer"] = {{"beta2", "0.5"}};
  original.seed = std::numeric_limits<std::uint64_t>::max();
  original.steps = 125000;
  original.warmup_steps = 5000;
  run_settings copy;
  for (const auto& line : to_table(original)) {
    CAPTURE(line.name);
    CHECK(bool(assign(copy, line.name, line.value)));
  }
  CHECK(to_table(copy) == to_table(original));
  CHECK(copy.learning_rate == original.learning_rate);
  CHECK(copy.clip_radius == original.clip_radius);
  CHECK(copy.seed == original.seed);
}

TEST_CASE("reals are printed in their shortest form") {
  run_settings x;
  x.learning_rate = 0.00176;
  for (const auto& line : to_table(x))
    if (line.name == "learning-rate")
      CHECK(line.value == "0.00176");
}

TEST_CASE("an assignment outside the limits changes nothing and says why") {
  run_settings x;
  const std::pair<const char*, const char*> refused[] = {
      {"target-batch", "0"},
      {"target-batch", "4294967297"},
      {"target-batch", "12a"},
      {"target-batch", "-1"},
      {"target-batch", ""},
      {"target-batch", " 1"},
      {"group-size", "129"},
      {"group-size", "4294967298"},
      {"steps", "18446744073709551616"},
      {"learning-rate", "0"},
      {"learning-rate", "inf"},
      {"learning-rate", "nan"},
      {"learning-rate", "1e999"},
      {"beta1", "1"},
      {"epsilon", "0"},
      {"optimizer", "lion-tamer"},
      {"averaging", "Exact"},
      {"chunk-values", "255"},
      {"chunk-values", "4194305"},
      {"run", ""},
      {"run", "two\nlines"},
      {"no-such-setting", "1"},
  };
  auto before = to_table(x);
  for (auto [name, value] : refused) {
    const auto shown_name = name;
    CAPTURE(shown_name);
    const auto shown_value = value;
    CAPTURE(shown_value);
    auto done = assign(x, name, value);
    REQUIRE(!done);
    CHECK(done.error().find(name) != std::string::npos);
  }
  CHECK(to_table(x) == before);
}

TEST_CASE("a first state is its digest, or follows from the seed") {
  run_settings x;
  CHECK(x.initial_digest().empty());
  x.initial = "000102030405060708090a0b0c0d0e0f";
  CHECK(problem_with(x).empty());
  CHECK(to_string(x.initial_digest()) == x.initial);
  x.initial = "seeds";
  CHECK(problem_with(x).find("initial is 'seeds'") == 0);
}

TEST_CASE("settings that cannot make a model are named") {
  CHECK(problem_after([](run_settings& x) {
          x.optimizer = "lion-tamer";
        }).find("optimizer")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.own["optimizer"]["beta1"] = "1";
        }).find("beta1")
        == 0);
  CHECK(
      problem_after([](run_settings& x) { x.own["optimizer"]["beta3"] = "1"; })
      == "the optimizer lamb has no setting beta3");
  CHECK(problem_after([](run_settings& x) { x.steps = 0; }).find("steps") == 0);
  CHECK(problem_after([](run_settings& x) {
          x.steps = 10;
          x.warmup_steps = 11;
        }).find("warmup-steps")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.learning_rate = std::nan("");
        }).find("learning-rate")
        == 0);
  CHECK(problem_after([](run_settings& x) {
          x.run = std::string(130, 'x');
        }).find("run")
        == 0);
}

TEST_CASE("redrawn groups go with what can average parameters, and an exact "
          "run's table says nothing of them") {
  auto with = [](auto change) {
    run_settings x;
    x.averaging_method = "moshpit";
    change(x);
    return problem_with(x);
  };
  CHECK(with([](auto&) {}).empty());
  CHECK(with([](auto& x) { x.aggregator = "median"; }).empty());
  CHECK(with([](auto& x) {
          x.updates = "delayed";
        }).find("averaging moshpit needs updates synchronous")
        == 0);
  for (auto packing : {"float16", "bfloat16", "int8", "auto"})
    CHECK(with([&](auto& x) {
            x.packing = packing;
          }).find("averaging moshpit needs packing float32")
          == 0);
  CHECK(with([](auto& x) {
          x.part_norm = 1;
        }).find("averaging moshpit needs part-norm 0")
        == 0);
  CHECK(with([](auto& x) {
          x.reserve = 1;
        }).find("averaging moshpit needs reserve 0")
        == 0);
  CHECK(with([](auto& x) {
          x.averaging_method = "gossip";
        }).find("averaging must be one of exact, moshpit")
        == 0);
  auto written = [](const run_settings& x) {
    auto table = to_table(x);
    return std::any_of(table.begin(), table.end(),
                       [](auto& line) { return line.name == "averaging"; });
  };
  run_settings x;
  CHECK_FALSE(x.redraws_groups());
  CHECK_FALSE(written(x));
  x.averaging_method = "moshpit";
  CHECK(x.redraws_groups());
  CHECK(written(x));
}

TEST_CASE("differences are named for a person") {
  run_settings here, there;
  CHECK(differences(to_table(here), to_table(there)).empty());
  there.target_batch = 512;
  CHECK(differences(to_table(here), to_table(there))
        == "target-batch is 256 here and 512 there");
  CHECK(differences({{"a", "1"}}, {{"b", "2\x1b[2J"}})
        == "a is 1 here and missing there; b is missing here and 2?[2J there");
}
