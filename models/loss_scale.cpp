#include "models/loss_scale.hpp"

namespace potluck {

namespace {

/// Beyond it a scaled loss is near float32's own end.
constexpr double largest = 16777216;
/// Gradients that overflow though they are not enlarged are no numbers.
constexpr double least = 1;

} // namespace

void loss_scale::fitted() {
  if (++fitting_ < patience)
    return;
  fitting_ = 0;
  if (value_ < largest)
    value_ *= 2;
}

bool loss_scale::overflowed() {
  fitting_ = 0;
  value_ /= 2;
  return value_ >= least;
}

} // namespace potluck
