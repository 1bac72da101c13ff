#include "runtime/sandbox/lent_memory.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace potluck {

expected<lent_memory> lent_memory::make(std::size_t bytes) {
  lent_memory result;
  result.file_ = file_descriptor{
      ::memfd_create("potluck", MFD_CLOEXEC | MFD_ALLOW_SEALING)};
  // Were it shrunk, its owner would die of its next look.
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (result.file_
      && ::ftruncate(result.file_.get(), static_cast<off_t>(bytes)) == 0
      && ::fcntl(result.file_.get(), F_ADD_SEALS, seals) == 0) {
    auto* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        result.file_.get(), 0);
    if (data != MAP_FAILED) {
      result.data_ = data;
      result.bytes_ = bytes;
      return result;
    }
  }
  return failure{"Cannot share " + std::to_string(bytes)
                 + " bytes of memory with another program: "
                 + std::strerror(errno) + "."};
}

lent_memory::lent_memory(lent_memory&& other) noexcept
    : file_(std::move(other.file_)), data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {
}

lent_memory& lent_memory::operator=(lent_memory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

lent_memory::~lent_memory() {
  if (data_)
    ::munmap(data_, bytes_);
}

} // namespace potluck
