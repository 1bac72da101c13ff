#include "models/catalogue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "runtime/state/charter_fields.hpp"
#include "runtime/state/layout_text.hpp"
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
  const auto settings = with(tiny_settings(), "data", "vocabulary", "2000");
  auto proposed
      = propose_charter(settings, folder.write("text", toy_text(1, 100)));
  REQUIRE_MESSAGE(proposed, proposed.error());
  const auto vocabulary = number_in(proposed->settings(), "vocabulary");
  CHECK(vocabulary < 2000);
  CHECK_FALSE(proposed->tokenizer().empty());
  auto layout = layout_of(proposed->settings());
  REQUIRE(layout);
  CHECK(static_cast<double>(layout->entries()[0].shape[0]) == vocabulary);
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

TEST_CASE("a run names its model's tensors, and another model is refused by "
          "the first that differs") {
  small_run run(tiny_settings(), toy_text(1, 100));
  trainer_options how;
  how.data_path = run.folder.path("text");
  how.device = "cpu";
  auto files = run.agreed.files();
  auto& layout = files[layout_file];
  CHECK(layout == to_layout_text(run.model->layout()));
  const auto with_files
      = [&] { return reason_of(how, charter(run.agreed.settings(), files)); };
  CHECK(with_files() == "no failure");
  // As another version of this program might have it.
  const std::string name = "albert.embeddings.position_embeddings.weight ";
  const auto at = layout.find(name + "10x4 decays");
  REQUIRE(at != std::string::npos);
  layout.replace(at + name.size(), 4, "11x4");
  CHECK(with_files()
        == "The run has another model than this Potluck makes of its settings: "
           "tensor 2 is "
               + name + "10x4 decays here and " + name
               + "11x4 decays there; use the version of Potluck that the run "
                 "was made with.");
  layout = "garbage\n";
  CHECK(mentions(with_files(), "line 1 of the layout"));
  // Whoever says nothing of it, nobody can contradict.
  files.erase(layout_file);
  CHECK(with_files() == "no failure");
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

  other = with(settings, "data", "vocabulary", "199999");
  CHECK(mentions(reason_of(good, charter(other, words)), "tokenizer has"));
  CHECK(mentions(reason_of(good, charter(settings, "garbage")), "damaged"));
  const auto refused = [&](const run_settings& x) {
    // Whoever knows no models sees nothing in them.
    CHECK(problem_with(x).empty());
    CHECK(charter::from_bytes(charter(x, words).to_bytes()));
    CHECK_FALSE(layout_of(x));
    return reason_of(good, charter(x, words));
  };
  CHECK(refused(with(settings, "model", "heads", "5"))
        == "heads is 5, but must divide hidden-size, which is 6");
  CHECK(mentions(refused(with(settings, "model", "heads", "0")), "heads"));
  CHECK(mentions(refused(with(settings, "model", "heads", "two")), "heads"));
  CHECK(mentions(refused(with(settings, "model", "heads", "02")), "heads"));
  CHECK(mentions(refused(with(settings, "model", "noise", "1")), "noise"));
  other = settings;
  other.own["data"].erase("mask-probability");
  CHECK(mentions(refused(other), "mask-probability"));

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
  CHECK(problem_with_size(run.agreed, needed).empty());
  options.max_model = needed;
  CHECK(reason_of(options, run.agreed) == "no failure");
  options.max_model = needed - 1;
  const auto reason = reason_of(options, charter(settings, "garbage"));
  CHECK(reason == problem_with_size(run.agreed, needed - 1));
  CHECK(mentions(reason, "--max-model"));

  // The largest that a charter can ask for costs nothing to refuse.
  auto huge = with(settings, "data", "vocabulary", "200000");
  for (auto name : {"embedding-size", "hidden-size", "intermediate-size"})
    huge.own["model"][name] = "16384";
  REQUIRE(layout_of(huge));
  CHECK(mentions(reason_of(options, charter(huge, "garbage")), "MB"));
}

TEST_CASE("each model's settings have names of their own") {
  for (const auto* family : known_families())
    for (const auto& kind : family->kinds) {
      CAPTURE(kind.name);
      CHECK_FALSE(kind.meaning.empty());
      std::set<std::string> names;
      for (const auto* other : known_families())
        if (other != family)
          for (const auto& x : other->kinds)
            for (const auto& own : x.settings)
              names.insert(own.name);
      for (const auto& own : kind.settings) {
        CAPTURE(own.name);
        CHECK(is_setting_name(own.name));
        CHECK(names.insert(own.name).second);
        CHECK(find_field(own.name) == nullptr);
        CHECK(own_sections().count(own.section) == 1);
        CHECK(std::count(family->sections.begin(), family->sections.end(),
                         own.section)
              == 1);
        auto usual = own.read(own.usual);
        REQUIRE(usual);
        CHECK(*usual == own.usual);
      }
    }
}

TEST_CASE("a setting is for those who chose its kind") {
  run_settings x;
  const auto& all = known_families();
  CHECK(assign(x, "heads", "8", all));
  CHECK(assign(x, "beta1", "0.5", all));
  CHECK(x.own["model"]["heads"] == "8");
  CHECK(x.own["optimizer"]["beta1"] == "0.5");
  auto refused = assign(x, "expert-grid", "2x2", all);
  REQUIRE_FALSE(refused);
  CHECK(refused.error()
        == "\"expert-grid\" is a setting of the model albert-dmoe and "
           "mnist-dmoe, and the model is albert");
  CHECK_FALSE(assign(x, "heads", "8"));
  CHECK_FALSE(assign(x, "horns", "8", all));
  // Whatever the order, the kind is chosen first.
  CHECK(assign(x, {{"expert-grid", "2x2"}, {"model", "mnist-dmoe"}}, all));
  CHECK(x.own["experts"]["expert-grid"] == "2x2");
  CHECK_FALSE(layout_of(x));
}
