/// What a test case says where it cannot be tried.
#pragma once

#include <string>

namespace potluck::support {

/// Prints `SKIPPED: why`; the test case returns next. The process ends with 77
/// then, which ctest shows as skipped, unless a test case fails.
void skip(const std::string& why);

} // namespace potluck::support
