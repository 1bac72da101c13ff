/// Files of TorchScript, written by Debian's python3-torch (make_scripts.py).
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/models/fixture.hpp"
#include "tests/support/skip.hpp"

namespace potluck::test {

class made_scripts {
public:
  made_scripts() {
    const std::string python = "/usr/bin/python3";
    if (std::system((python + " -c 'import torch' 2> /dev/null").c_str()) != 0)
      return;
    const auto command
        = python + " tests/models/script/make_scripts.py " + folder_.path();
    there_ = std::system(command.c_str()) == 0;
  }

  /// Says so where there are none.
  bool there() const {
    if (!there_)
      support::skip("python3-torch is not installed.");
    return there_;
  }
  std::string path(const std::string& name) const {
    return folder_.path(name);
  }
  /// What the bad ones try to write.
  bool written() const {
    return std::filesystem::exists(path("written"));
  }
  std::string bytes(const std::string& name) const {
    std::ifstream file{path(name + ".pt"), std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

private:
  scratch_folder folder_;
  bool there_ = false;
};

/// The same for all tests of a process.
inline const made_scripts& scripts() {
  static const made_scripts all;
  return all;
}

inline bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace potluck::test
