#include "models/helper_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace potluck {

namespace fs = std::filesystem;

std::vector<std::string> candidates_for(const helper_program& what) {
  const char* chosen = std::getenv(what.variable);
  if (chosen && *chosen)
    return {chosen};
  std::vector<std::string> result;
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    result.push_back((self.parent_path() / what.file).string());
  for (const char* folder : {POTLUCK_BUILD_BIN, POTLUCK_INSTALL_BIN})
    result.push_back((fs::path(folder) / what.file).string());
  return result;
}

expected<std::string> find_program(const helper_program& what,
                                   const std::vector<std::string>& candidates) {
  std::string looked_at;
  for (const auto& path : candidates) {
    std::error_code error;
    if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0)
      return path;
    looked_at += (looked_at.empty() ? "" : ", ") + path;
  }
  return failure{std::string("The program ") + what.file + ", which "
                 + what.does + ", is not installed (looked for " + looked_at
                 + "): install it beside this program, or name it in "
                 + what.variable + "."};
}

} // namespace potluck
