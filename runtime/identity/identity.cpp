#include "runtime/identity/identity.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/state/atomic_file.hpp"
#include "runtime/state/file_lock.hpp"
#include "runtime/state/private_folder.hpp"

namespace potluck {

namespace {

/// More than a key of any kind takes up: what is longer is none.
constexpr std::size_t longest_file = 16 * 1024;

expected<std::string> read_short(const std::string& path, int fd) {
  std::string text(longest_file, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    auto got = ::read(fd, text.data() + size, text.size() - size);
    if (got < 0)
      return file_failure("read", path);
    if (got == 0)
      break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

/// Unless the name is taken. Some file systems know no links: there the last of
/// several processes wins.
bool give_name(const std::string& own, const std::string& path) {
  if (::link(own.c_str(), path.c_str()) == 0 || errno == EEXIST)
    return true;
  return (errno == EPERM || errno == EOPNOTSUPP)
         && ::rename(own.c_str(), path.c_str()) == 0;
}

/// The key gets its name once it is whole, unless another process has made one
/// meanwhile: that one counts.
expected<bool> make_key(const std::string& path) {
  auto own = path + ".XXXXXX";
  if (!file_descriptor{::mkostemp(own.data(), O_CLOEXEC)})
    return file_failure("make", path);
  const auto text = key_pair::generate().pem();
  auto made = replace_file(own, {{text.data(), text.size()}}, 0600);
  if (made && !give_name(own, path))
    made = file_failure("make", path);
  ::unlink(own.c_str());
  if (made && !sync_directory_of(path))
    return file_failure("make durable", path);
  return made;
}

/// Nothing when only the owner may read or write the open file.
std::string exposure(const std::string& path, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0)
    return file_failure("look at", path).sentence;
  const unsigned mode = status.st_mode & 07777;
  if ((mode & 077) == 0)
    return "";
  char octal[8];
  std::snprintf(octal, sizeof(octal), "%04o", mode);
  return path
         + " holds this peer's secret key, but others may use it too (mode "
         + octal + "): run chmod 600 on it, or remove it to become a new peer";
}

} // namespace

expected<identity> identity::open(const std::string& directory) {
  auto made = make_private_folder(directory);
  if (!made)
    return failure{made.error()};

  auto lock = lock_file(directory + "/lock",
                        "identity directory " + directory
                            + " is in use by another potluck; give this one an "
                              "identity-dir of its own");
  if (!lock)
    return failure{lock.error()};

  auto key = key_in(directory, "identity");
  if (!key)
    return failure{key.error()};
  return identity(std::move(*key), std::move(*lock));
}

expected<key_pair> identity::key_in(const std::string& directory,
                                    const std::string& name) {
  auto made = make_private_folder(directory);
  if (!made)
    return failure{made.error()};
  const std::string path = directory + "/" + name;
  file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) {
    if (auto key = make_key(path); !key)
      return failure{key.error()};
    file = file_descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!file)
    return file_failure("read", path);
  auto text = read_short(path, file.get());
  if (!text)
    return failure{text.error()};
  if (auto problem = exposure(path, file.get()); !problem.empty())
    return failure{problem};
  auto key = key_pair::parse(*text);
  if (!key)
    return failure{path + " " + key.error()
                   + "; restore it, or remove it to get a new one"};
  return key;
}

} // namespace potluck
