#include "models/catalogue.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "runtime/state/training_state.hpp"
#include "tests/models/fixture.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

std::string reason_of(const trainer_options& options, const charter& agreed) {
  try {
    make_trainer_factory(options)(agreed);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "no failure";
}

bool mentions(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a proposed charter has the vocabulary that its tokenizer has") {
  scratch_folder folder;
  auto settings = tiny_settings();
  settings.vocabulary = 2000;
  auto proposed
      = propose_charter(settings, folder.write("text", toy_text(1, 100)));
  REQUIRE_MESSAGE(proposed, proposed.error());
  CHECK(proposed->settings().vocabulary < 2000);
  CHECK_FALSE(proposed->tokenizer().empty());
  auto layout = layout_of(proposed->settings());
  REQUIRE(layout);
  CHECK(layout->entries()[0].shape[0] == proposed->settings().vocabulary);
}

TEST_CASE("the same text gives the same charter") {
  scratch_folder folder;
  const auto path = folder.write("text", toy_text(1, 100));
  auto one = propose_charter(tiny_settings(), path);
  auto two = propose_charter(tiny_settings(), path);
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->digest() == two->digest());
}

TEST_CASE("a trainer's layout is the one that needs no data") {
  small_run run(tiny_settings(), toy_text(1, 100));
  auto layout = layout_of(run.agreed.settings());
  REQUIRE(layout);
  CHECK(layout->values() == run.model->layout().values());
}

TEST_CASE("what makes no trainer is refused in a sentence") {
  small_run run(tiny_settings(), toy_text(1, 100));
  trainer_options good;
  good.data_path = run.folder.path("text");
  good.device = "cpu";
  const auto& settings = run.agreed.settings();
  const auto& words = run.agreed.tokenizer();
  CHECK(reason_of(good, run.agreed) == "no failure");

  auto other = settings;
  other.model = "elephant";
  CHECK(mentions(reason_of(good, charter(other, words)), "elephant"));
  CHECK(mentions(layout_of(other).error(), "albert"));
  CHECK_FALSE(propose_charter(other, good.data_path));

  other = settings;
  other.vocabulary += 1;
  CHECK(mentions(reason_of(good, charter(other, words)), "tokenizer has"));
  CHECK(mentions(reason_of(good, charter(settings, "garbage")), "damaged"));
  other = settings;
  other.heads = 5;
  CHECK_FALSE(problem_with(other).empty());
  CHECK(reason_of(good, charter(other, words)) == problem_with(other));

  auto wrong = good;
  wrong.data_path = run.folder.path("nowhere");
  CHECK(mentions(reason_of(wrong, run.agreed), "no file or folder"));
  CHECK_FALSE(propose_charter(settings, wrong.data_path));
  wrong.data_path = run.folder.write("blank", " \n");
  CHECK(mentions(reason_of(wrong, run.agreed), "white space"));
  wrong = good;
  wrong.device = "abacus";
  CHECK(mentions(reason_of(wrong, run.agreed), "abacus"));
}

TEST_CASE("a device is refused before anything is loaded for it") {
  CHECK(problem_with_device("cpu").empty());
  CHECK(problem_with_device("auto").empty());
  CHECK(problem_with_device("abacus").find("choose auto, cpu, cuda")
        != std::string::npos);
}

TEST_CASE("a precision is refused where it cannot be computed in") {
  for (const auto* good : {"float32", "bf16"})
    CHECK(problem_with_precision(good, "cpu").empty());
  CHECK(mentions(problem_with_precision("fp16", "cpu"), "bf16"));
  CHECK(mentions(problem_with_precision("float64", "cpu"),
                 "choose float32, bf16 or fp16"));
}

TEST_CASE("a model too large is refused before its tokenizer is looked at") {
  small_run run(tiny_settings(), toy_text(1, 100));
  trainer_options options;
  options.data_path = run.folder.path("text");
  options.device = "cpu";
  const auto needed = state_bytes(run.model->layout().values());
  const auto& settings = run.agreed.settings();
  CHECK(problem_with_size(settings, needed).empty());
  options.max_model = needed;
  CHECK(reason_of(options, run.agreed) == "no failure");
  options.max_model = needed - 1;
  const auto reason = reason_of(options, charter(settings, "garbage"));
  CHECK(reason == problem_with_size(settings, needed - 1));
  CHECK(mentions(reason, "--max-model"));

  // The largest that a charter can ask for costs nothing to refuse.
  auto huge = settings;
  huge.vocabulary = 200000;
  huge.embedding_size = huge.hidden_size = huge.intermediate_size = 16384;
  REQUIRE(problem_with(huge).empty());
  CHECK(mentions(reason_of(options, charter(huge, "garbage")), "MB"));
}
