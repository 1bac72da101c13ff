/// The configuration file: CAF reads it, this decides whether it meant what it
/// says.
///
/// CAF silently ignores values of a wrong type, unknown keys, the second of two
/// equal keys, and files in the syntax of its version 0.18.
#pragma once

#include <caf/config_option_set.hpp>
#include <caf/config_value.hpp>
#include <caf/settings.hpp>
#include <caf/string_view.hpp>

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

#include "tools/potluck/options.hpp"

namespace potluck::cli {

/// The sentence for the user, if something is wrong: goes through CLI11.
struct mistake {
  std::string sentence;
};

/// Text to value; nothing where a text is none of this kind.
/// @param texts One, but for lists.
std::optional<option_value> to_value(option_kind kind,
                                     const std::vector<std::string>& texts);

/// "a whole number": what an option of this kind wants.
std::string wanted(option_kind kind);

std::string plain(caf::string_view text);

/// Whether `name` is that of a section with options of the actor system.
bool is_caf_section(const caf::config_option_set& cafs,
                    const std::string& name);

class options_file : public CLI::Config {
public:
  /// @param app Knows the file's path. All three outlive this.
  options_file(const command_spec& spec, const caf::config_option_set& cafs,
               const CLI::App& app);

  /// The options of the subcommand that stand in the file; throws `mistake`.
  std::vector<CLI::ConfigItem> from_config(std::istream& in) const override;

  /// Not used: `--dump-config` writes what CAF reads.
  std::string to_config(const CLI::App*, bool, bool,
                        std::string) const override {
    return {};
  }

  /// For CAF's own parser; empty: there was no file.
  const std::string& text() const {
    return text_;
  }

private:
  using items = std::vector<CLI::ConfigItem>;

  void scan_lines() const;
  void take_section(const caf::settings& section, const std::string& name,
                    items& out) const;
  CLI::ConfigItem take(const option_spec& option, const caf::config_value& x,
                       const std::string& section) const;
  void check_caf_section(const caf::settings& section,
                         const std::string& prefix) const;
  std::string unknown_name(const std::string& what, const std::string& name,
                           const std::vector<std::string>& candidates) const;
  /// "FILE line 3: ", as far as it is known.
  std::string place(std::size_t line) const;
  std::size_t line_of(const std::string& section, const std::string& key) const;

  const command_spec& spec_;
  const caf::config_option_set& cafs_;
  const CLI::App& app_;
  mutable std::string text_;
  mutable std::vector<std::string> lines_;
  mutable std::map<std::string, std::size_t> keys_; ///< "section.key" to line.
};

} // namespace potluck::cli
