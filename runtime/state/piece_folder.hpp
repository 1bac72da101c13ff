/// Pieces of states and means as the files of a folder, each named by its
/// digest.
///
/// A file is written beside its place and renamed, and nothing is forced to the
/// disk: what a crash damages is found by its digest when it is read. What an
/// earlier start has left is used again. Calls take as long as the disk does,
/// which is mostly the system's cache.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "messages/expected.hpp"
#include "runtime/ports/piece_store.hpp"

namespace potluck {

class piece_folder final : public piece_store {
public:
  /// Makes the folder if there is none, and removes from it what is no piece or
  /// too much. Fails with a sentence.
  /// @param most Bytes of all files together.
  static expected<std::shared_ptr<piece_folder>> open(const std::string& path,
                                                      std::uint64_t most);

  std::uint64_t bound() const override {
    return most_;
  }
  bool put(const digest& name, const shared_bytes& piece) override;
  bool has(const digest& name) const override {
    return files_.count(name) != 0;
  }
  shared_bytes get(const digest& name) override;

  std::uint64_t bytes() const {
    return bytes_;
  }

private:
  struct file {
    std::uint64_t size = 0;
    std::list<digest>::iterator turn; ///< In `used_`.
  };

  piece_folder(std::string path, std::uint64_t most)
      : path_(std::move(path)), most_(most) {
  }
  std::string place_of(const digest& name) const;
  void note(const digest& name, std::uint64_t size);
  void drop(const digest& name);

  const std::string path_;
  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;
  std::map<digest, file> files_;
  std::list<digest> used_; ///< The one used last at the end.
};

} // namespace potluck
