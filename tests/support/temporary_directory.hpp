/// A directory for one test, gone with it unless the test failed.
#pragma once

#include <string>

namespace potluck::support {

/// Whether a check of the running test case has failed.
bool this_test_failed();

class temporary_directory {
public:
  /// Throws std::system_error when there is no room for one.
  temporary_directory();
  ~temporary_directory();

  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;

  const std::string& path() const {
    return path_;
  }
  /// The path of `name` in it.
  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

private:
  std::string path_;
};

} // namespace potluck::support
