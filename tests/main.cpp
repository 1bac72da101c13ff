// The one main function of every test executable.

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <iostream>

#include "tests/support/skip.hpp"

namespace {

constexpr int status_of_skipped = 77; // tests/CMakeLists.txt tells ctest.

bool skipped = false;

} // namespace

namespace potluck::support {

void skip(const std::string& why) {
  skipped = true;
  std::cout << "SKIPPED: " << why << std::endl;
}

} // namespace potluck::support

int main(int argc, char** argv) {
  doctest::Context context{argc, argv};
  const int status = context.run();
  return status == 0 && skipped ? status_of_skipped : status;
}
