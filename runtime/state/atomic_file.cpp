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

/// The system writes at most 2 GiB a call.
constexpr std::size_t max_write = std::size_t{1} << 30;

bool write_fully(int fd, const file_section& section) {
  auto data = static_cast<const char*>(section.data);
  std::size_t left = section.size;
  while (left > 0) {
    auto written = ::write(fd, data, std::min(left, max_write));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  return true;
}

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
  if (!write_fully(fd->get(), {"", 1}))
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
  for (const auto& section : sections)
    written = written && write_fully(fd->get(), section);
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
