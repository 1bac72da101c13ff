#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>

#include "models/catalogue.hpp"
#include "models/script/founding_script.hpp"
#include "runtime/optimizer/run_optimizer.hpp"
#include "tests/models/script/made_scripts.hpp"

using namespace potluck;
using test::mentions;
using test::scripts;
using test::with;

namespace {

const std::atomic<bool> never{false};

/// A run that a file has founded, and a trainer of it.
struct script_run {
  test::scratch_folder folder;
  std::vector<std::string> notices;
  founding_script founded;
  charter agreed;
  std::unique_ptr<trainer> model;

  script_run(const std::string& name, const std::string& data = {},
             const run_settings& given = {})
      : founded(read(name, given)) {
    const auto path
        = data.empty() ? folder.write("text", test::toy_text(1, 300)) : data;
    auto settings = given;
    settings.model = "torchscript";
    if (data.empty())
      if (auto done = assign(settings,
                             {{"model", "torchscript"},
                              {"vocabulary", "40"},
                              {"sequence-length", "12"}},
                             known_families());
          !done)
        throw std::runtime_error(done.error());
    auto proposed
        = propose_charter(with_script(settings, founded), path, founded.files);
    if (!proposed)
      throw std::runtime_error(proposed.error());
    // As it comes to others.
    auto read = charter::from_bytes(proposed->to_bytes());
    if (!read)
      throw std::runtime_error(read.error());
    agreed = *read;
    trainer_options how;
    how.data_path = path;
    how.threads = 1;
    how.notice = [this](const std::string& x) { notices.push_back(x); };
    model = make_trainer_factory(how)(agreed);
  }

  static founding_script read(const std::string& name,
                              const run_settings& given = {}) {
    auto result = read_founding_script(scripts().path(name + ".pt"), given);
    if (!result)
      throw std::runtime_error(result.error());
    return std::move(*result);
  }

  const std::vector<float>& values() const {
    return founded.first->parameters;
  }

  struct sum {
    batch_result result;
    std::vector<float> gradient;
  };
  sum add(std::uint32_t samples, std::uint64_t first = 0) {
    sum x;
    x.gradient.resize(values().size());
    x.result = model->accumulate({3, first, samples}, values().data(),
                                 x.gradient.data(), never);
    model->collect(x.gradient.data());
    return x;
  }
};

} // namespace

TEST_CASE("a script's gradient is the slope of its loss") {
  if (!scripts().there())
    return;
  script_run run("masked");
  CHECK(run.agreed.settings().initial != "seed");
  const auto x = run.add(64);
  CHECK(x.result.samples == 64);
  CHECK(x.result.loss_sum / 64 == doctest::Approx(std::log(40)).epsilon(0.2));
  auto values = run.values();
  const auto loss
      = [&] { return 64 * run.model->evaluate(values.data(), 3, 64).loss; };
  CHECK(loss() == doctest::Approx(x.result.loss_sum));
  // Whole directions, so that float32 does not drown the difference.
  for (std::size_t from : {0u, 320u, 640u}) {
    double along = 0;
    for (std::size_t i = from; i < std::min<std::size_t>(from + 320, 680);
         ++i) {
      along += x.gradient[i] * x.gradient[i];
    }
    const auto step = 0.05 / std::sqrt(along);
    double change[2];
    for (int side : {0, 1}) {
      values = run.values();
      for (std::size_t i = from; i < std::min<std::size_t>(from + 320, 680);
           ++i)
        values[i]
            += static_cast<float>((side == 0 ? -step : step) * x.gradient[i]);
      change[side] = loss();
    }
    CHECK((change[1] - change[0]) / (2 * step)
          == doctest::Approx(along).epsilon(0.02));
  }
}

TEST_CASE("the same samples give the same, dropout included") {
  if (!scripts().there())
    return;
  script_run run("words");
  const auto once = run.add(300);
  const auto again = run.add(300);
  CHECK(once.result.loss_sum == again.result.loss_sum);
  CHECK(once.gradient == again.gradient);
  CHECK(run.add(300, 300).gradient != once.gradient);
  script_run other("words");
  CHECK(other.add(300).gradient == once.gradient);
}

TEST_CASE("what was dropped is not in the next sum") {
  if (!scripts().there())
    return;
  script_run run("masked");
  const auto alone = run.add(16);
  std::vector<float> unused(run.values().size());
  run.model->accumulate({3, 500, 16}, run.values().data(), unused.data(),
                        never);
  run.model->drop();
  CHECK(run.add(16).gradient == alone.gradient);
}

TEST_CASE("images come to forward with their rows and columns") {
  if (!scripts().there())
    return;
  script_run run("digits", "digits");
  const auto x = run.add(128);
  CHECK(x.result.samples == 128);
  CHECK(std::isfinite(x.result.loss_sum));
  const auto seen = run.model->evaluate(run.values().data(), 1, 256);
  CHECK(seen.samples == 256);
  CHECK(seen.accuracy.value() > 0);
  CHECK(seen.accuracy.value() < 0.6);
}

TEST_CASE("averaged buffers are tensors of the run, behind the parameters") {
  if (!scripts().there())
    return;
  run_settings averages;
  averages.own["model"]["buffers"] = "average";
  script_run run("digits", "digits", averages);
  script_run local("digits", "digits");
  const auto& layout = run.model->layout();
  const auto parameters = local.model->layout().values();
  REQUIRE(layout.values() == parameters + 8);
  CHECK(layout.entries().back().name == "body.1.running_var");
  CHECK(layout.entries().back().buffer);
  CHECK_FALSE(layout.entries().front().buffer);
  // They begin as the file has them.
  const auto mean = parameters;
  const auto variance = parameters + 4;
  CHECK(run.values()[mean] == 0);
  CHECK(run.values()[variance] == 1);

  // A step subtracts the mean over the samples, whoever has computed them.
  const auto x = run.add(16);
  CHECK(x.result.samples == 16);
  const auto alone = local.add(16).gradient;
  CHECK(std::equal(alone.begin(), alone.end(), x.gradient.begin()));
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(x.gradient[mean + i] != 0);
  const auto again = run.add(16);
  CHECK(again.gradient == x.gradient);

  // Evaluations go by the run's.
  auto values = run.values();
  const auto loss = run.model->evaluate(values.data(), 1, 64).loss;
  values[variance] = 100;
  CHECK(run.model->evaluate(values.data(), 1, 64).loss != loss);
  CHECK(run.model->evaluate(run.values().data(), 1, 64).loss == loss);
}

TEST_CASE("an evaluation has the mean of each metric over the samples") {
  if (!scripts().there())
    return;
  script_run run("words");
  // In two micro-batches of different sizes.
  const auto all = run.model->evaluate(run.values().data(), 1, 40);
  CHECK(all.accuracy.value() >= 0);
  CHECK(all.metrics.at("top/all") == 1);
  // The mean of a convex function (Jensen 1906).
  CHECK(all.metrics.at("perplexity") >= 0.999 * std::exp(all.loss));
  CHECK(all.metrics.count("accuracy") == 0);
  CHECK(all.metrics.count("scores") == 0);
  // One of no metrics has none, and no accuracy either.
  script_run plain("masked");
  const auto other = plain.model->evaluate(plain.values().data(), 1, 16);
  CHECK_FALSE(other.accuracy.has_value());
  CHECK(other.metrics.empty());
}

TEST_CASE("a script is computed on the processor, in float32") {
  if (!scripts().there())
    return;
  script_run run("masked");
  trainer_options how;
  how.data_path = run.folder.path("text");
  how.device = "cpu";
  CHECK(make_trainer_factory(how)(run.agreed)->layout().values()
        == run.values().size());
  how.device = "cuda:1";
  CHECK_THROWS_WITH_AS(make_trainer_factory(how)(run.agreed),
                       doctest::Contains("leave --device out"),
                       std::runtime_error);
  how.device = "auto";
  how.precision = "bf16";
  CHECK_THROWS_WITH_AS(make_trainer_factory(how)(run.agreed),
                       doctest::Contains("leave --precision out"),
                       std::runtime_error);
}

TEST_CASE("losses that are not finite are left out, and many end it") {
  if (!scripts().there())
    return;
  script_run run("NotFinite");
  const auto x = run.add(16);
  CHECK(x.result.samples == 0);
  REQUIRE(run.notices.size() == 1);
  CHECK(mentions(run.notices[0], "samples from 0 on"));
  std::string problem;
  try {
    for (int i = 0; i < 8; ++i)
      run.add(16);
  } catch (const std::exception& e) {
    problem = e.what();
  }
  CHECK(mentions(problem, "do not join this run"));
}

TEST_CASE("a gradient that is not finite goes nowhere") {
  if (!scripts().there())
    return;
  script_run run("BadGradient");
  CHECK_THROWS_WITH_AS(run.add(16), doctest::Contains("gradient of weight"),
                       std::runtime_error);
}

TEST_CASE("a large script is an artifact of its run, and computed from there") {
  if (!scripts().there())
    return;
  auto founded = script_run::read("large");
  CHECK(founded.files.count("script") == 0);
  test::scratch_folder folder;
  own_artifacts own;
  CHECK_FALSE(add_large(founded, artifact_folder{""}, own));
  const artifact_folder kept{folder.path("new/artifacts")};
  REQUIRE(add_large(founded, kept, own));
  const auto text = folder.write("text", test::toy_text(1, 300));
  const auto settings
      = with(with(with_script({}, founded), "data", "vocabulary", "40"), "data",
             "sequence-length", "12");
  const auto draft = propose_charter(settings, text, founded.files);
  REQUIRE(draft);
  const auto whole = with_own_artifacts(*draft, own, kept);
  REQUIRE(whole);
  // Nothing is left behind but the artifact itself.
  const std::filesystem::directory_iterator files{kept.path()};
  CHECK(std::distance(begin(files), end(files)) == 1);
  CHECK(script_of(*whole, kept.path()) == founded.large);
  CHECK_THROWS_AS(script_of(*whole, folder.path("none")), std::runtime_error);
  trainer_options how;
  how.data_path = text;
  how.artifacts = kept.path();
  const auto model = make_trainer_factory(how)(*whole);
  CHECK(model->layout().values() == founded.first->parameters.size());
}

TEST_CASE("the first state has the moments that the optimizer keeps") {
  if (!scripts().there())
    return;
  auto founded = script_run::read("masked");
  const auto adam = with_script({}, founded);
  CHECK(founded.first->moments() == 2);
  run_settings plain;
  if (auto done = assign(plain, "optimizer", "lion", known_families()); !done)
    throw std::runtime_error(done.error());
  CHECK(with_script(plain, founded).initial != adam.initial);
  CHECK(founded.first->moments() == 1);
}

TEST_CASE("a run's size counts before its script is read") {
  if (!scripts().there())
    return;
  script_run run("masked");
  CHECK(problem_with_size(run.agreed, 1 << 20) == "");
  CHECK(mentions(problem_with_size(run.agreed, 1000), "--max-model"));
  CHECK(layout_of(run.agreed)->values() == run.values().size());
  CHECK(mentions(layout_of(run.agreed.settings()).error(), "--model FILE.pt"));
}
