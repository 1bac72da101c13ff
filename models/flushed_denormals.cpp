#include "models/flushed_denormals.hpp"

#include <ATen/Context.h>

namespace potluck {

flushed_denormals::flushed_denormals() {
  std::fegetenv(&before_);
  at::globalContext().setFlushDenormal(true);
}

flushed_denormals::~flushed_denormals() {
  std::fesetenv(&before_);
}

} // namespace potluck
