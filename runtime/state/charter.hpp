/// What all peers of a run must agree on before they can train together: its
/// settings and files such as the tokenizer, in one form in bytes, with one
/// digest. Fixed for the run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/handshake.hpp"
#include "messages/ids.hpp"
#include "runtime/state/run_settings.hpp"

namespace potluck {

/// Small files that a run's peers need beside its settings: names to bytes.
using charter_files = std::map<std::string, std::string>;

/// The digests of files stand in `charter::table`, and the files themselves in
/// a manifest, under their names behind this.
inline constexpr char file_prefix[] = "file-";

/// A sentence when they are no files of a charter: at most 16, with names of 1
/// to 27 small letters, digits and dashes, and 15 MiB in all. Empty when they
/// are.
std::string problem_with(const charter_files& files);

/// Settings and files, with their digest.
class charter {
public:
  charter() = default;
  /// @param settings Those of the optimizer that have no value get the usual
  ///     one. For the model's `complete` is called before.
  /// @param files As `problem_with` wants them. A file without bytes is none.
  charter(run_settings settings, charter_files files);
  /// With the file `tokenizer` alone; empty: with none.
  charter(run_settings settings, std::string tokenizer);

  const run_settings& settings() const {
    return settings_;
  }
  const charter_files& files() const {
    return files_;
  }
  /// The bytes of this file; empty where there is none.
  const std::string& file(const std::string& name) const;
  /// The tokenizer's model, as its library writes it; may be empty.
  const std::string& tokenizer() const {
    return file("tokenizer");
  }
  /// Over settings and files. Empty for a default-constructed charter.
  const potluck::digest& digest() const {
    return digest_;
  }

  /// The settings as text, in a fixed order, and then the files' digests.
  std::vector<setting> table() const;

  /// The bytes that peers exchange and checkpoints contain.
  std::string to_bytes() const;
  static expected<charter> from_bytes(const std::string& bytes);

private:
  run_settings settings_;
  charter_files files_;
  potluck::digest digest_;
};

} // namespace potluck
