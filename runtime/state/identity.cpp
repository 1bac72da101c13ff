#include "runtime/state/identity.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

namespace {

/// Makes `directory` for its owner only, and its parents as usual.
expected<bool> make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::path path(directory);
  if (!path.has_filename())
    path = path.parent_path(); // "a/b/" is "a/b"
  auto parent = path.parent_path();
  if (!parent.empty())
    std::filesystem::create_directories(parent, error);
  if (error)
    return failure{"cannot make the identity directory " + directory + ": "
                   + error.message()};
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST)
    return file_failure("make the identity directory", directory);
  return true;
}

/// The file's content, read no further than a little behind what it may hold.
expected<std::string> read_short(const std::string& path, int fd) {
  char buffer[128];
  auto size = ::read(fd, buffer, sizeof(buffer));
  if (size < 0)
    return file_failure("read", path);
  return std::string(buffer, static_cast<std::size_t>(size));
}

} // namespace

expected<identity> identity::open(const std::string& directory,
                                  const std::function<peer_id()>& draw) {
  auto made = make_directory(directory);
  if (!made)
    return failure{made.error()};

  const std::string lock_path = directory + "/lock";
  file_descriptor lock(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock)
    return file_failure("open", lock_path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return file_failure("lock", lock_path);
    return failure{"identity directory " + directory
                   + " is in use by another potluck; give this one its own "
                     "with --identity-dir"};
  }

  const std::string path = directory + "/identity";
  file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT)
    return file_failure("read", path);
  if (!file) {
    auto fresh = draw();
    if (fresh.empty())
      throw std::logic_error("identity: drew the id that stands for none");
    auto text = to_string(fresh) + "\n";
    auto written = replace_file(path, {{text.data(), text.size()}}, 0600);
    if (!written)
      return failure{written.error()};
    return identity(fresh, std::move(lock));
  }
  auto text = read_short(path, file.get());
  if (!text)
    return failure{text.error()};
  if (!text->empty() && text->back() == '\n')
    text->pop_back();
  auto id = parse_id<peer_id>(*text);
  if (!id || id->empty())
    return failure{path
                   + " does not hold an identity (64 hex digits); restore it, "
                     "or remove it to become a new peer"};
  return identity(*id, std::move(lock));
}

} // namespace potluck
