/// Artifacts of runs as the files of a folder, each named by its SHA-256.
///
/// One that is being fetched has its peer's name behind it and `.partial`, so
/// several processes may share a folder; they find what another one has
/// fetched. Nothing that lies here is believed: a file is read and compared
/// with its name before it is used. All calls block.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "messages/message.hpp"
#include "runtime/state/artifact_list.hpp"
#include "runtime/state/file_descriptor.hpp"

namespace potluck {

class charter;

class artifact_folder {
public:
  /// @param path Made when something is put there, and the folder that it lies
  ///     in, an identity directory, for its owner only.
  explicit artifact_folder(std::string path) : path_(std::move(path)) {
  }

  const std::string& path() const {
    return path_;
  }
  /// Of the artifact with that content, whether it is here or not.
  std::string path_of(const sha256_digest& content) const {
    return path_ + "/" + to_string(content);
  }
  bool has(const sha256_digest& content) const;
  std::string partial_path(const artifact& x, const std::string& owner) const {
    return path_of(x.content) + "." + owner + ".partial";
  }

  /// Reads a user's file, which is to be the artifact of that name. Fails with
  /// a sentence.
  static expected<artifact> describe(const std::string& name,
                                     const std::string& file);
  /// The same, and keeps a copy.
  expected<artifact> take(const std::string& name,
                          const std::string& file) const;

  /// Keeps bytes that are to be an artifact.
  /// @returns Their file. Fails with a sentence.
  expected<std::string> put(std::string_view bytes) const;

  /// The sums of its pieces, where the whole is here and sound. Fails with a
  /// sentence. One that is damaged is taken away, to `partial_path` of `owner`,
  /// so that the sound pieces need not come again.
  expected<piece_sums> check(const artifact& x, const std::string& owner) const;

  /// Where the run's artifact of this name is on this machine, after a look at
  /// all its bytes. Fails with a sentence that names the mend.
  expected<std::string> find(const charter& run, const std::string& name) const;

  /// A piece of the whole, which is `sum`; nothing (size 0) where it is not.
  shared_bytes read(const artifact& x, std::uint32_t piece,
                    const sha256_digest& sum) const;

  /// Removes what nobody used for longest, but for `keep`, which take `bytes`
  /// when they are here, until there are `most` bytes at most.
  void make_room(const std::set<sha256_digest>& keep, std::uint64_t bytes,
                 std::uint64_t most) const;

private:
  expected<file_descriptor> make_file(std::string& path) const;

  std::string path_;
};

/// An artifact that is being fetched: a file of the folder.
class partial_artifact {
public:
  /// Opens or makes it. Fails with a sentence.
  static expected<partial_artifact> open(const artifact_folder& where,
                                         const artifact& x,
                                         const std::string& owner);

  /// Which pieces lie here already.
  std::vector<bool> sound_pieces(const piece_sums& sums) const;
  /// Fails with a sentence, when the disk is full for instance.
  expected<bool> write(std::uint32_t piece, const shared_bytes& bytes) const;
  /// All pieces are written: the file gets its name. Fails with a sentence.
  expected<bool> finish() const;

private:
  partial_artifact(artifact x, std::string path, std::string whole)
      : it_(std::move(x)), path_(std::move(path)), whole_(std::move(whole)) {
  }

  artifact it_;
  std::string path_;
  std::string whole_;
  file_descriptor file_;
};

} // namespace potluck
