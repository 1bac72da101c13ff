/// What a round wants done, collected until its owner takes it; and how many
/// bytes of gradient have passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "runtime/averaging/round/round_orders.hpp"
#include "runtime/direct_lines.hpp"

namespace potluck {

class round_outbox {
public:
  /// @param lines Of this member, `self`. Outlive this.
  round_outbox(const direct_lines& lines, std::size_t self)
      : lines_(lines), self_(self) {
  }

  /// Unless it is a part or a mean for a member without a line to this one,
  /// which no plan asks for: a relay carries none.
  void send(std::optional<round_mail> x) {
    if (!x || (x->body.size != 0 && !lines_.between(self_, x->to)))
      return;
    sent_ += x->body.size;
    out_.emplace_back(std::move(*x));
  }
  template <class Order>
  void order(Order x) {
    out_.emplace_back(std::move(x));
  }
  void add(round_orders more) {
    std::move(more.begin(), more.end(), std::back_inserter(out_));
  }
  round_orders take() {
    return std::exchange(out_, {});
  }

  void received(std::uint64_t bytes) {
    received_ += bytes;
  }
  std::uint64_t bytes_sent() const {
    return sent_;
  }
  std::uint64_t bytes_received() const {
    return received_;
  }

private:
  const direct_lines& lines_;
  std::size_t self_;
  round_orders out_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
};

} // namespace potluck
