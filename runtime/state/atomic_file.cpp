#include "runtime/state/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <new>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/state/file_descriptor.hpp"

namespace potluck {

namespace {

/// So much is written at a time of a large file: enough for the disk, and for
/// a writer that waits for its turn after each.
constexpr std::size_t piece_bytes = std::size_t{4} << 20;
/// Of addresses, of lengths and of places in the file, for writes past the
/// system's cache: a page, which is a multiple of what disks ask for.
constexpr std::size_t block_bytes = 4096;

/// Writes a large file past the system's cache where the file system lets it:
/// else a processor copies it once more and keeps an account of every page,
/// which costs five times as much, and the memory fills with pages that nobody
/// is about to read.
class piecewise_writer {
public:
  /// @param size Of all that will come.
  piecewise_writer(int fd, std::size_t size)
      : fd_(fd), room_(std::clamp(size, block_bytes, piece_bytes)),
        piece_(static_cast<char*>(
            std::aligned_alloc(block_bytes, (room_ + block_bytes - 1)
                                                / block_bytes * block_bytes))) {
    if (!piece_)
      throw std::bad_alloc{};
    if (size >= piece_bytes)
      set_direct(true);
  }

  bool write(const file_section& section) {
    auto data = static_cast<const char*>(section.data);
    for (std::size_t left = section.size; left > 0;) {
      const auto count = std::min(left, room_ - filled_);
      std::memcpy(piece_.get() + filled_, data, count);
      filled_ += count;
      data += count;
      left -= count;
      if (filled_ == room_ && !flush())
        return false;
    }
    return true;
  }

  /// Writes what is left.
  bool flush() {
    for (std::size_t at = 0; at < filled_;) {
      if (is_direct_ && (filled_ - at) % block_bytes != 0)
        set_direct(false);
      const auto count = ::write(fd_, piece_.get() + at, filled_ - at);
      if (count < 0 && errno == EINVAL && is_direct_) {
        set_direct(false); // Its blocks are larger.
        continue;
      }
      if (count < 0 && errno != EINTR)
        return false;
      if (count > 0)
        at += static_cast<std::size_t>(count);
    }
    filled_ = 0;
    return true;
  }

private:
  void set_direct(bool on) {
    is_direct_ = ::fcntl(fd_, F_SETFL, on ? O_DIRECT : 0) == 0 && on;
  }

  struct release {
    void operator()(char* x) const {
      std::free(x);
    }
  };

  int fd_;
  std::size_t room_;
  std::unique_ptr<char, release> piece_;
  std::size_t filled_ = 0;
  bool is_direct_ = false;
};

} // namespace

bool sync_directory_of(const std::string& path) {
  auto slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "."
                          : slash == 0               ? "/"
                                                     : path.substr(0, slash);
  file_descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  return fd && ::fsync(fd.get()) == 0;
}

failure file_failure(const std::string& what, const std::string& path) {
  return {"cannot " + what + " " + path + ": " + std::strerror(errno)};
}

namespace {

std::string partial_of(const std::string& path) {
  return path + ".partial";
}

/// Opens `path`.partial, empty, for this process alone.
expected<file_descriptor> open_partial(const std::string& path, unsigned mode) {
  const auto partial = partial_of(path);
  file_descriptor fd(::open(partial.c_str(),
                            O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd)
    return file_failure("write", partial);
  // One writer at a time; what a crashed one left behind is overwritten. The
  // lock may be on a file that its writer has just renamed: then do NOT write
  // to it, because it is `path` by now.
  struct stat opened, named;
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0
      || ::fstat(fd.get(), &opened) != 0 || ::stat(partial.c_str(), &named) != 0
      || opened.st_ino != named.st_ino || opened.st_dev != named.st_dev)
    return failure{"cannot write " + path
                   + ": another process is writing it; give each its own"};
  if (::ftruncate(fd.get(), 0) != 0)
    return file_failure("write", path);
  return fd;
}

} // namespace

expected<bool> try_file(const std::string& path) {
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    return failure{"cannot write " + path + ": it is not a file"};
  auto fd = open_partial(path, 0666);
  if (!fd)
    return failure{fd.error()};
  expected<bool> result = true;
  if (::write(fd->get(), "", 1) != 1)
    result = file_failure("write", path);
  ::unlink(partial_of(path).c_str());
  return result;
}

expected<bool> replace_file(const std::string& path,
                            const std::vector<file_section>& sections,
                            unsigned mode) {
  auto fd = open_partial(path, mode);
  if (!fd)
    return failure{fd.error()};
  const auto partial = partial_of(path);
  std::size_t size = 0;
  for (const auto& section : sections)
    size += section.size;
  bool written = true;
  piecewise_writer to{fd->get(), size};
  for (const auto& section : sections)
    written = written && to.write(section);
  if (!written || !to.flush() || ::fsync(fd->get()) != 0
      || ::rename(partial.c_str(), path.c_str()) != 0) {
    auto reason = file_failure("write", path);
    ::unlink(partial.c_str());
    return reason;
  }
  if (!sync_directory_of(path))
    return file_failure("make durable", path);
  return true;
}

namespace {

class this_machines_disk : public disk {
  expected<bool> replace(const std::string& path,
                         const std::vector<file_section>& sections) override {
    return replace_file(path, sections);
  }
};

} // namespace

disk& local_disk() {
  static this_machines_disk it;
  return it;
}

} // namespace potluck
