#include "runtime/organiser/kept_amendments.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/manifest/run_key.hpp"
#include "runtime/state/atomic_file.hpp"
#include "runtime/state/file_lock.hpp"
#include "runtime/state/private_folder.hpp"

namespace potluck {

organisers signers_of(const manifest& run, const run_settings& settings) {
  // The settings' check leaves no others, but for the organiser's own key.
  auto result = read_organisers(run.organiser(), settings.successor);
  return result ? std::move(*result) : organisers{run.organiser()};
}

std::string kept_manifest_path(const std::string& folder,
                               const std::string& run) {
  return folder + "/" + run_file_name(run) + ".manifest";
}

std::string amendments_path(const std::string& folder, const std::string& run) {
  return folder + "/" + run_file_name(run) + ".amendments";
}

std::string read_amendments(const std::string& path, amendment_book& into) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return "";
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  const auto problem = into.read(bytes);
  return problem.empty() ? "" : path + " " + problem;
}

expected<file_descriptor> lock_amendments(const std::string& path) {
  // Where the key is elsewhere there may be no folder yet.
  const auto folder = std::filesystem::path{path}.parent_path();
  if (auto made = make_private_folder(folder); !made)
    return failure{made.error()};
  return lock_file(path + ".lock", "Another `potluck amend` of this run is at "
                                   "work here; wait for it, or end it.");
}

expected<bool> keep_amendments(const std::string& path,
                               const amendment_book& x) {
  const auto bytes = x.to_bytes();
  return replace_file(path, {{bytes.data(), bytes.size()}});
}

} // namespace potluck
