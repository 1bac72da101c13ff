/// Configurations of models and tokenizers beside their tensors: Hugging Face's
/// of an ALBERT, and for any other model the settings that a run has of it.
#pragma once

#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "runtime/state/charter.hpp"

namespace potluck {

/// The AlbertConfig of the charter's model, as JSON.
std::string albert_config(const run_settings& settings);

/// With which Hugging Face's AlbertTokenizer gives a text the tokens that a
/// trainer gives it, as JSON.
std::string tokenizer_config(const run_settings& settings);

/// The settings by name, as text: what is known of any other model, as JSON.
std::string settings_config(const run_settings& settings);

/// The settings in a config.json, Hugging Face's of an ALBERT or one that
/// `settings_config` wrote: names to texts. Fails with a sentence that names
/// the file.
expected<std::vector<setting>> read_model_config(const std::string& path);

/// Whether tokenizer_config.json, where there is one, has capitals made small,
/// as no trainer does.
bool lowers_case(const std::string& path);

} // namespace potluck
