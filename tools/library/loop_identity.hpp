/// The key by which a loop's peer is known, and the folder that it lies in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/artifacts/own_artifacts.hpp"
#include "runtime/identity/identity.hpp"
#include "tools/library/loop_options.hpp"

namespace potluck::library {

/// Where the options say that the identity lies; empty: nowhere.
std::string identity_folder(const loop_options& options);
/// Shared by this user's peers, so beside an identity that is not kept, too.
artifact_folder artifacts_of(const loop_options& options);

class loop_identity {
public:
  /// Takes the one that the options name, so that nobody else can, or makes one
  /// for this time. Throws `complaint` where the user asked for one that cannot
  /// be had.
  /// @return What the user is told.
  std::vector<std::string> take(const loop_options& options);
  /// Others may take it. The key is still known.
  void release() {
    lock_.reset();
  }

  /// Nothing before it was taken.
  const std::optional<key_pair>& key() const {
    return key_;
  }
  /// Empty: it is kept nowhere.
  const std::string& folder() const {
    return folder_;
  }

private:
  std::string folder_;
  std::optional<key_pair> key_;
  std::optional<identity> lock_;
};

} // namespace potluck::library
