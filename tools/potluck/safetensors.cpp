#include "tools/potluck/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/declared_setting.hpp"
#include "runtime/state/layout_text.hpp"
#include "runtime/state/little_endian.hpp"
#include "tools/potluck/flat_json.hpp"

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

// ---- reading ----------------------------------------------------------------

namespace {

using nlohmann::json;

struct stored_tensor {
  std::string name;
  std::string type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Of a value; 0: unknown.
std::uint64_t bytes_of_type(const std::string& type) {
  static const std::map<std::string, std::uint64_t> all{
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E4M3", 1}, {"F8_E5M2", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},
      {"U32", 4},  {"F32", 4}, {"I64", 8}, {"U64", 8},     {"F64", 8}};
  const auto found = all.find(type);
  return found == all.end() ? 0 : found->second;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string result;
  for (auto extent : shape)
    result += (result.empty() ? "" : "x") + std::to_string(extent);
  return result.empty() ? "scalar" : result;
}

/// Values in the shape; nothing where they are too many to count.
std::optional<std::uint64_t> values_in(const std::vector<std::int64_t>& shape) {
  std::uint64_t result = 1;
  for (auto extent : shape)
    if (__builtin_mul_overflow(result, static_cast<std::uint64_t>(extent),
                               &result)
        || result > max_state_values)
      return std::nullopt;
  return result;
}

/// One entry of the header; nothing where it is none.
std::optional<stored_tensor> read_tensor(const std::string& name,
                                         const json& x) {
  if (!x.is_object() || !x.contains("dtype") || !x["dtype"].is_string()
      || !x.contains("shape") || !x["shape"].is_array()
      || !x.contains("data_offsets") || !x["data_offsets"].is_array()
      || x["data_offsets"].size() != 2)
    return std::nullopt;
  stored_tensor result{name, x["dtype"], {}, 0, 0};
  for (const auto& extent : x["shape"]) {
    if (!extent.is_number_unsigned() || result.shape.size() >= max_dimensions
        || extent.get<std::uint64_t>() > max_state_values)
      return std::nullopt;
    result.shape.push_back(extent.get<std::int64_t>());
  }
  const auto& offsets = x["data_offsets"];
  if (!offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return std::nullopt;
  result.begin = offsets[0];
  result.end = offsets[1];
  return result;
}

std::string tensor_named(const std::string& name) {
  return "tensor " + shown(name);
}

/// The header's tensors, in the order of their bytes, which they cover exactly.
/// @param data Where the bytes begin.
expected<std::vector<stored_tensor>> read_header(const std::string& path,
                                                 const readable_file& file,
                                                 std::uint64_t& data) {
  const auto wrong = [&](const std::string& how) {
    return failure{path + " " + how + "; get the file again"};
  };
  std::array<std::uint8_t, 8> length_bytes{};
  if (file.bytes() < length_bytes.size())
    return wrong("is cut short");
  if (!file.read(0, length_bytes.data(), length_bytes.size()))
    return file_failure("read", path);
  const auto length = get_little_endian<std::uint64_t>(length_bytes.data());
  if (length > most_header_bytes)
    return wrong("claims a header of " + std::to_string(length)
                 + " bytes, which no model has: it is no safetensors file, or "
                   "is damaged");
  data = length_bytes.size() + length;
  if (file.bytes() < data)
    return wrong("is cut short in its header");
  std::string text(length, '\0');
  if (!file.read(length_bytes.size(), text.data(), length))
    return file_failure("read", path);
  const auto header = parse_flat(text);
  if (!header.is_object())
    return wrong("has a header that is no JSON object: it is no safetensors "
                 "file, or is damaged");
  const auto room = file.bytes() - data;
  std::vector<stored_tensor> result;
  for (const auto& [name, x] : header.items()) {
    if (name == "__metadata__")
      continue;
    auto tensor = read_tensor(name, x);
    if (!tensor)
      return wrong("has a header that does not say what " + tensor_named(name)
                   + " is");
    const auto values = values_in(tensor->shape);
    const auto size = bytes_of_type(tensor->type);
    if (!values || size == 0 || tensor->end < tensor->begin
        || tensor->end - tensor->begin != *values * size)
      return wrong("has " + tensor_named(name) + " of type "
                   + shown(tensor->type) + " and shape "
                   + shape_text(tensor->shape) + " at bytes "
                   + std::to_string(tensor->begin) + " to "
                   + std::to_string(tensor->end) + ", where it does not fit");
    if (tensor->end > room)
      return wrong("is cut short: " + tensor_named(name) + " ends at byte "
                   + std::to_string(tensor->end) + " of "
                   + std::to_string(room));
    result.push_back(std::move(*tensor));
  }
  std::sort(result.begin(), result.end(), [](auto& x, auto& y) {
    return std::tie(x.begin, x.end) < std::tie(y.begin, y.end);
  });
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto& x = result[i];
    if (x.begin < at)
      return wrong("has " + tensor_named(x.name) + " where "
                   + tensor_named(result[i - 1].name)
                   + " is, too: their offsets overlap");
    if (x.begin > at)
      return wrong("has bytes before " + tensor_named(x.name)
                   + " that are no tensor's");
    at = x.end;
  }
  if (at != room)
    return wrong("has " + std::to_string(room - at)
                 + " bytes behind its last tensor that are none's");
  return result;
}

} // namespace

const spare_tensors& spare_tensors_of_albert() {
  static const spare_tensors all{
      {"albert.pooler.weight", "albert.pooler.bias",
       "sop_classifier.classifier.weight", "sop_classifier.classifier.bias",
       "albert.embeddings.position_ids"},
      {{"predictions.decoder.weight",
        "albert.embeddings.word_embeddings.weight"},
       {"predictions.decoder.bias", "predictions.bias"}}};
  return all;
}

expected<std::vector<float>> read_safetensors(const std::string& path,
                                              const model_layout& layout,
                                              const spare_tensors& spare) {
  auto file = readable_file::open(path);
  if (!file)
    return failure{file.error()};
  std::uint64_t data = 0;
  auto stored = read_header(path, *file, data);
  if (!stored)
    return failure{stored.error()};
  const auto other = [&](const std::string& how) {
    return failure{path + " " + how
                   + "; name the model that the file is of in config.json, or "
                     "give its own file"};
  };
  std::map<std::string, const tensor_entry*> wanted;
  for (const auto& x : layout.entries())
    wanted[x.name] = &x;
  std::map<std::string, const stored_tensor*> found;
  for (const auto& x : *stored)
    found[x.name] = &x;
  for (const auto& x : *stored) {
    const auto tie = spare.tied.find(x.name);
    const auto as = wanted.find(tie == spare.tied.end() ? x.name : tie->second);
    if (as == wanted.end()) {
      if (spare.unused.count(x.name) == 0)
        return other("has a " + tensor_named(x.name)
                     + ", which the model has not");
      continue;
    }
    const auto& entry = *as->second;
    if (x.type != "F32")
      return failure{path + " has " + tensor_named(x.name) + " as "
                     + shown(x.type)
                     + ", and Potluck's parameters are F32; convert it, in "
                       "PyTorch with model.float().save_pretrained(...)"};
    if (x.shape != entry.shape)
      return other("has " + tensor_named(x.name) + " of shape "
                   + shape_text(x.shape) + ", and the model's is "
                   + shape_text(entry.shape));
  }
  for (const auto& entry : layout.entries())
    if (found.count(entry.name) == 0)
      return other("has no " + tensor_named(entry.name));
  std::vector<float> result(layout.values());
  for (const auto& entry : layout.entries())
    if (!file->read(data + found[entry.name]->begin,
                    result.data() + entry.offset, entry.values * sizeof(float)))
      return file_failure("read", path);
  for (const auto& [name, as] : spare.tied) {
    const auto x = found.find(name);
    const auto entry = wanted.find(as);
    if (x == found.end() || entry == wanted.end())
      continue;
    std::vector<float> copy(entry->second->values);
    if (!file->read(data + x->second->begin, copy.data(),
                    copy.size() * sizeof(float)))
      return file_failure("read", path);
    if (std::memcmp(copy.data(), result.data() + entry->second->offset,
                    copy.size() * sizeof(float))
        != 0)
      return other("has other values in " + tensor_named(name) + " than in "
                   + tensor_named(as) + ", to which it is tied");
  }
  return result;
}

} // namespace potluck
