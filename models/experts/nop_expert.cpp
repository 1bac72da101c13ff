#include "models/experts/nop_expert.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/experts/expert_layout.hpp"

namespace potluck {

nop_expert::nop_expert(const expert_kind& kind)
    : kind_(kind), shape_(shape_of(kind)) {
}

void nop_expert::forward(std::uint32_t samples, const float* in, float* out) {
  std::copy_n(in, std::size_t{samples} * shape_.inputs, out);
}

void nop_expert::backward(std::uint32_t samples, const float*,
                          const float* grad_out, float* grad_in) {
  std::copy_n(grad_out, std::size_t{samples} * shape_.inputs, grad_in);
  ++updates_;
}

std::vector<std::uint8_t> nop_expert::save() const {
  training_state state;
  state.step = updates_;
  return expert_bytes(kind_, state);
}

void nop_expert::load(const std::vector<std::uint8_t>& bytes) {
  auto state = read_expert(kind_, bytes);
  if (!state)
    throw std::runtime_error(state.error());
  updates_ = state->step;
}

} // namespace potluck
