#include "tools/potluck/created_run.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "runtime/organiser/kept_amendments.hpp"
#include "runtime/state/atomic_file.hpp"

namespace potluck::tools {

std::string manifest_path(const std::string& directory,
                          const std::string& name) {
  return directory + "/" + name + ".manifest";
}

std::string first_state_path(const std::string& directory,
                             const std::string& run) {
  return directory + "/" + run_file_name(run) + ".first";
}

charter with_steps(const charter& trial, std::uint64_t steps) {
  auto settings = trial.settings();
  settings.steps = steps;
  settings.warmup_steps = std::min(settings.warmup_steps, steps);
  return {std::move(settings), trial.files()};
}

expected<std::optional<manifest>> read_manifest_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file && errno == ENOENT)
    return std::optional<manifest>{};
  std::string bytes(manifest::most_bytes + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file.eof() && !file)
    return file_failure("read", path);
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  auto result = manifest::read(bytes);
  if (!result)
    return failure{path + " " + result.error() + "; restore it."};
  return std::optional{std::move(*result)};
}

expected<std::optional<invitation>>
invitation_from(const cli::command_line& options) {
  if (options.positionals().empty())
    return std::optional<invitation>{};
  auto result = read_invitation(options.positionals().front());
  if (!result)
    return failure{result.error()};
  return std::optional{std::move(*result)};
}

expected<named_run> run_invited(const invitation& to,
                                const std::string& directory) {
  named_run result{to.run(), {}, to};
  if (directory.empty())
    return result;
  auto here = read_manifest_file(manifest_path(directory, to.name));
  if (!here)
    return failure{here.error()};
  if (!*here || (*here)->id() != to.id) // A peer may have joined that run.
    here = read_manifest_file(kept_manifest_path(directory, result.run));
  if (here && *here && (*here)->id() == to.id)
    result.manifest = std::move(*here);
  return result;
}

expected<named_run> run_named(const std::string& word,
                              const std::string& directory) {
  if (is_invitation(word)) {
    auto to = read_invitation(word);
    if (!to)
      return failure{"--run: " + to.error()};
    return run_invited(*to, directory);
  }
  const bool is_path = word.find('/') != std::string::npos;
  if (!is_path && (directory.empty() || !problem_with_run_name(word).empty()))
    return named_run{word};
  const auto path = is_path ? word : manifest_path(directory, word);
  auto here = read_manifest_file(path);
  if (!here)
    return failure{"--run: " + here.error()};
  if (*here) {
    auto run = (*here)->run();
    return named_run{std::move(run), std::move(*here)};
  }
  if (is_path)
    return failure{"--run: there is no manifest " + path
                   + "; `potluck create` makes one, and a name has no slash."};
  return named_run{word};
}

} // namespace potluck::tools
