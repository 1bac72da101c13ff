#include "tools/library/loop_identity.hpp"

#include <utility>

#include "tools/library/complaint.hpp"
#include "tools/potluck/peer_setup.hpp"

namespace potluck::library {

std::string identity_folder(const loop_options& options) {
  const auto& folder = options.text("identity-dir");
  return folder == "none" ? "" : folder;
}

artifact_folder artifacts_of(const loop_options& options) {
  auto folder = identity_folder(options);
  if (folder.empty())
    folder = tools::default_identity_directory();
  return artifact_folder{folder.empty() ? "" : folder + "/artifacts"};
}

std::vector<std::string> loop_identity::take(const loop_options& options) {
  std::vector<std::string> told;
  lock_.reset(); // Of a try that came to nothing.
  folder_ = identity_folder(options);
  if (!folder_.empty()) {
    auto held = identity::open(folder_);
    if (held) {
      key_ = held->key();
      lock_ = std::move(*held);
    } else if (options.given("identity-dir")) {
      throw complaint{held.error()};
    } else {
      told.push_back("Using a temporary identity, since " + held.error());
      folder_.clear();
    }
  }
  if (!key_ || folder_.empty())
    key_ = key_pair::generate();
  return told;
}

} // namespace potluck::library
