#include "models/text/tokenizer_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace potluck {

namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "potluck-tokenizer";

} // namespace

std::vector<std::string> tokenizer_program_candidates() {
  const char* chosen = std::getenv("POTLUCK_TOKENIZER");
  if (chosen && *chosen)
    return {chosen};
  std::vector<std::string> result;
  std::error_code error;
  const auto self = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    result.push_back((self.parent_path() / file_name).string());
  for (const char* folder : {POTLUCK_BUILD_BIN, POTLUCK_INSTALL_BIN})
    result.push_back((fs::path(folder) / file_name).string());
  return result;
}

expected<std::string>
find_tokenizer_program(const std::vector<std::string>& candidates) {
  std::string looked_at;
  for (const auto& path : candidates) {
    std::error_code error;
    if (fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0)
      return path;
    looked_at += (looked_at.empty() ? "" : ", ") + path;
  }
  return failure{std::string("The program ") + file_name
                 + ", which reads text for models, is not installed (looked "
                   "for "
                 + looked_at
                 + "): install it beside this program, or name it in "
                   "POTLUCK_TOKENIZER."};
}

} // namespace potluck
