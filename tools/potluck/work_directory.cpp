#include "tools/potluck/work_directory.hpp"

#include <cstdlib>
#include <filesystem>

#include "runtime/state/atomic_file.hpp"

namespace potluck::tools {

namespace fs = std::filesystem;

expected<std::string> make_work_directory(const cli::command_line& options,
                                          const std::string& option,
                                          const std::string& prefix) {
  if (!options.given(option)) {
    std::error_code problem;
    auto base = fs::temp_directory_path(problem);
    auto path = (problem ? fs::path{"/tmp"} : base) / (prefix + "-XXXXXX");
    auto text = path.string();
    if (::mkdtemp(text.data()) == nullptr)
      return file_failure("make the folder", text);
    return text;
  }
  std::error_code problem;
  auto path = fs::absolute(options.text(option), problem);
  if (!problem)
    fs::create_directories(path, problem);
  auto empty = !problem && fs::is_empty(path, problem);
  if (problem)
    return failure{"--" + option + ": " + path.string()
                   + " cannot be used: " + problem.message() + "."};
  if (!empty)
    return failure{"--" + option + ": " + path.string()
                   + " is not empty; name a new folder or an empty one."};
  return path.string();
}

} // namespace potluck::tools
