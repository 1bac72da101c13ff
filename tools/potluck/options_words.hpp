/// The words of a command line, as CLI11 is told of them: which there are, what
/// `--help` says, and what is wrong with others, each in a sentence.
#pragma once

#include <caf/config_option.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

#include "tools/potluck/options.hpp"
#include "tools/potluck/options_file.hpp"

namespace potluck::cli {

/// Shown by `--long-help` only.
constexpr auto caf_group
    = "of the actor system (CAF), in the file under [scheduler] and so on";

constexpr auto own_group = "options";

/// Help in 80 columns, each option as it can be written.
class help_format : public CLI::Formatter {
public:
  explicit help_format(std::string usage) : usage_(std::move(usage)) {
  }

  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nusage: " + usage_ + "\n\n";
  }
  std::string
  make_group(std::string name, bool is_positional,
             std::vector<const CLI::Option*> options) const override;
  std::string make_option(const CLI::Option* option, bool) const override;

private:
  std::string usage_;
};

/// The shortest digits that are read back as the same number.
std::string digits_of(double number);

std::string help_of(const option_spec& option);

// What is given by reference outlives the app. A wrong word of an option throws
// `mistake` when it is parsed.
void add_own(CLI::App& app, const option_spec& option, option_value& value);
void add_common(CLI::App& app, bool& dump);
void add_launch(CLI::App& app, launch_options& launch);
/// @param words For CAF's own parser, in its notation.
void add_caf(CLI::App& app, const caf::config_option& option,
             std::vector<std::string>& words);

/// For a word that none of them begins with.
std::string no_such_option(const CLI::App& app, const std::string& command,
                           const std::string& word);
/// What CLI11 has to say, as a sentence of ours.
std::string sentence_for(const CLI::App& app, const CLI::ParseError& error);

/// The words as CLI11 wants them: the last one first.
std::vector<std::string> last_first(const std::vector<std::string>& words);

} // namespace potluck::cli
