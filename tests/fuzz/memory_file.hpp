/// A file without a disk, for readers that take a path.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include <sys/mman.h>

#include "runtime/state/file_descriptor.hpp"

namespace potluck {

class memory_file {
public:
  /// Throws std::system_error where there is none.
  memory_file() : fd_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!fd_)
      throw std::system_error{errno, std::generic_category(), "memfd_create"};
  }

  std::string path() const {
    return "/proc/self/fd/" + std::to_string(fd_.get());
  }
  int descriptor() const {
    return fd_.get();
  }
  void hold(std::string_view bytes) {
    if (::ftruncate(fd_.get(), 0) != 0
        || ::pwrite(fd_.get(), bytes.data(), bytes.size(), 0)
               != static_cast<ssize_t>(bytes.size()))
      throw std::system_error{errno, std::generic_category(), "a memory file"};
  }

private:
  file_descriptor fd_;
};

} // namespace potluck
