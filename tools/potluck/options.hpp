/// The command line and the configuration file of one subcommand, on top of
/// CAF's own configuration.
///
/// A subcommand describes its options once; every one of them can then stand on
/// the command line (`--target-batch=256`) and in the configuration file
/// (`target-batch=256`). CAF's options (`--scheduler.max-threads=2`, with or
/// without `caf#`) work beside them. Every mistake ends in one sentence that
/// names the mend; what CAF would silently ignore is refused.
///
/// Knows nothing of what the options mean.

#pragma once

#include <caf/actor_system_config.hpp>

#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace potluck::cli {

/// What an option's value is.
enum class option_kind {
  text,    ///< Any characters; in the file, between double quotes.
  list,    ///< Texts: the option is repeated, or `["a", "b"]` in the file.
  integer, ///< A whole number of 64 bits.
  real,    ///< A number.
  flag,    ///< True if it is given, or as `--name=true`, `--name=false`.
};

/// One option of a subcommand.
struct option_spec {
  std::string name; ///< Without dashes: `target-batch`.
  option_kind kind = option_kind::text;
  std::string default_text; ///< As it would stand on the command line; a list
                            ///< starts with this one element, or none.
  std::string help;         ///< One sentence, for `--help`.
  std::string placeholder;  ///< What the value is called there: `NUMBER`.
};

/// One subcommand of the program.
struct command_spec {
  std::string name;    ///< `join`; it is also its section's name in the file.
  std::string summary; ///< One sentence.
  std::string usage;   ///< `potluck join [OPTION]...`
  std::vector<option_spec> options;
  std::size_t positionals = 0; ///< Words without dashes that it takes at most.
  /// The other subcommands: their sections of the file are not ours to judge.
  std::vector<std::string> siblings;
  /// What `--help` says below the options, as it stands; a format, for
  /// instance.
  std::string notes = {};
};

/// What caf-run tells the processes that it starts (`--caf#slave-mode` and so
/// on). CAF 0.17 reads none of these itself.
struct launch_options {
  bool slave_mode = false;                  ///< This process is a slave.
  std::string slave_name;                   ///< The host as the file names it.
  std::vector<std::string> bootstrap_nodes; ///< Launcher, each `host/port`.
  std::vector<std::string> slave_nodes;     ///< For the master: `host/port`s.
};

/// The options in effect: defaults, then the file, then the command line.
/// Their values also stand in CAF's `content`, under their names.
class command_line : public caf::actor_system_config {
public:
  explicit command_line(command_spec spec);

  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  // Each getter throws std::logic_error for a name that the subcommand does
  // not describe, or describes as another kind.

  std::string text(const std::string& name) const;
  std::vector<std::string> list(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double real(const std::string& name) const;
  bool flag(const std::string& name) const;

  /// Whether the user gave the option, in the file or on the command line.
  bool given(const std::string& name) const;

  /// The words without dashes, in their order.
  const std::vector<std::string>& positionals() const {
    return positionals_;
  }

  const launch_options& launch() const {
    return launch_;
  }

  /// What to ask of the command line besides its options.
  struct request {
    bool help = false;
    bool long_help = false; ///< With CAF's own options.
    bool dump_config = false;
  };

  /// Reads the words behind the subcommand's name, and the configuration file
  /// they name. Call it once.
  /// @returns nothing if all is well, else the sentence for the user.
  std::optional<std::string> read(const std::vector<std::string>& words,
                                  request& asked);

  /// The text for `--help`; with CAF's own options if `long_help`.
  std::string help(bool long_help) const;

  /// The options in effect as a configuration file.
  std::string dump() const;

private:
  using complaint = std::optional<std::string>;

  static std::string plain(caf::string_view text) {
    return {text.begin(), text.end()};
  }

  const option_spec* find(const std::string& name) const;
  const caf::config_value& value(const std::string& name,
                                 option_kind kind) const;
  void assign_default(const option_spec& option);

  // Command line (options.cpp).
  complaint read_words(const std::vector<std::string>& words, request& asked);
  complaint read_launch_option(const std::string& name,
                               const std::optional<std::string>& argument);
  complaint read_caf_option(const caf::config_option& option,
                            const std::string& written,
                            const std::string& argument);
  complaint read_own_option(const option_spec& option,
                            const std::string& argument);
  std::string no_such_option(const std::string& name) const;

  // Configuration file (options_file.cpp).
  complaint scan_lines();
  complaint read_file();
  complaint accept_section(const caf::settings& section,
                           const std::string& section_name);
  complaint accept_key(const option_spec& option, const caf::config_value& x,
                       const std::string& section);
  complaint accept_caf_section(const caf::settings& section,
                               const std::string& prefix);
  bool is_caf_section(const std::string& name) const;
  std::string unknown_name(const std::string& what, const std::string& name,
                           const std::vector<std::string>& candidates) const;
  std::string place(const std::string& section, const std::string& key) const;

  command_spec spec_;
  std::map<std::string, caf::config_value> values_;
  std::map<std::string, std::vector<std::string>> listed_; // by the words
  std::set<std::string> given_;
  std::vector<std::string> positionals_;
  std::vector<std::string> caf_words_; // checked, for CAF's own parser
  launch_options launch_;
  std::string file_;        // its path
  std::string file_text_;   // empty: there is no file
  bool file_named_ = false; // by --config-file
  std::vector<std::string> file_lines_;
  std::map<std::string, std::size_t> lines_; // of "section.key"
};

/// What `parse_command` returns. `config` stays where it is when this moves.
struct parsed_command {
  std::unique_ptr<command_line> owner;
  command_line& config;
  /// Set when the program has to end now: 0 after help, 2 after a mistake.
  std::optional<int> exit_code;
};

/// Parses the words behind the subcommand's name (so `argc - 2`, `argv + 2` of
/// `main`). Help goes to `out`, a mistake's sentence to `err`.
///
///     auto parsed = parse_command(spec, argc - 2, argv + 2);
///     if (parsed.exit_code)
///       return *parsed.exit_code;
///     caf::actor_system system{parsed.config};
parsed_command parse_command(const command_spec& spec, int argc, char** argv);
parsed_command parse_command(const command_spec& spec,
                             const std::vector<std::string>& words,
                             std::ostream& out = std::cout,
                             std::ostream& err = std::cerr);

} // namespace potluck::cli
