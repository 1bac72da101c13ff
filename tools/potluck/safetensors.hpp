/// The trained model in the form that Hugging Face's libraries read.
///
/// A directory with model.safetensors (the tensors under the layout's names),
/// config.json (for ALBERT an AlbertConfig), spiece.model (the tokenizer) and,
/// for ALBERT, tokenizer_config.json.
/// Source: github.com/huggingface/safetensors, "Format".
#pragma once

#include <string>

#include "messages/expected.hpp"
#include "runtime/state/charter.hpp"
#include "runtime/state/model_layout.hpp"
#include "runtime/state/training_state.hpp"

namespace potluck {

/// The bytes of a safetensors file before the tensors' data: the header's
/// length (8 bytes, little-endian) and the header, JSON padded with spaces to a
/// multiple of 8.
std::string safetensors_header(const model_layout& layout);

/// The AlbertConfig of the charter's model, as JSON.
std::string albert_config(const run_settings& settings);

/// With which Hugging Face's AlbertTokenizer gives a text the tokens that a
/// trainer gives it, as JSON.
std::string tokenizer_config(const run_settings& settings);

/// The settings by name, as text: what is known of any other model, as JSON.
std::string settings_config(const run_settings& settings);

/// Writes these files into `directory`, which is made when missing; each is
/// replaced as a whole. The tokenizer is left out when the charter has none.
/// Throws std::logic_error when the state is not laid out by `layout`.
expected<bool> export_safetensors(const std::string& directory,
                                  const charter& charter,
                                  const model_layout& layout,
                                  const training_state& state);

} // namespace potluck
