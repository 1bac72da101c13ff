/// What a function of the C interface answers instead of doing what it was
/// asked for.
#pragma once

#include <stdexcept>
#include <string>

#include "tools/library/potluck.h"

namespace potluck::library {

/// Thrown inside the library only, where it is caught again.
class complaint : public std::runtime_error {
public:
  explicit complaint(const std::string& sentence, int result = POTLUCK_MISTAKE)
      : std::runtime_error(sentence), result_(result) {
  }

  int result() const {
    return result_;
  }

private:
  int result_;
};

} // namespace potluck::library
