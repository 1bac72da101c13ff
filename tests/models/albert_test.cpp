#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/catalogue.hpp"
#include "models/text/tokenizer.hpp"
#include "tests/models/albert_reference.hpp"
#include "tests/models/fixture.hpp"
#include "tests/models/slopes.hpp"

using namespace potluck;
using namespace potluck::test;

TEST_CASE("ALBERT's tensors have Hugging Face's names and shapes") {
  const auto x = settings_of("albert", {{"vocabulary", "30"},
                                        {"sequence-length", "16"},
                                        {"embedding-size", "4"},
                                        {"hidden-size", "8"},
                                        {"intermediate-size", "12"}});
  using shape = std::vector<std::int64_t>;
  std::vector<std::pair<std::string, shape>> wanted{
      {"albert.embeddings.word_embeddings.weight", {30, 4}},
      {"albert.embeddings.position_embeddings.weight", {16, 4}},
      {"albert.embeddings.token_type_embeddings.weight", {2, 4}},
      {"albert.embeddings.LayerNorm.weight", {4}},
      {"albert.embeddings.LayerNorm.bias", {4}},
      {"albert.encoder.embedding_hidden_mapping_in.weight", {8, 4}},
      {"albert.encoder.embedding_hidden_mapping_in.bias", {8}},
  };
  const std::string layer
      = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  auto add = [&](const std::string& name, shape weight) {
    wanted.push_back({name + ".weight", weight});
    wanted.push_back({name + ".bias", {weight[0]}});
  };
  add(layer + "full_layer_layer_norm", {8});
  add(layer + "attention.query", {8, 8});
  add(layer + "attention.key", {8, 8});
  add(layer + "attention.value", {8, 8});
  add(layer + "attention.dense", {8, 8});
  add(layer + "attention.LayerNorm", {8});
  add(layer + "ffn", {12, 8});
  add(layer + "ffn_output", {8, 12});
  wanted.push_back({"predictions.bias", {30}});
  add("predictions.LayerNorm", {4});
  add("predictions.dense", {4, 8});

  const auto described = layout_of(x);
  REQUIRE_MESSAGE(described, described.error());
  const auto& layout = *described;
  REQUIRE(layout.entries().size() == wanted.size());
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& entry = layout.entries()[i];
    CHECK(entry.name == wanted[i].first);
    CHECK(entry.shape == wanted[i].second);
    CHECK(entry.offset == offset);
    offset += entry.values;
    const bool is_matrix = entry.shape.size() == 2;
    const bool is_norm_weight
        = !is_matrix && entry.name.substr(entry.name.size() - 6) == "weight";
    CHECK(entry.decays == is_matrix);
    CHECK(entry.initial_mean == (is_norm_weight ? 1.0f : 0.0f));
    CHECK(entry.initial_deviation == (is_matrix ? 0.02f : 0.0f));
  }
  CHECK(layout.values() == offset);
}

TEST_CASE("every parameter does what its name says") {
  const auto text = toy_text(1, 300);
  small_run run(tiny_settings(), text, 1);
  const auto& settings = run.agreed.settings();
  const auto parameters = draw_parameters(run.model->layout(), 3, 20, 0.1);
  auto words = tokenizer::open(run.agreed.tokenizer());
  REQUIRE(words);
  const auto whole = [&](auto name) {
    return static_cast<std::uint32_t>(number_in(settings, name));
  };
  const sample_stream stream((*words)->encode(text), whole("sequence-length"),
                             whole("vocabulary"),
                             number_in(settings, "mask-probability"));
  const albert_reference reference(settings, run.model->layout(), parameters);
  double sum = 0;
  for (std::uint64_t k = 0; k < 8; ++k) {
    sum += reference.loss(stream.sample(11, k));
    const auto found = run.model->evaluate(parameters.data(), 11, k + 1);
    CHECK(found.loss * static_cast<double>(k + 1)
          == doctest::Approx(sum).epsilon(1e-5));
  }
}

TEST_CASE("gradients are the slopes of the loss") {
  small_run run(tiny_settings(), toy_text(1, 300), 1);
  REQUIRE(run.model->layout().values() < 1000);
  check_slopes(run, 6, 2e-4, [](auto& name) {
    // A key's bias shifts all scores of a query alike: softmax ignores it.
    return name.find("attention.key.bias") == std::string::npos;
  });
}
