#include "runtime/experts/call_values.hpp"

#include <utility>

#include "runtime/packing/packing.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck {

call_size size_of(const expert_request& x) {
  return {std::size_t{x.samples} * (x.values - x.gradients),
          std::size_t{x.samples} * x.gradients};
}

call_size size_of(const expert_answer& x) {
  return {std::size_t{x.samples} * x.values, 0};
}

shared_bytes body_of(packing how, std::shared_ptr<const void> owner,
                     const float* values, const call_size& size) {
  if (how == packing::float32 || size.gradients == 0)
    return packed_body(how, std::move(owner), values,
                       size.inputs + size.gradients);
  const auto first = packed_bytes(how, size.inputs);
  auto bytes = std::make_shared<byte_array>();
  bytes->resize(first + packed_bytes(how, size.gradients));
  pack(how, values, size.inputs, bytes->data());
  pack(how, values + size.inputs, size.gradients, bytes->data() + first);
  const auto* data = bytes->data();
  const auto length = bytes->size();
  return {std::move(bytes), data, length};
}

bool read_values(packing how, const shared_bytes& body, const call_size& size,
                 float* out) {
  const auto first = packed_bytes(how, size.inputs);
  return body.size == first + packed_bytes(how, size.gradients)
         && unpack(how, body.data, first, out, size.inputs)
         && unpack(how, body.data + first, body.size - first, out + size.inputs,
                   size.gradients);
}

} // namespace potluck
