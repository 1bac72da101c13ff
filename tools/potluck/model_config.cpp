#include "tools/potluck/model_config.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/declared_setting.hpp"
#include "tools/potluck/flat_json.hpp"

namespace potluck {

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

// ---- reading ----------------------------------------------------------------

namespace {

using nlohmann::json;

/// A configuration is a page of text.
constexpr std::uint64_t most_config_bytes = std::uint64_t{1} << 20;

expected<json> read_json(const std::string& path) {
  auto file = readable_file::open(path);
  if (!file)
    return failure{file.error()};
  std::string text(std::min(file->bytes(), most_config_bytes + 1), '\0');
  if (!file->read(0, text.data(), text.size()))
    return file_failure("read", path);
  auto result
      = text.size() > most_config_bytes ? json(nullptr) : parse_flat(text);
  if (!result.is_object())
    return failure{path + " is no JSON object of at most 1 MB; restore it"};
  return result;
}

expected<std::vector<setting>> albert_settings_in(const std::string& path,
                                                  const json& x) {
  // What Potluck's ALBERT is not otherwise.
  const std::vector<std::pair<const char*, json>> fixed{
      {"num_hidden_groups", 1},   {"inner_group_num", 1},
      {"hidden_act", "gelu_new"}, {"type_vocab_size", 2},
      {"layer_norm_eps", 1e-12},  {"position_embedding_type", "absolute"}};
  for (const auto& [name, value] : fixed)
    if (x.contains(name) && x[name] != value)
      return failure{path + " has " + name + " " + shown(x[name].dump())
                     + ", and Potluck's ALBERT has " + value.dump()
                     + " alone; take another model"};
  std::vector<setting> result{{"model", "albert"}};
  for (const auto& [name, as] :
       std::vector<std::pair<const char*, const char*>>{
           {"vocab_size", "vocabulary"},
           {"embedding_size", "embedding-size"},
           {"hidden_size", "hidden-size"},
           {"intermediate_size", "intermediate-size"},
           {"num_hidden_layers", "layers"},
           {"num_attention_heads", "heads"},
           {"max_position_embeddings", "sequence-length"}}) {
    if (!x.contains(name) || !x[name].is_number_unsigned())
      return failure{path + " has no whole number for " + name
                     + "; take the config.json that belongs to the model"};
    result.push_back({as, std::to_string(x[name].get<std::uint64_t>())});
  }
  return result;
}

} // namespace

expected<std::vector<setting>> read_model_config(const std::string& path) {
  auto x = read_json(path);
  if (!x)
    return failure{x.error()};
  if (x->contains("model_type")) {
    if ((*x)["model_type"] == "albert")
      return albert_settings_in(path, *x);
    return failure{path + " is of a model of type "
                   + shown((*x)["model_type"].dump())
                   + ", and in Hugging Face's form Potluck reads albert; for "
                     "others, give a folder that `potluck export` wrote"};
  }
  std::vector<setting> result;
  for (const auto& [name, value] : x->items()) {
    if (!value.is_string() || !is_setting_name(name))
      return failure{path
                     + " is no configuration of a model that `potluck "
                       "export` wrote, nor Hugging Face's"};
    result.push_back({name, value});
  }
  return result;
}

bool lowers_case(const std::string& path) {
  const auto x = read_json(path);
  return x && x->value("do_lower_case", json(false)) == true;
}

} // namespace potluck
