#include "runtime/state/private_folder.hpp"

#include <cerrno>
#include <filesystem>
#include <sys/stat.h>

#include "runtime/state/atomic_file.hpp"

namespace potluck {

expected<bool> make_private_folder(const std::string& path) {
  std::filesystem::path folder{path};
  if (!folder.has_filename())
    folder = folder.parent_path(); // "a/b/" is "a/b".
  if (folder.empty())
    return true; // This one.
  std::error_code problem;
  if (folder.has_parent_path())
    std::filesystem::create_directories(folder.parent_path(), problem);
  if (problem)
    return failure{"cannot make the folder " + path + ": " + problem.message()};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return file_failure("make the folder", path);
  return true;
}

} // namespace potluck
