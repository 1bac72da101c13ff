#include "runtime/state/file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

expected<file_descriptor> lock_file(const std::string& path,
                                    const std::string& taken) {
  file_descriptor lock{
      ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!lock)
    return file_failure("open", path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0)
    return lock;
  if (errno == EWOULDBLOCK)
    return failure{taken};
  return file_failure("lock", path);
}

} // namespace potluck
