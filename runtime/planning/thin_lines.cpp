#include "runtime/planning/thin_lines.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/planning/planner.hpp"

namespace potluck {

namespace {

constexpr double worth_rounding = 0.05;
constexpr double overlapped = 0.9;
/// Sums in another order differ in their last bits.
constexpr double slack = 1 + 1e-9;

/// Bytes on the wire for one byte of float32.
double thickness(packing how) {
  return static_cast<double>(packed_bytes(how, packing_block))
         / static_cast<double>(packed_bytes(packing::float32, packing_block));
}

class packed_exchange {
public:
  packed_exchange(const collaboration& input, const std::vector<double>& shares,
                  const std::vector<line_speeds>& lines)
      : input_{input}, shares_{shares}, lines_{lines},
        limits_(believed_limits(input)), down_(input.peers.size(), 0),
        choice_(input.peers.size(), packing::int8) {
    for (const auto& x : input.peers)
      holders_ += x.holds_model;
    for (std::size_t i = 0; i < down_.size(); ++i)
      send(i, thickness(packing::int8));
  }

  double seconds() const {
    double result = 0;
    for (std::size_t i = 0; i < down_.size(); ++i)
      result = std::max({result, upload_seconds(i, thickness(choice_[i])),
                         download_seconds(i)});
    return result;
  }

  /// Changes member i's packing if the exchange then ends in time.
  void change(std::size_t i, packing how, double in_time) {
    auto more = thickness(how) - thickness(choice_[i]);
    if (upload_seconds(i, thickness(how)) > in_time)
      return;
    send(i, more);
    for (std::size_t j = 0; j < down_.size(); ++j)
      if (j != i && download_seconds(j) > in_time) {
        send(i, -more);
        return;
      }
    choice_[i] = how;
  }

  const std::vector<packing>& choice() const {
    return choice_;
  }

private:
  double bytes() const {
    return static_cast<double>(input_.gradient_bytes);
  }
  /// Gradients that i sends: its parts to all others, its means to holders.
  double upload_seconds(std::size_t i, double thick) const {
    const auto& x = input_.peers[i];
    auto gradients = x.computes * (1 - shares_[i])
                     + shares_[i] * (holders_ - x.holds_model);
    auto seconds = gradients / lines_[i].upload;
    for (const auto& x : limits_)
      if (x.from == i)
        seconds = std::max(seconds, gradients_between(input_, shares_, i, x.to)
                                        / x.bytes_per_second);
    return seconds * bytes() * thick;
  }
  double download_seconds(std::size_t j) const {
    return down_[j] * bytes() / lines_[j].download;
  }
  /// Adds what i sends to what the others receive, so many times.
  void send(std::size_t i, double thick) {
    for (std::size_t j = 0; j < down_.size(); ++j)
      if (j != i)
        down_[j] += thick * gradients_between(input_, shares_, i, j);
  }

  const collaboration& input_;
  const std::vector<double>& shares_;
  const std::vector<line_speeds>& lines_;
  const std::vector<planned_limit> limits_;
  double holders_ = 0;
  std::vector<double> down_; ///< Gradients that each receives, as packed.
  std::vector<packing> choice_;
};

} // namespace

double exchange_allowance(const collaboration& input) {
  auto known
      = std::isfinite(input.computing_seconds) && input.computing_seconds > 0;
  return known ? input.computing_seconds
                     * (input.overlaps ? overlapped : worth_rounding)
               : 0;
}

packing_choice choose_packings(const collaboration& input,
                               const std::vector<double>& shares) {
  const auto lines = believed_lines(input);
  packed_exchange x{input, shares, lines};
  auto in_time = std::max(x.seconds(), exchange_allowance(input)) * slack;
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    return lines[a].upload > lines[b].upload;
  });
  for (auto how : {packing::float16, packing::float32})
    for (auto i : order)
      x.change(i, how, in_time);
  return {x.choice(), x.seconds()};
}

} // namespace potluck
