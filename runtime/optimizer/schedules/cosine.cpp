/// Half a cosine (Loshchilov and Hutter 2016, arXiv 1608.03983, without
/// restarts): peak (1 + cos(pi p)) / 2, p the share of the tail behind us.
///
/// That is the square of cos(pi p / 2), or of sin(pi (1 - p) / 2), which keeps
/// its digits where it is small. Of these the one whose argument is at most
/// pi / 4 is summed as its Taylor series, up to the term that no longer counts:
/// the rate is within 1e-15 of its own size.
#include "runtime/optimizer/schedules/schedule.hpp"

namespace potluck::tails {

namespace {

constexpr double half_pi = 0x1.921fb54442d18p0;

/// 1 - y^2/(1*2) (1 - y^2/(3*4) (...)) from `first` = 1 on, the cosine; from 2
/// on the sine over y. For y up to pi / 4.
double series(double y, int first) {
  double sum = 1;
  for (int i = first + 16; i >= first; i -= 2)
    sum = 1 - y * y / (i * (i + 1)) * sum;
  return sum;
}

double cosine_rate(double peak, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t step) {
  const auto all = end - begin + 1;
  const auto left = end - step + 1;
  double root = 0;
  if (left > all / 2) {
    root = series(half_pi * static_cast<double>(all - left)
                      / static_cast<double>(all),
                  1);
  } else {
    const auto y
        = half_pi * static_cast<double>(left) / static_cast<double>(all);
    root = y * series(y, 2);
  }
  return peak * (root * root);
}

} // namespace

extern const schedule cosine{"cosine", "falls to zero as half a cosine", true,
                             cosine_rate};

} // namespace potluck::tails
