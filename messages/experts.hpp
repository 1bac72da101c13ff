/// Calls of experts that other peers host, and how hosts are announced.
/// runtime/experts/README.md states the protocol.
#pragma once

#include <cstdint>
#include <string>

#include "messages/averaging.hpp"
#include "messages/contact.hpp"

namespace potluck {

/// The values are on the wire: append only.
enum class expert_pass : std::uint8_t {
  forward = 0,  ///< Inputs in, outputs back.
  backward = 1, ///< Inputs and the outputs' gradients in, the inputs' back.
};

/// A caller to a host: "run this expert on my samples." The body holds
/// `samples` times `values` values: of a forward pass the inputs, row by row;
/// of a backward pass all inputs, then all gradients of the outputs.
struct expert_request {
  std::uint64_t number = 0; ///< Of this call; the answer repeats it.
  std::string uid;
  expert_pass pass = expert_pass::forward;
  std::uint32_t samples = 0;     ///< MUST NOT be zero.
  std::uint32_t values = 0;      ///< Of one sample, gradients included.
  std::uint32_t patience_ms = 0; ///< An answer is of no use after it.
  potluck::packing packing = potluck::packing::float32;
};

/// What became of a call. The values are on the wire: append only.
enum class expert_outcome : std::uint8_t {
  done = 0,
  busy = 1,         ///< Too much is waiting: try another expert.
  not_here = 2,     ///< The receiver does not host it, or no more.
  wrong_shape = 3,  ///< Other values a sample, or more samples, than it takes.
  wrong_values = 4, ///< A value is NaN or infinite.
  failed = 5,       ///< The expert failed, or its values were not finite.
};

/// A host to a caller. The body holds `samples` times `values` values when it
/// is done: outputs, or gradients of the inputs; otherwise there is none.
struct expert_answer {
  std::uint64_t number = 0;
  expert_outcome outcome = expert_outcome::done;
  std::string sentence; ///< For a person, when it is not done.
  std::uint32_t samples = 0;
  std::uint32_t values = 0;  ///< Of one sample.
  std::uint64_t version = 0; ///< Updates of the expert before the call.
  potluck::packing packing = potluck::packing::float32;
};

/// The value of an expert's record in the DHT.
struct expert_announcement {
  contact host;
  std::uint32_t inputs = 0; ///< Values of one sample.
  std::uint32_t outputs = 0;
  std::uint64_t version = 0; ///< Updates so far.
};

} // namespace potluck
