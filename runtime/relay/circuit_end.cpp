#include "runtime/relay/circuit_end.hpp"

#include <algorithm>
#include <utility>

#include "messages/limits.hpp"

namespace potluck {

circuit_end::circuit_end(bool begins, const stream_maker& make)
    : stream_(make(begins, *this)) {
}

circuit_end::news circuit_end::begin() {
  stream_->begin();
  return std::exchange(news_, {});
}

std::string circuit_end::push(outgoing_frame frame) {
  const auto waits = stream_->push(std::move(frame));
  return waits == 0
             ? ""
             : "the other side stopped reading: " + std::to_string(waits >> 20)
                   + " MiB were waiting for it";
}

std::vector<std::uint8_t> circuit_end::next() {
  const auto may = std::min<std::size_t>(
      credit_ - std::min(credit_, limits::circuit_frame_cost),
      limits::circuit_piece);
  auto piece = stream_->next(may);
  drained_ = piece.empty() && may >= limits::least_circuit_piece;
  if (!piece.empty())
    credit_ -= static_cast<std::uint32_t>(piece.size())
               + limits::circuit_frame_cost;
  return piece;
}

bool circuit_end::grant(std::uint32_t bytes) {
  if (bytes > max_circuit_credit - std::min(credit_, max_circuit_credit))
    return false;
  credit_ += bytes;
  return true;
}

circuit_end::news circuit_end::take(const shared_bytes& piece) {
  news_.over = stream_->take(piece.data, piece.size);
  return std::exchange(news_, {});
}

void circuit_end::on_proven(const peer_id& who) {
  open_ = true;
  news_.proven = who;
}

void circuit_end::on_frame(incoming_frame frame) {
  news_.frames.push_back(std::move(frame));
}

} // namespace potluck
