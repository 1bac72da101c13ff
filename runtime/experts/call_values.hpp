/// The values of a call or an answer as a body, and back: see README.md.
#pragma once

#include <cstddef>
#include <memory>

#include "messages/experts.hpp"
#include "messages/message.hpp"

namespace potluck {

/// How many values there are: two parts, packed each for itself.
struct call_size {
  std::size_t inputs = 0;    ///< Of an answer: all.
  std::size_t gradients = 0; ///< Behind them.
};

call_size size_of(const expert_request& x);
call_size size_of(const expert_answer& x);

/// The body of these values; as they lie in memory, if they need no packing.
/// @param values Finite, as many as `size` says. @param owner Keeps them.
shared_bytes body_of(packing how, std::shared_ptr<const void> owner,
                     const float* values, const call_size& size);

/// @param out As many values as `size` says; anything when false is returned.
/// @returns Whether the body is what `body_of` makes of that many values.
bool read_values(packing how, const shared_bytes& body, const call_size& size,
                 float* out);

} // namespace potluck
