#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/catalogue.hpp"
#include "models/text/token_windows.hpp"
#include "models/text/tokenizer.hpp"
#include "tests/models/fixture.hpp"
#include "tests/models/gpt_reference.hpp"
#include "tests/models/slopes.hpp"

using namespace potluck;
using namespace potluck::test;

namespace {

run_settings tiny_gpt() {
  return with(tiny_settings("gpt"), "data", "sequence-length", "8");
}

} // namespace

TEST_CASE("GPT's tensors have Hugging Face's names, and maps [out, in]") {
  const auto x = settings_of("gpt", {{"vocabulary", "30"},
                                     {"sequence-length", "16"},
                                     {"hidden-size", "8"},
                                     {"intermediate-size", "12"},
                                     {"layers", "2"}});
  using shape = std::vector<std::int64_t>;
  struct wanted_tensor {
    std::string name;
    shape extents;
    float deviation;
  };
  std::vector<wanted_tensor> wanted{
      {"transformer.wte.weight", {30, 8}, 0.02f},
      {"transformer.wpe.weight", {16, 8}, 0.02f},
  };
  for (const std::string layer : {"transformer.h.0.", "transformer.h.1."}) {
    // Maps into the residual stream: 0.02 / sqrt(2 * layers).
    wanted.push_back({layer + "ln_1.weight", {8}, 0});
    wanted.push_back({layer + "ln_1.bias", {8}, 0});
    wanted.push_back({layer + "attn.c_attn.weight", {24, 8}, 0.02f});
    wanted.push_back({layer + "attn.c_attn.bias", {24}, 0});
    wanted.push_back({layer + "attn.c_proj.weight", {8, 8}, 0.01f});
    wanted.push_back({layer + "attn.c_proj.bias", {8}, 0});
    wanted.push_back({layer + "ln_2.weight", {8}, 0});
    wanted.push_back({layer + "ln_2.bias", {8}, 0});
    wanted.push_back({layer + "mlp.c_fc.weight", {12, 8}, 0.02f});
    wanted.push_back({layer + "mlp.c_fc.bias", {12}, 0});
    wanted.push_back({layer + "mlp.c_proj.weight", {8, 12}, 0.01f});
    wanted.push_back({layer + "mlp.c_proj.bias", {8}, 0});
  }
  wanted.push_back({"transformer.ln_f.weight", {8}, 0});
  wanted.push_back({"transformer.ln_f.bias", {8}, 0});

  const auto described = layout_of(x);
  REQUIRE_MESSAGE(described, described.error());
  const auto& entries = described->entries();
  REQUIRE(entries.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = entries[i];
    CHECK(entry.name == wanted[i].name);
    CHECK(entry.shape == wanted[i].extents);
    const bool is_matrix = entry.shape.size() == 2;
    const bool is_norm_weight
        = entry.name.find("ln_") != std::string::npos
          && entry.name.find("weight") != std::string::npos;
    CHECK(entry.decays == is_matrix);
    CHECK(entry.initial_mean == (is_norm_weight ? 1.0f : 0.0f));
    CHECK(entry.initial_deviation == doctest::Approx(wanted[i].deviation));
  }
}

TEST_CASE("GPT computes what its description says") {
  const auto text = toy_text(1, 300);
  small_run run(tiny_gpt(), text, 1);
  const auto& settings = run.agreed.settings();
  const auto parameters = draw_parameters(run.model->layout(), 3, 20, 0.1);
  auto words = tokenizer::open(run.agreed.tokenizer());
  REQUIRE(words);
  const token_windows windows(
      (*words)->encode(text), 8,
      static_cast<std::uint32_t>(number_in(settings, "vocabulary")));
  const gpt_reference reference(settings, run.model->layout(), parameters);
  double sum = 0;
  for (std::uint64_t k = 0; k < 8; ++k) {
    std::vector<std::int32_t> window;
    windows.append(11, k, window);
    sum += reference.loss(window);
    const auto found = run.model->evaluate(parameters.data(), 11, k + 1);
    CHECK(found.loss * static_cast<double>(k + 1)
          == doctest::Approx(sum).epsilon(1e-5));
  }
}

TEST_CASE("GPT's gradients are the slopes of its loss") {
  small_run run(tiny_gpt(), toy_text(1, 300), 1);
  REQUIRE(run.model->layout().values() < 1500);
  // Fused attention has approximate exponentials.
  check_slopes(run, 4, 2e-3, [](auto&) { return true; });
}
