/// The command line and the configuration file of one subcommand, on top of
/// CAF's own configuration.
///
/// A subcommand describes its options once; every one of them can then stand on
/// the command line (`--target-batch=256`) and in the configuration file
/// (`target-batch=256`). CAF's options (`--scheduler.max-threads=2`, with or
/// without `caf#`) work beside them. CLI11 reads the words, CAF the file. Every
/// mistake ends in one sentence that names the mend; what either would silently
/// ignore is refused.
///
/// Knows nothing of what the options mean.

#pragma once

#include <caf/actor_system_config.hpp>

#include <cstdint>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace potluck::cli {

/// The configuration file that is read where none is named.
constexpr char usual_file[] = "caf-application.ini";

/// What an option's value is.
enum class option_kind {
  text,    ///< Any characters; in the file, between double quotes.
  list,    ///< Texts: the option is repeated, or `["a", "b"]` in the file.
  integer, ///< A whole number of 64 bits.
  real,    ///< A number.
  flag,    ///< True if it is given, or as `--name=true`, `--name=false`.
};

/// In the order of `option_kind`.
using option_value = std::variant<std::string, std::vector<std::string>,
                                  std::int64_t, double, bool>;

template <option_kind Kind>
using value_of
    = std::variant_alternative_t<static_cast<std::size_t>(Kind), option_value>;

/// What a number may be, both ends included.
struct number_range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};
constexpr number_range between(double least, double most) {
  return {least, most};
}
constexpr number_range at_least(double least) {
  return {least};
}

/// That another option, a text, has one of these values; "*.pt" stands for all
/// that end so.
struct option_condition {
  std::string option;
  std::vector<std::string> values;
};

/// One option of a subcommand.
struct option_spec {
  std::string name; ///< Without dashes: `target-batch`.
  option_kind kind = option_kind::text;
  std::string default_text; ///< As it would stand on the command line; a list
                            ///< starts with this one element, or none.
  std::string help;         ///< One sentence, for `--help`.
  std::string placeholder;  ///< What the value is called there: `NUMBER`.
  number_range allowed = {};
  /// Where it does not hold, the option is neither shown nor accepted. Several
  /// texts of one name may have conditions of which one holds at a time.
  std::optional<option_condition> only_with = {};
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
  /// Throws std::logic_error for a default that is not of its option's kind.
  explicit command_line(command_spec spec);

  // Each getter throws std::logic_error for a name that the subcommand does
  // not describe, or describes as another kind.

  const std::string& text(const std::string& name) const {
    return get<option_kind::text>(name);
  }
  const std::vector<std::string>& list(const std::string& name) const {
    return get<option_kind::list>(name);
  }
  std::int64_t integer(const std::string& name) const {
    return get<option_kind::integer>(name);
  }
  double real(const std::string& name) const {
    return get<option_kind::real>(name);
  }
  bool flag(const std::string& name) const {
    return get<option_kind::flag>(name);
  }

  /// Whether the user gave the option, in the file or on the command line.
  bool given(const std::string& name) const;

  /// All of these, as words of the command line: for processes of one's own.
  std::vector<std::string> given_words() const;

  /// The words without dashes, in their order.
  const std::vector<std::string>& positionals() const {
    return positionals_;
  }

  const launch_options& launch() const {
    return launch_;
  }

  /// Reads the words behind the subcommand's name, and the configuration file
  /// that they name. Call it once.
  /// @param answer What the words ask for (`--help`, `--dump-config`); empty:
  /// that the command runs.
  /// @returns Nothing if all is well, else the sentence for the user.
  std::optional<std::string> read(const std::vector<std::string>& words,
                                  std::string& answer);

private:
  template <option_kind Kind>
  const value_of<Kind>& get(const std::string& name) const {
    auto hit = values_.find(name);
    if (hit == values_.end()
        || !std::holds_alternative<value_of<Kind>>(hit->second))
      refuse(name);
    return std::get<value_of<Kind>>(hit->second);
  }
  [[noreturn]] void refuse(const std::string& name) const;
  bool holds(const option_spec& option) const;
  /// The option of this name whose condition holds; null: none does.
  const option_spec* in_effect(const std::string& name) const;
  /// Why an option that was given has no place beside the others; or empty.
  std::string misplaced() const;
  std::string dump() const;

  command_spec spec_;
  std::map<std::string, option_value> values_;
  std::set<std::string> given_;
  std::vector<std::string> positionals_;
  launch_options launch_;
};

/// What `parse_command` returns. `config` stays where it is when this moves.
struct parsed_command {
  std::unique_ptr<command_line> owner;
  command_line& config;
  /// Set when the program has to end now: 0 after help, 2 after a mistake.
  std::optional<int> exit_code;
};

/// Parses the words behind the subcommand's name. Help goes to `out`, a
/// mistake's sentence to `err`.
///
///     auto parsed = parse_command(spec, {argv + 2, argv + argc});
///     if (parsed.exit_code)
///       return *parsed.exit_code;
///     caf::actor_system system{parsed.config};
parsed_command parse_command(const command_spec& spec,
                             const std::vector<std::string>& words,
                             std::ostream& out = std::cout,
                             std::ostream& err = std::cerr);

} // namespace potluck::cli
