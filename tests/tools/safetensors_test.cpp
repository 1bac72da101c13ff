#include "tools/potluck/safetensors.hpp"

#include <cstring>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "tests/runtime/state/some_state.hpp"

using namespace potluck;
using nlohmann::json;

namespace {

run_settings albert_settings() {
  run_settings x;
  x.own["data"] = {{"vocabulary", "30000"}, {"sequence-length", "512"}};
  x.own["model"] = {{"embedding-size", "128"},
                    {"hidden-size", "1024"},
                    {"intermediate-size", "4096"},
                    {"layers", "24"},
                    {"heads", "16"}};
  return x;
}

} // namespace

TEST_CASE("an exported model can be read again tensor by tensor") {
  scratch_directory scratch;
  auto layout = some_layout();
  auto state = initial_state(layout, 5);
  charter charter(albert_settings(), std::string("to\0kens", 7));
  auto directory = scratch.file("made/on/demand");
  REQUIRE(bool(export_safetensors(directory, charter, layout, state)));

  auto bytes = read_all(directory + "/model.safetensors");
  REQUIRE(bytes.size() > 8);
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length * 256 + static_cast<unsigned char>(bytes[std::size_t(i)]);
  CHECK(length % 8 == 0);
  REQUIRE(bytes.size() == 8 + length + layout.values() * 4);
  auto header = json::parse(bytes.substr(8, length));
  CHECK(header.size() == layout.entries().size() + 1);
  CHECK(header["__metadata__"] == json({{"format", "pt"}}));
  for (const auto& entry : layout.entries()) {
    CAPTURE(entry.name);
    const auto& tensor = header.at(entry.name);
    CHECK(tensor["dtype"] == "F32");
    CHECK(tensor["shape"] == json(entry.shape));
    std::size_t begin = tensor["data_offsets"][0];
    std::size_t end = tensor["data_offsets"][1];
    REQUIRE(end - begin == entry.values * 4);
    CHECK(std::memcmp(bytes.data() + 8 + length + begin,
                      state.parameters.data() + entry.offset, end - begin)
          == 0);
  }
  CHECK(read_all(directory + "/spiece.model") == charter.tokenizer());
}

TEST_CASE("the configuration names the charter's sizes") {
  auto config = json::parse(albert_config(albert_settings()));
  CHECK(config["model_type"] == "albert");
  CHECK(config["architectures"] == json::array({"AlbertForMaskedLM"}));
  CHECK(config["vocab_size"] == 30000);
  CHECK(config["max_position_embeddings"] == 512);
  CHECK(config["embedding_size"] == 128);
  CHECK(config["hidden_size"] == 1024);
  CHECK(config["intermediate_size"] == 4096);
  CHECK(config["num_hidden_layers"] == 24);
  CHECK(config["num_attention_heads"] == 16);
  CHECK(config["hidden_act"] == "gelu_new");
  CHECK(config["layer_norm_eps"] == 1e-12);
}

TEST_CASE("Hugging Face's tokenizer keeps capitals and accents, as potluck's "
          "does") {
  scratch_directory scratch;
  const charter with_words(albert_settings(), "tokens");
  REQUIRE(bool(export_safetensors(scratch.path(), with_words, some_layout(),
                                  initial_state(some_layout(), 5))));
  auto config = json::parse(read_all(scratch.file("tokenizer_config.json")));
  CHECK(config["do_lower_case"] == false);
  CHECK(config["keep_accents"] == true);
  CHECK(config["remove_space"] == true);
  CHECK(config["model_max_length"] == 512);
  CHECK(config["tokenizer_class"] == "AlbertTokenizer");
}

TEST_CASE("a model without a tokenizer is exported without one") {
  scratch_directory scratch;
  REQUIRE(
      bool(export_safetensors(scratch.path(), charter(albert_settings(), ""),
                              some_layout(), initial_state(some_layout(), 5))));
  CHECK(std::filesystem::exists(scratch.file("config.json")));
  for (auto name : {"spiece.model", "tokenizer_config.json"})
    CHECK(!std::filesystem::exists(scratch.file(name)));
}

TEST_CASE("an export that cannot be placed names the directory") {
  scratch_directory scratch;
  write_all(scratch.file("file"), "");
  auto done = export_safetensors(scratch.file("file/model"),
                                 charter(albert_settings(), ""), some_layout(),
                                 initial_state(some_layout(), 5));
  REQUIRE(!done);
  CHECK(done.error().find("file/model") != std::string::npos);
  CHECK_THROWS_AS(export_safetensors(scratch.path(),
                                     charter(albert_settings(), ""),
                                     some_layout(), some_state(3, 1)),
                  std::logic_error);
}
