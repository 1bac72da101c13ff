/// Sound inputs of `fuzz_import`.
#pragma once

#include "messages/ids.hpp"
#include "runtime/state/little_endian.hpp"
#include "runtime/state/model_layout.hpp"
#include "tests/fuzz/samples.hpp"

namespace potluck::import_samples {

/// The model that files are held against.
inline model_layout layout() {
  model_layout x;
  x.add("words", {3, 2}, true, 0, 0);
  x.add("bias", {2}, false, 0, 0);
  x.add("scale", {}, false, 1, 0);
  return x;
}

/// The length of a header in two bytes, the header, and so much data.
inline std::string made(const std::string& header, std::size_t data) {
  std::string result(1, '\1');
  append_little_endian(result, static_cast<std::uint16_t>(header.size()));
  return result + header + std::string(data, '\1');
}

/// As it lies in a file.
inline std::string raw(const std::string& header, std::size_t data) {
  std::string result(1, '\0');
  append_little_endian(result, static_cast<std::uint64_t>(header.size()));
  return result + header + std::string(data, '\1');
}

inline fuzz_samples all() {
  const std::string words
      = R"("words":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]})";
  const std::string bias
      = R"("bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]})";
  const std::string scale
      = R"("scale":{"dtype":"F32","shape":[],"data_offsets":[32,36]})";
  const std::string all = words + "," + bias + "," + scale;
  const std::string plain = "{" + all + "}";
  const std::string more
      = "{" + all + R"(,"__metadata__":{"format":"pt"},)"
        + R"("head":{"dtype":"BF16","shape":[1,2],"data_offsets":[36,40]},)"
        + R"("copy":{"dtype":"F32","shape":[2],"data_offsets":[40,48]}})";
  return {
      raw(plain, 36),
      made(plain, 36),
      made(more, 48),
      '\2'
          + std::string(R"({"model_type":"albert","vocab_size":300,)"
                        R"("embedding_size":8,"hidden_size":16,)"
                        R"("intermediate_size":32,"num_hidden_layers":2,)"
                        R"("num_attention_heads":2,"hidden_act":"gelu_new",)"
                        R"("max_position_embeddings":64})"),
      '\2' + std::string(R"({"model":"mnist-ffn","layers":"7"})"),
      '\3' + std::string(R"({"do_lower_case": true})")};
}

} // namespace potluck::import_samples
