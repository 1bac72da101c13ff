#include "runtime/state/atomic_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/state/file_descriptor.hpp"

namespace potluck {

namespace {

/// So much is written at a time, and at most twice as much waits for the disk:
/// else a large file would fill the memory with pages that wait, and whatever
/// else this machine reads or writes would stand behind it.
constexpr std::size_t piece_bytes = std::size_t{8} << 20;

class piecewise_writer {
public:
  explicit piecewise_writer(int fd) : fd_(fd) {
  }

  bool write(const file_section& section) {
    auto data = static_cast<const char*>(section.data);
    std::size_t left = section.size;
    while (left > 0) {
      const auto room = piece_bytes - static_cast<std::size_t>(at_ - begun_);
      const auto written = ::write(fd_, data, std::min(left, room));
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return false;
      data += written;
      left -= static_cast<std::size_t>(written);
      at_ += written;
      if (static_cast<std::size_t>(at_ - begun_) == piece_bytes)
        end_piece();
    }
    return true;
  }

private:
  /// Sends the piece to the disk, waits for the one before it, and forgets
  /// that, since nobody is about to read it. All of it is advice: `fsync` is
  /// what counts.
  void end_piece() {
    constexpr auto size = static_cast<off_t>(piece_bytes);
    ::sync_file_range(fd_, begun_, size, SYNC_FILE_RANGE_WRITE);
    if (begun_ >= size) {
      ::sync_file_range(fd_, begun_ - size, size,
                        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE
                            | SYNC_FILE_RANGE_WAIT_AFTER);
      ::posix_fadvise(fd_, begun_ - size, size, POSIX_FADV_DONTNEED);
    }
    begun_ = at_;
  }

  int fd_;
  off_t at_ = 0;
  off_t begun_ = 0; ///< Where the piece begins.
};

/// A rename lasts once its directory is on the disk.
bool sync_directory_of(const std::string& path) {
  auto slash = path.rfind('/');
  std::string directory = slash == std::string::npos ? "."
                          : slash == 0               ? "/"
                                                     : path.substr(0, slash);
  file_descriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  return fd && ::fsync(fd.get()) == 0;
}

} // namespace

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
  if (!piecewise_writer{fd->get()}.write({"", 1}))
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
  bool written = true;
  piecewise_writer to{fd->get()};
  for (const auto& section : sections)
    written = written && to.write(section);
  if (!written || ::fsync(fd->get()) != 0
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
