#include "models/script/script_program.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <future>
#include <thread>

#include "models/script/founding_script.hpp"
#include "models/script/script_archive.hpp"
#include "models/script/script_inputs.hpp"
#include "tests/models/script/made_scripts.hpp"

using namespace potluck;
using namespace std::chrono_literals;
using test::mentions;
using test::scripts;

namespace {

const std::atomic<bool> never{false};

/// In place of `potluck-script`, as long as it lives, one without checks.
struct sandbox_alone {
  sandbox_alone() {
    ::setenv("POTLUCK_SCRIPT", POTLUCK_FAKE_SCRIPT, 1);
  }
  ~sandbox_alone() {
    ::unsetenv("POTLUCK_SCRIPT");
  }
};

struct opened {
  described_script what;
  script_program program;
};

opened open(const std::string& name, const script_terms& how = {}) {
  auto what = describe_script(scripts().bytes(name), false, how);
  if (!what)
    throw std::runtime_error(what.error());
  auto program
      = script_program::open(what->file, what->arguments, what->layout, how);
  if (!program)
    throw std::runtime_error(program.error());
  std::copy(what->values.begin(), what->values.end(), program->parameters());
  return {std::move(*what), std::move(*program)};
}

/// Two samples of three tokens.
std::string tokens() {
  std::string batch;
  append_tensor_head(batch, scripting::element::int64, {2, 3});
  for (std::int64_t i = 5; i < 11; ++i)
    append_little_endian(batch, static_cast<std::uint64_t>(i));
  return batch;
}

expected<script_outcome>
pass(opened& x, scripting::pass_kind kind = scripting::pass_kind::training,
     std::uint64_t seed = 1) {
  std::string batch;
  for (std::size_t i = 0; i < x.what.arguments.size(); ++i)
    batch += tokens();
  return x.program.pass({kind, seed, 2}, batch, never);
}

std::vector<float> gradient_of(const opened& x) {
  const auto* begin = x.program.gradient();
  return {begin, begin + x.what.layout.values()};
}

std::string why_not(const std::string& name) {
  const auto result = describe_script(scripts().bytes(name));
  return result ? "" : result.error();
}

} // namespace

TEST_CASE("a file is taken apart into tensors, values and the rest") {
  if (!scripts().there())
    return;
  const auto what = describe_script(scripts().bytes("words"));
  REQUIRE(what);
  CHECK(what->arguments == std::vector<std::string>{"tokens", "labels"});
  std::vector<std::string> names;
  for (const auto& x : what->layout.entries())
    names.push_back(x.name + (x.decays ? "" : " fixed"));
  // The tied weight is there once, under its first name.
  CHECK(names
        == std::vector<std::string>{"embed.weight", "norm.weight fixed",
                                    "norm.bias fixed", "part.0.weight",
                                    "part.0.bias fixed", "part.3.weight",
                                    "part.3.bias fixed", "out.bias fixed"});
  CHECK(what->values.size() == 40 * 8 + 8 + 8 + 128 + 16 + 128 + 8 + 40);
  CHECK(what->values[320] == 1.0f);
  CHECK(what->file.size() < scripts().bytes("words").size());
  CHECK(problem_with(charter_files{{"script", what->file}}) == "");
}

TEST_CASE("a pass adds the gradient of the samples' sum, and evaluation none") {
  if (!scripts().there())
    return;
  auto x = open("words");
  const auto first = pass(x);
  REQUIRE(first);
  CHECK(std::isfinite(first->loss));
  const auto once = gradient_of(x);
  CHECK(std::any_of(once.begin(), once.end(), [](float v) { return v != 0; }));
  // The same numbers are drawn for the same seed, and others for another.
  REQUIRE(pass(x)->loss == first->loss);
  const auto twice = gradient_of(x);
  for (std::size_t i = 0; i < once.size(); ++i)
    CHECK(twice[i] == doctest::Approx(2 * once[i]).epsilon(1e-5));
  CHECK(pass(x, scripting::pass_kind::training, 2)->loss != first->loss);

  const auto before = gradient_of(x);
  const auto calm = pass(x, scripting::pass_kind::evaluation, 1);
  REQUIRE(calm);
  CHECK(pass(x, scripting::pass_kind::evaluation, 2)->loss == calm->loss);
  CHECK(calm->metrics.at("accuracy") >= 0);
  CHECK(calm->metrics.at("perplexity")
        == doctest::Approx(std::exp(calm->loss)).epsilon(1e-5));
  CHECK(calm->metrics.at("top/all") == 1);
  CHECK(calm->metrics.count("sure") == 1);
  // What is not one value, has no name to show, or is not finite is for nobody.
  CHECK(calm->metrics.size() == 4);
  CHECK(first->metrics.empty());
  CHECK(gradient_of(x) == before);
}

TEST_CASE("what is no model is refused by the tensor or argument") {
  if (!scripts().there())
    return;
  CHECK(mentions(describe_script("no archive").error(), "no TorchScript file"));
  CHECK(mentions(why_not("NoParameters"), "nothing to train"));
  CHECK(mentions(why_not("Frozen"), "nothing to train"));
  CHECK(mentions(why_not("Double"), "weight of Double"));
  CHECK(mentions(why_not("Number"), "argument tokens is a int"));
  CHECK(mentions(read_founding_script(scripts().path("Unknown.pt")).error(),
                 "argument words"));
  CHECK(mentions(read_founding_script(scripts().path("Mixed.pt")).error(),
                 "argument pixels"));
  CHECK(mentions(read_founding_script("/none.pt").error(), "/none.pt"));
}

TEST_CASE("operators that reach outside are named, the archive being sound") {
  if (!scripts().there())
    return;
  for (auto [name, called] : {std::pair{"Writing", "aten::from_file"},
                              {"WritingLate", "aten::from_file"},
                              {"Beside", "prim::fork"},
                              {"Printing", "prim::Print"},
                              {"Reaching", "aten::as_strided"}}) {
    CHECK(checked_archive(scripts().bytes(name)));
    CHECK(mentions(why_not(name), called));
  }
  CHECK(mentions(why_not("WritingAtOnce"), "__setstate__"));
  CHECK_FALSE(scripts().written());
}

TEST_CASE("without checks the sandbox alone lets nothing be written") {
  if (!scripts().there())
    return;
  const sandbox_alone only;
  CHECK_FALSE(describe_script(scripts().bytes("WritingAtOnce")));
  for (auto name : {"Writing", "WritingLate"}) {
    auto x = open(name);
    const auto result = pass(x);
    REQUIRE_FALSE(result);
    CHECK(mentions(result.error(), "fails in forward"));
  }
  CHECK_FALSE(scripts().written());
  auto reaching = open("Reaching");
  CHECK_FALSE(pass(reaching));
}

TEST_CASE("whoever writes into the run's parameters crashes, and alone") {
  if (!scripts().there())
    return;
  auto x = open("Changing");
  CHECK(mentions(pass(x).error(), "crashed while it was computed"));
  CHECK_FALSE(x.program.is_there());
  CHECK(x.program.parameters()[0] == 1.0f);
}

TEST_CASE("forward's own mistakes are told, and the program goes on") {
  if (!scripts().there())
    return;
  for (auto [name, told] : {std::pair{"NoScalar", "has to be one value"},
                            {"NoLoss", "no entry \"loss\""},
                            {"NoFloat", "has to be one value"},
                            {"Apart", "does not depend"},
                            {"Failing", "fails in forward"}}) {
    auto x = open(name);
    const auto result = pass(x);
    REQUIRE_FALSE(result);
    CHECK_MESSAGE(mentions(result.error(), told), result.error());
    CHECK(x.program.is_there());
  }
  auto x = open("NotFinite");
  REQUIRE(pass(x));
  CHECK_FALSE(std::isfinite(pass(x)->loss));
  CHECK(gradient_of(x) == std::vector<float>(6));
}

TEST_CASE("a loop without an end and too much memory cost the program") {
  if (!scripts().there())
    return;
  script_terms how;
  how.patience = 8s;
  auto endless = open("Endless", how);
  CHECK(mentions(pass(endless).error(), "took too long"));
  CHECK_FALSE(endless.program.is_there());
  auto hungry = open("Hungry", how);
  CHECK(mentions(pass(hungry).error(), "too much memory"));
}

TEST_CASE("a pass that is cancelled ends at once") {
  if (!scripts().there())
    return;
  auto x = open("Endless");
  std::atomic<bool> cancelled{false};
  auto result = std::async(std::launch::async, [&] {
    return x.program.pass({}, tokens(), cancelled);
  });
  cancelled = true;
  CHECK_FALSE(result.get());
  CHECK_FALSE(x.program.is_there());
}

TEST_CASE("a file with other tensors or arguments is not the run's") {
  if (!scripts().there())
    return;
  const auto words = describe_script(scripts().bytes("words"));
  const auto masked = describe_script(scripts().bytes("masked"));
  REQUIRE(words);
  REQUIRE(masked);
  CHECK_FALSE(
      script_program::open(words->file, words->arguments, masked->layout, {}));
  CHECK(mentions(
      script_program::open(words->file, masked->arguments, words->layout, {})
          .error(),
      "tokens,labels"));
}
