#include "tools/potluck/flat_json.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

namespace {

using nlohmann::json;

/// Headers and configurations have no lists in lists in lists.
constexpr int deepest = 8;

} // namespace

json parse_flat(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '{' || c == '['))
      ++depth;
    else if (!quoted && (c == '}' || c == ']'))
      --depth;
    if (depth > deepest)
      return nullptr;
  }
  auto result = json::parse(text, nullptr, false);
  return result.is_object() ? result : json(nullptr);
}

readable_file::readable_file(const std::string& path)
    : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
}

expected<readable_file> readable_file::open(const std::string& path) {
  readable_file result{path};
  struct stat status {};
  if (!result.fd_ || ::fstat(result.fd_.get(), &status) != 0)
    return file_failure("read", path);
  if (!S_ISREG(status.st_mode))
    return failure{path + " is not a file; name a folder with one"};
  result.bytes_ = static_cast<std::uint64_t>(status.st_size);
  return result;
}

bool readable_file::read(std::uint64_t from, void* out,
                         std::uint64_t size) const {
  auto next = static_cast<char*>(out);
  while (size > 0) {
    const auto count
        = ::pread(fd_.get(), next, std::min<std::uint64_t>(size, 1u << 30),
                  static_cast<off_t>(from));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    next += count;
    from += static_cast<std::uint64_t>(count);
    size -= static_cast<std::uint64_t>(count);
  }
  return true;
}

} // namespace potluck
