/// Sound inputs of `fuzz_texts`: the files that lie in the tree.
#pragma once

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "tests/fuzz/samples.hpp"

namespace potluck::texts_samples {

/// @param root Of the tree.
inline fuzz_samples all(const std::string& root) {
  fuzz_samples result;
  char kind = 0;
  for (auto folder : {"/tools/scenarios", "/tools/networks", "/tools/plans",
                      "/tools/caf-run.d"}) {
    std::vector<std::filesystem::path> files;
    for (auto& x : std::filesystem::directory_iterator{root + folder})
      if (x.path().extension() == ".json" || x.path().extension() == ".hosts")
        files.push_back(x.path());
    std::sort(files.begin(), files.end());
    for (auto& path : files) {
      std::ifstream in{path, std::ios::binary};
      result.push_back(kind
                       + std::string{std::istreambuf_iterator<char>{in}, {}});
    }
    ++kind;
  }
  return result;
}

} // namespace potluck::texts_samples
