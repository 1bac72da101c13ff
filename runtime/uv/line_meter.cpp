#include "runtime/uv/line_meter.hpp"

#include <algorithm>

#include "runtime/uv/kernel_view.hpp"

namespace potluck {

namespace {

/// Of an interval in which data waited in the kernel all the time: its clock
/// and ours differ a little.
constexpr double all_the_time = 0.9;

} // namespace

std::optional<connection_traffic> line_meter::look(connection_id id,
                                                   const tcp_handle& socket,
                                                   duration interval,
                                                   std::size_t queued) {
  connection_traffic result;
  result.id = id;
  const bool quiet = received_ == 0 && sent_ == 0 && queued == 0 && !queued_
                     && !unsent_ && !unacknowledged_;
  if (quiet)
    return std::nullopt;
  result.received = received_;
  result.sent = sent_;
  result.backlogged = queued_ && queued > 0 && !emptied_;
  if (auto view = ask_kernel(descriptor_of(socket))) {
    const auto arrived = std::max(arrived_, view->arrived);
    result.sent = arrived - arrived_;
    result.round_trip = view->round_trip;
    least_round_trip_ = view->least_round_trip;
    const auto busy = view->busy - busy_;
    result.backlogged = result.backlogged
                        || (unsent_ && view->unsent
                            && busy >= std::chrono::duration_cast<duration>(
                                   all_the_time * interval));
    arrived_ = arrived;
    busy_ = view->busy;
    unsent_ = view->unsent;
    unacknowledged_ = view->unacknowledged;
  }
  received_ = sent_ = 0;
  emptied_ = false;
  queued_ = queued > 0;
  return result;
}

std::size_t line_meter::under_way(const tcp_handle& socket) {
  return bytes_under_way(descriptor_of(socket));
}

} // namespace potluck
