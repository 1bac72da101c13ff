#include "runtime/uv/upload_gate.hpp"

#include <algorithm>
#include <utility>

namespace potluck {

namespace {

/// Between two looks at what is under way, while connections wait for their
/// turns: a part of the queue that `upload_turns` leaves in the line.
constexpr std::chrono::milliseconds turn_check{5};

} // namespace

upload_gate::upload_gate(uv_loop_t* loop, double cap,
                         const std::function<void(connection_id)>& turn,
                         std::function<bytes_of_each()> under_way)
    : loop_(loop), cap_(loop, cap, turn), turns_(turn),
      under_way_(std::move(under_way)) {
}

std::size_t upload_gate::take(connection_id who, std::size_t wanted,
                              std::size_t waiting) {
  const auto turn = turns_.take(who, waiting);
  if (turn == 0) {
    serve_later();
    return 0;
  }
  return cap_.take(who, std::min(wanted, turn));
}

void upload_gate::settle(std::size_t taken, std::size_t written) {
  if (written <= taken)
    cap_.give_back(taken - written);
  else if (taken > 0) // Else it had not to ask.
    cap_.overdraw(written - taken);
}

void upload_gate::serve_later() {
  if (!timer_)
    timer_.emplace(loop_, turn_check, [this] { serve(); });
}

void upload_gate::serve() {
  timer_.reset();
  turns_.serve(under_way_());
  if (turns_.anybody_waits())
    serve_later();
}

void upload_gate::stop() {
  timer_.reset();
  cap_.stop();
}

} // namespace potluck
