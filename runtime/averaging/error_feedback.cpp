#include "runtime/averaging/error_feedback.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/averaging/chunk_map.hpp"
#include "runtime/packing/packing.hpp"
#include "runtime/vector_loops.hpp"

namespace potluck {

namespace {

using floats = std::vector<float>;

/// Takes from `values` what their packing sends of them.
void take_away_what_is_sent(packing how, float* values, std::size_t count) {
  floats sent(values, values + count);
  pack_and_round(how, sent.data(), count, sent.data());
  for (std::size_t i = 0; i < count; ++i)
    values[i] -= sent[i];
}

} // namespace

shared_gradient residual_after(const own_parts& own, std::uint32_t chunk_values,
                               packing how) {
  auto result = std::make_shared<floats>(*own.offered);
  std::size_t chunk = 0;
  if (own.chunk_values != 0)
    chunk_values = own.chunk_values;
  for (std::size_t first = 0; first < result->size(); first += chunk_values) {
    auto count = std::min<std::size_t>(chunk_values, result->size() - first);
    auto* values = result->data() + first;
    auto fate = own.fates.empty() ? part_fate::packed : own.fates.at(chunk++);
    if (fate == part_fate::whole || !all_finite(values, count))
      std::fill(values, values + count, 0.0f);
    else if (fate == part_fate::packed)
      take_away_what_is_sent(how, values, count);
  }
  return result;
}

error_feedback::error_feedback(packing how, std::uint32_t chunk_values,
                               std::size_t values)
    : how_{how}, chunk_values_{chunk_values}, values_{values} {
}

void error_feedback::restore(shared_gradient residual) {
  begin_anew();
  if (!residual || residual->size() != values_
      || !all_finite(residual->data(), values_))
    return;
  residual_ = std::move(residual);
  restored_ = true;
}

shared_gradient error_feedback::with_residual(shared_gradient gradient) const {
  if (!gradient || !residual_)
    return gradient;
  if (gradient->size() != values_)
    throw std::invalid_argument{"a gradient of another length"};
  auto sum = std::make_shared<floats>(*gradient);
  add_to(sum->data(), residual_->data(), values_);
  return sum;
}

shared_gradient error_feedback::offer(shared_gradient gradient) {
  restored_ = false;
  before_gift_.reset();
  gift_ = 0;
  offered_ = with_residual(std::move(gradient));
  return offered_;
}

shared_gradient error_feedback::give(shared_gradient gradient,
                                     std::uint64_t number) {
  auto result = offer(std::move(gradient));
  before_gift_ = std::move(residual_);
  gift_ = number;
  residual_ = residual_after({std::move(offered_), {}, 0},
                             contribution_values(chunk_values_), how_);
  offered_.reset();
  return result;
}

void error_feedback::gift_refused(std::uint64_t number) {
  if (gift_ == 0 || number != gift_)
    return;
  residual_ = std::exchange(before_gift_, nullptr);
  gift_ = 0;
}

void error_feedback::step_made(const own_parts* own) {
  if (own && own->offered)
    residual_ = residual_after(*own, chunk_values_, how_);
  else if (!own && offered_)
    residual_ = residual_after({offered_, {}, 0}, chunk_values_, how_);
  else if (!own && restored_)
    residual_.reset();
  offered_.reset();
  restored_ = false;
}

void error_feedback::state_replaced() {
  begin_anew();
}

void error_feedback::begin_anew() {
  residual_.reset();
  offered_.reset();
  before_gift_.reset();
  gift_ = 0;
  restored_ = false;
}

} // namespace potluck
