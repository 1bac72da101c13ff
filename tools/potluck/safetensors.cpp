#include "tools/potluck/safetensors.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/declared_setting.hpp"
#include "runtime/state/little_endian.hpp"

namespace potluck {

std::string safetensors_header(const model_layout& layout) {
  // Ordered, so that the same model gives the same file.
  nlohmann::ordered_json header;
  header["__metadata__"] = {{"format", "pt"}};
  for (const auto& entry : layout.entries()) {
    auto begin = entry.offset * sizeof(float);
    auto end = begin + entry.values * sizeof(float);
    header[entry.name] = {{"dtype", "F32"},
                          {"shape", entry.shape},
                          {"data_offsets", {begin, end}}};
  }
  auto text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string bytes;
  append_little_endian(bytes, static_cast<std::uint64_t>(text.size()));
  return bytes + text;
}

std::string albert_config(const run_settings& settings) {
  const auto own = [&](auto section, auto name) {
    return whole_in(settings.own.at(section).at(name));
  };
  nlohmann::ordered_json config = {
      {"architectures", {"AlbertForMaskedLM"}},
      {"model_type", "albert"},
      {"vocab_size", own("data", "vocabulary")},
      {"embedding_size", own("model", "embedding-size")},
      {"hidden_size", own("model", "hidden-size")},
      {"intermediate_size", own("model", "intermediate-size")},
      {"num_hidden_layers", own("model", "layers")},
      {"num_hidden_groups", 1},
      {"inner_group_num", 1},
      {"num_attention_heads", own("model", "heads")},
      {"max_position_embeddings", own("data", "sequence-length")},
      {"type_vocab_size", 2},
      {"hidden_act", "gelu_new"},
      {"layer_norm_eps", 1e-12},
      {"hidden_dropout_prob", 0.0},
      {"attention_probs_dropout_prob", 0.0},
      {"classifier_dropout_prob", 0.0},
      {"initializer_range", 0.02},
      {"position_embedding_type", "absolute"},
      {"tie_word_embeddings", true},
      {"pad_token_id", 0},
      {"bos_token_id", 2},
      {"eos_token_id", 3},
      {"torch_dtype", "float32"},
  };
  return config.dump(2) + "\n";
}

std::string tokenizer_config(const run_settings& settings) {
  nlohmann::ordered_json config = {
      {"tokenizer_class", "AlbertTokenizer"},
      {"do_lower_case", false},
      {"keep_accents", true},
      {"remove_space", true},
      {"model_max_length",
       whole_in(settings.own.at("data").at("sequence-length"))},
      {"pad_token", "<pad>"},
      {"unk_token", "<unk>"},
      {"bos_token", "[CLS]"},
      {"eos_token", "[SEP]"},
      {"cls_token", "[CLS]"},
      {"sep_token", "[SEP]"},
      {"mask_token", "[MASK]"},
  };
  return config.dump(2) + "\n";
}

std::string settings_config(const run_settings& settings) {
  nlohmann::ordered_json config;
  for (const auto& line : to_table(settings))
    config[line.name] = line.value;
  return config.dump(2) + "\n";
}

expected<bool> export_safetensors(const std::string& directory,
                                  const charter& charter,
                                  const model_layout& layout,
                                  const training_state& state) {
  if (state.parameters.size() != layout.values())
    throw std::logic_error("export_safetensors: state of another layout");
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return failure{"cannot make the directory " + directory + ": "
                   + error.message()};
  auto header = safetensors_header(layout);
  auto written = replace_file(
      directory + "/model.safetensors",
      {{header.data(), header.size()},
       {state.parameters.data(), state.parameters.size() * sizeof(float)}});
  if (!written)
    return written;
  const auto& settings = charter.settings();
  const bool is_albert = settings.model == "albert";
  const auto write = [&](const char* name, const std::string& bytes) {
    return replace_file(directory + "/" + name, {{bytes.data(), bytes.size()}});
  };
  written = write("config.json", is_albert ? albert_config(settings)
                                           : settings_config(settings));
  if (!written || charter.tokenizer().empty())
    return written;
  written = write("spiece.model", charter.tokenizer());
  if (!written || !is_albert)
    return written;
  return write("tokenizer_config.json", tokenizer_config(settings));
}

} // namespace potluck
