/// Models in the form that Hugging Face's libraries read and write.
///
/// A directory with model.safetensors (the tensors under the layout's names),
/// config.json (for ALBERT an AlbertConfig), spiece.model (the tokenizer) and,
/// for ALBERT, tokenizer_config.json.
/// Source: github.com/huggingface/safetensors, "Format".
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"
#include "runtime/state/training_state.hpp"
#include "tools/potluck/model_config.hpp"

namespace potluck {

/// The bytes of a safetensors file before the tensors' data: the header's
/// length (8 bytes, little-endian) and the header, JSON padded with spaces to a
/// multiple of 8.
std::string safetensors_header(const model_layout& layout);

/// Writes these files into `directory`, which is made when missing; each is
/// replaced as a whole. The tokenizer is left out when the charter has none.
/// Throws std::logic_error when the state is not laid out by `layout`.
expected<bool> export_safetensors(const std::string& directory,
                                  const charter& charter,
                                  const model_layout& layout,
                                  const training_state& state);

/// A file of many GB has a header of some MB.
constexpr std::uint64_t most_header_bytes = std::uint64_t{8} << 20;

/// Tensors that a file may have besides the layout's.
struct spare_tensors {
  /// Not needed; of any type.
  std::set<std::string> unused;
  /// The same values as another tensor: names to those of the layout.
  std::map<std::string, std::string> tied;
};

/// What `AlbertForMaskedLM` has besides: tied to the embeddings, or of heads
/// that it does not have.
const spare_tensors& spare_tensors_of_albert();

/// The parameters of a safetensors file, laid out by `layout`: each of its
/// tensors, of its shape, as F32, and no other. Nothing of the size that the
/// file claims is allocated before it fits. Fails with a sentence that names
/// the file and the tensor.
expected<std::vector<float>> read_safetensors(const std::string& path,
                                              const model_layout& layout,
                                              const spare_tensors& spare = {});

} // namespace potluck
