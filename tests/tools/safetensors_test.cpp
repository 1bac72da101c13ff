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

std::string eight_bytes(std::uint64_t x) {
  std::string result;
  for (int i = 0; i < 8; ++i)
    result += static_cast<char>(x >> (8 * i) & 0xff);
  return result;
}

/// A safetensors file of this header and so many bytes of data.
std::string file_of(const json& header, std::size_t bytes) {
  const auto text = header.dump();
  return eight_bytes(text.size()) + text + std::string(bytes, '\1');
}

/// `some_layout`'s tensors, as a header has them: 60, 7 and 3 values.
json some_header() {
  return {{"embeddings.weight",
           {{"dtype", "F32"}, {"shape", {20, 3}}, {"data_offsets", {0, 240}}}},
          {"dense.bias",
           {{"dtype", "F32"}, {"shape", {7}}, {"data_offsets", {240, 268}}}},
          {"norm.weight",
           {{"dtype", "F32"}, {"shape", {3}}, {"data_offsets", {268, 280}}}}};
}

/// What reading the bytes fails with; empty: it does not.
std::string complaint_about(const std::string& bytes,
                            const spare_tensors& spare = {}) {
  scratch_directory scratch;
  const auto path = scratch.file("model.safetensors");
  write_all(path, bytes);
  auto read = read_safetensors(path, some_layout(), spare);
  if (read)
    return "";
  CHECK_MESSAGE(read.error().find(path) != std::string::npos, read.error());
  CHECK_MESSAGE(read.error().find(';') != std::string::npos, read.error());
  return read.error();
}

bool says(const std::string& sentence, const std::string& what) {
  INFO(sentence);
  return sentence.find(what) != std::string::npos;
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

// ---- reading ----------------------------------------------------------------

TEST_CASE("what was exported is read back, bit by bit") {
  scratch_directory scratch;
  const auto layout = some_layout();
  const auto state = initial_state(layout, 5);
  REQUIRE(bool(export_safetensors(
      scratch.path(), charter(albert_settings(), ""), layout, state)));
  auto read = read_safetensors(scratch.file("model.safetensors"), layout);
  REQUIRE_MESSAGE(read, read.error());
  CHECK(*read == state.parameters);
}

TEST_CASE("tensors are found wherever they lie in the file") {
  auto header = some_header();
  header["norm.weight"]["data_offsets"] = {0, 12};
  header["embeddings.weight"]["data_offsets"] = {12, 252};
  header["dense.bias"]["data_offsets"] = {252, 280};
  header["__metadata__"] = {{"format", "pt"}};
  CHECK(complaint_about(file_of(header, 280)) == "");
}

TEST_CASE("a file that is not the model's is refused, with the tensor's name") {
  auto header = some_header();
  CHECK(complaint_about(file_of(header, 280)) == "");
  SUBCASE("a tensor is missing") {
    header.erase("norm.weight");
    CHECK(says(complaint_about(file_of(header, 268)),
               "has no tensor norm.weight"));
  }
  SUBCASE("one too many") {
    header["extra"]
        = {{"dtype", "F32"}, {"shape", {2}}, {"data_offsets", {280, 288}}};
    const auto file = file_of(header, 288);
    CHECK(
        says(complaint_about(file), "a tensor extra, which the model has not"));
    CHECK(complaint_about(file, {{"extra"}, {}}) == "");
  }
  SUBCASE("another shape") {
    header["embeddings.weight"]["shape"] = {3, 20};
    CHECK(says(complaint_about(file_of(header, 280)),
               "tensor embeddings.weight of shape 3x20, and the model's is "
               "20x3"));
  }
  SUBCASE("another type") {
    header["norm.weight"]
        = {{"dtype", "BF16"}, {"shape", {3}}, {"data_offsets", {268, 274}}};
    CHECK(says(complaint_about(file_of(header, 274)),
               "tensor norm.weight as BF16"));
  }
  SUBCASE("tied to something else") {
    header["copy"]
        = {{"dtype", "F32"}, {"shape", {3}}, {"data_offsets", {280, 292}}};
    auto file = file_of(header, 292);
    CHECK(complaint_about(file, {{}, {{"copy", "norm.weight"}}}) == "");
    file.back() = '\2';
    CHECK(says(complaint_about(file, {{}, {{"copy", "norm.weight"}}}),
               "other values in tensor copy than in tensor norm.weight"));
  }
}

TEST_CASE(
    "a damaged file is refused before anything of its size is allocated") {
  auto header = some_header();
  const auto whole = file_of(header, 280);
  SUBCASE("cut short anywhere") {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      CAPTURE(size);
      REQUIRE(says(complaint_about(whole.substr(0, size)), "cut short"));
    }
  }
  SUBCASE("longer than its tensors") {
    CHECK(says(complaint_about(whole + "x"), "1 bytes behind its last tensor"));
  }
  SUBCASE("a header of 1 GB") {
    CHECK(says(complaint_about(eight_bytes(1u << 30) + "{}"),
               "claims a header of 1073741824 bytes"));
    CHECK(says(complaint_about(eight_bytes(~0ull) + "{}"), "claims a header"));
  }
  SUBCASE("a header that is no JSON") {
    for (const std::string& text :
         {std::string{"{\"a\":"}, std::string{"[1, 2]"}, std::string{"7"},
          std::string(1000000, '['), std::string{"\xff\xfe"}}) {
      CAPTURE(text.size());
      CHECK(says(complaint_about(eight_bytes(text.size()) + text),
                 "no JSON object"));
    }
  }
  SUBCASE("overlapping offsets") {
    header["norm.weight"]["data_offsets"] = {260, 272};
    CHECK(says(complaint_about(file_of(header, 272)), "overlap"));
  }
  SUBCASE("bytes between tensors") {
    header["norm.weight"]["data_offsets"] = {272, 284};
    CHECK(says(complaint_about(file_of(header, 284)),
               "bytes before tensor norm.weight"));
  }
  SUBCASE("an entry that says nothing") {
    for (const json& wrong :
         {json(7), json({{"dtype", "F32"}}),
          json({{"dtype", "F32"},
                {"shape", {-3}},
                {"data_offsets", {268, 280}}}),
          json({{"dtype", "F32"}, {"shape", {3}}, {"data_offsets", {268}}}),
          json({{"dtype", 3}, {"shape", {3}}, {"data_offsets", {268, 280}}})}) {
      header["norm.weight"] = wrong;
      CHECK(says(complaint_about(file_of(header, 280)),
                 "does not say what tensor norm.weight is"));
    }
  }
  SUBCASE("sizes that no machine has") {
    for (const json& shape : {json({1ull << 33, 1ull << 33, 4}),
                              json({1ull << 34, 2}), json({4})}) {
      header["norm.weight"]["shape"] = shape;
      CHECK(
          says(complaint_about(file_of(header, 280)), "where it does not fit"));
    }
    header["norm.weight"]
        = {{"dtype", "F99"}, {"shape", {3}}, {"data_offsets", {268, 280}}};
    CHECK(says(complaint_about(file_of(header, 280)), "of type F99"));
  }
}

TEST_CASE("a configuration is read as it was written") {
  scratch_directory scratch;
  const auto path = scratch.file("config.json");
  const auto value_of
      = [](const std::vector<setting>& all, const std::string& name) {
          for (const auto& x : all)
            if (x.name == name)
              return x.value;
          return std::string{"none"};
        };
  auto settings = albert_settings();
  write_all(path, albert_config(settings));
  auto read = read_model_config(path);
  REQUIRE_MESSAGE(read, read.error());
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"model", "albert"},
                                          {"vocabulary", "30000"},
                                          {"sequence-length", "512"},
                                          {"embedding-size", "128"},
                                          {"hidden-size", "1024"},
                                          {"intermediate-size", "4096"},
                                          {"layers", "24"},
                                          {"heads", "16"}}) {
    CAPTURE(name);
    CHECK(value_of(*read, name) == value);
  }
  write_all(path, settings_config(settings));
  read = read_model_config(path);
  REQUIRE_MESSAGE(read, read.error());
  CHECK(value_of(*read, "hidden-size") == "1024");

  auto other = json::parse(albert_config(settings));
  for (const auto& [name, value] :
       std::map<std::string, json>{{"hidden_act", "relu"},
                                   {"num_hidden_groups", 2},
                                   {"hidden_size", "wide"},
                                   {"model_type", "bert"}}) {
    CAPTURE(name);
    auto changed = other;
    changed[name] = value;
    write_all(path, changed.dump());
    auto refused = read_model_config(path);
    REQUIRE(!refused);
    CHECK(says(refused.error(), path));
  }
  write_all(path, "[]");
  CHECK(!read_model_config(path));
}

TEST_CASE("a tokenizer that makes capitals small is noticed") {
  scratch_directory scratch;
  const auto path = scratch.file("tokenizer_config.json");
  CHECK_FALSE(lowers_case(path));
  write_all(path, R"({"do_lower_case": true})");
  CHECK(lowers_case(path));
  write_all(path, tokenizer_config(albert_settings()));
  CHECK_FALSE(lowers_case(path));
}
