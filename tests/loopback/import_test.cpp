/// Parameters that come from elsewhere, and go there again.

#include "tests/loopback/scene.hpp"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include "runtime/random.hpp"

using namespace potluck::loopback;
using nlohmann::json;

namespace {

struct tensor {
  std::vector<std::uint64_t> shape;
  std::string bytes;
};
using tensors = std::map<std::string, tensor>;

/// The shapes of albert-base-v2 in Hugging Face's form, but for the vocabulary.
/// The first of them has `vocabulary` rows.
std::map<std::string, std::vector<std::uint64_t>>
albert_base(std::uint64_t vocabulary) {
  const std::string layer
      = "albert.encoder.albert_layer_groups.0.albert_layers.0.";
  std::map<std::string, std::vector<std::uint64_t>> all{
      {"albert.embeddings.word_embeddings.weight", {vocabulary, 128}},
      {"albert.embeddings.position_embeddings.weight", {512, 128}},
      {"albert.embeddings.token_type_embeddings.weight", {2, 128}},
      {"albert.embeddings.LayerNorm.weight", {128}},
      {"albert.embeddings.LayerNorm.bias", {128}},
      {"albert.encoder.embedding_hidden_mapping_in.weight", {768, 128}},
      {"albert.encoder.embedding_hidden_mapping_in.bias", {768}},
      {layer + "full_layer_layer_norm.weight", {768}},
      {layer + "full_layer_layer_norm.bias", {768}},
      {layer + "attention.LayerNorm.weight", {768}},
      {layer + "attention.LayerNorm.bias", {768}},
      {layer + "ffn.weight", {3072, 768}},
      {layer + "ffn.bias", {3072}},
      {layer + "ffn_output.weight", {768, 3072}},
      {layer + "ffn_output.bias", {768}},
      {"predictions.bias", {vocabulary}},
      {"predictions.LayerNorm.weight", {128}},
      {"predictions.LayerNorm.bias", {128}},
      {"predictions.dense.weight", {128, 768}},
      {"predictions.dense.bias", {128}}};
  for (const auto* name : {"query", "key", "value", "dense"}) {
    all[layer + "attention." + name + ".weight"] = {768, 768};
    all[layer + "attention." + name + ".bias"] = {768};
  }
  return all;
}

tensors random_weights(std::uint64_t vocabulary) {
  potluck::random_stream chance{39};
  tensors result;
  for (const auto& [name, shape] : albert_base(vocabulary)) {
    std::uint64_t values = 1;
    for (auto extent : shape)
      values *= extent;
    auto& x = result[name];
    x.shape = shape;
    x.bytes.resize(values * sizeof(float));
    for (std::uint64_t i = 0; i < values; ++i) {
      const auto value = static_cast<float>(0.04 * (chance.uniform01() - 0.5));
      std::memcpy(x.bytes.data() + i * sizeof(float), &value, sizeof(float));
    }
  }
  return result;
}

void write_tensors(const std::string& path, const tensors& all) {
  json header;
  std::uint64_t at = 0;
  for (const auto& [name, x] : all) {
    header[name] = {{"dtype", "F32"},
                    {"shape", x.shape},
                    {"data_offsets", {at, at + x.bytes.size()}}};
    at += x.bytes.size();
  }
  const auto text = header.dump();
  std::ofstream file{path, std::ios::binary};
  for (int shift = 0; shift < 64; shift += 8)
    file.put(static_cast<char>(text.size() >> shift & 0xff));
  file << text;
  for (const auto& [name, x] : all)
    file << x.bytes;
  REQUIRE(file.good());
}

tensors read_tensors(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::uint64_t length = 0;
  for (int shift = 0; shift < 64; shift += 8)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(file.get()))
              << shift;
  std::string text(length, ' ');
  REQUIRE(file.read(text.data(), static_cast<std::streamsize>(length)));
  tensors result;
  const auto header = json::parse(text);
  for (const auto& [name, x] : header.items()) {
    if (name == "__metadata__")
      continue;
    const std::uint64_t begin = x.at("data_offsets").at(0);
    const std::uint64_t end = x.at("data_offsets").at(1);
    auto& to = result[name];
    to.shape = x.at("shape").get<std::vector<std::uint64_t>>();
    to.bytes.resize(end - begin);
    file.seekg(static_cast<std::streamoff>(8 + length + begin));
    REQUIRE(file.read(to.bytes.data(),
                      static_cast<std::streamsize>(to.bytes.size())));
  }
  return result;
}

/// A folder in Hugging Face's form: random weights of ALBERT-base's shapes, and
/// a tokenizer of few pieces.
struct foreign_model {
  explicit foreign_model(scene& s) : folder(s.path("albert-base")) {
    auto& teacher = s.join("teacher", tiny_run(16, 1));
    check_all_finish({&teacher});
    auto exported = s.run("tokenizer", {"export", "--checkpoint",
                                        s.path("teacher/potluck.checkpoint"),
                                        "--output", folder});
    REQUIRE(exported.status == 0);
    std::ifstream own{folder + "/config.json"};
    config = json::parse(own);
    for (const auto& [name, value] :
         std::map<std::string, std::uint64_t>{{"embedding_size", 128},
                                              {"hidden_size", 768},
                                              {"intermediate_size", 3072},
                                              {"num_hidden_layers", 12},
                                              {"num_attention_heads", 12},
                                              {"max_position_embeddings", 512}})
      config[name] = value;
    weights = random_weights(config.at("vocab_size"));
    write();
  }
  void write() const {
    write_tensors(folder + "/model.safetensors", weights);
    std::ofstream{folder + "/config.json"} << config.dump();
  }

  std::string folder;
  json config;
  tensors weights;
};

} // namespace

TEST_CASE("a folder in Hugging Face's form is imported, evaluated and exported "
          "with the same bytes of every tensor") {
  scene s;
  foreign_model from{s};
  const auto file = s.path("imported.checkpoint");
  auto imported = s.run("import", {"import", from.folder, "--output", file});
  INFO(imported.output);
  REQUIRE(imported.status == 0);

  auto said = s.run("eval",
                    {"eval", "--checkpoint", file, "--data", s.text(),
                     "--samples", "2", "--json"},
                    run_patience);
  INFO(said.output);
  REQUIRE(said.status == 0);
  const auto found = json::parse(said.output.substr(said.output.find('{')));
  CHECK(found.at("step") == 0);
  // Random weights know nothing, and frequencies know more than nothing.
  const double nothing = std::log(from.config.at("vocab_size").get<double>());
  CHECK(found.at("loss").get<double>()
        == doctest::Approx(nothing).epsilon(0.1));
  CHECK(found.at("unigram").get<double>() < nothing);
  CHECK(found.at("unigram").get<double>() > 1);

  auto exported = s.run(
      "export", {"export", "--checkpoint", file, "--output", s.path("again")});
  INFO(exported.output);
  REQUIRE(exported.status == 0);
  const auto again = read_tensors(s.path("again/model.safetensors"));
  CHECK(again.size() == from.weights.size());
  for (const auto& [name, x] : from.weights) {
    CAPTURE(name);
    const auto at = again.find(name);
    REQUIRE(at != again.end());
    CHECK(at->second.shape == x.shape);
    CHECK((at->second.bytes == x.bytes));
  }
  std::ifstream config{s.path("again/config.json")};
  CHECK(json::parse(config) == from.config);
}

TEST_CASE("an imported model is a run's beginning") {
  scene s;
  // What a run has exported, since it is small.
  auto& first = s.join("first", tiny_run(16, 2));
  check_all_finish({&first});
  REQUIRE(s.run("export",
                {"export", "--checkpoint", s.path("first/potluck.checkpoint"),
                 "--output", s.path("model")})
              .status
          == 0);
  const auto file = s.path("imported.checkpoint");
  auto imported = s.run("import", {"import", s.path("model"), "--output", file,
                                   "--run", "finer", "--steps", "1000000",
                                   "--target-batch", "16"});
  INFO(imported.output);
  REQUIRE(imported.status == 0);
  auto twice = s.run("twice", {"import", s.path("model"), "--output", file});
  CHECK(twice.status == 2);
  CHECK(twice.output.find("already") != std::string::npos);

  auto& a = s.join("a", {"--resume", file});
  auto& b = s.join("b", {"--run", "finer", "--peer", a.address()});
  check_agree(a, b, 3);
  CHECK(a.log.named("step").front().at("step") == 1);
}

TEST_CASE("a folder that is not a whole model is refused, and nothing is "
          "written") {
  scene s;
  foreign_model from{s};
  const auto file = s.path("imported.checkpoint");
  const auto refused = [&](const std::string& word) {
    auto x = s.run("import", {"import", from.folder, "--output", file});
    INFO(x.output);
    CHECK(x.status == 2);
    CHECK(x.output.find(word) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(file));
  };
  const std::string name = "predictions.dense.bias";
  SUBCASE("a tensor is missing") {
    from.weights.erase(name);
    from.write();
    refused("model.safetensors has no tensor " + name);
  }
  SUBCASE("another shape") {
    from.config["hidden_size"] = 384;
    from.config["num_attention_heads"] = 6;
    from.write();
    refused("and the model's is");
  }
  SUBCASE("cut short") {
    std::filesystem::resize_file(from.folder + "/model.safetensors", 1000000);
    refused("cut short");
  }
  SUBCASE("no tokenizer") {
    std::filesystem::remove(from.folder + "/spiece.model");
    refused("spiece.model");
  }
  SUBCASE("a tokenizer of another model") {
    from.config["vocab_size"] = 200;
    from.weights = random_weights(200);
    from.write();
    refused("pieces, and the model has 200");
  }
  SUBCASE("no model at all") {
    std::filesystem::remove(from.folder + "/config.json");
    refused("config.json");
  }
}
