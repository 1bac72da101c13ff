/// What a layer that calls experts needs of the world: who is alive, and
/// answers.
///
/// Implemented by actors/experts over sessions and the DHT; tests have
/// one within memory. All calls may come from any thread and return at once;
/// what is handed over is called on a thread of the implementation's, exactly
/// once, and must return soon.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messages/expected.hpp"
#include "messages/experts.hpp"
#include "runtime/recycled_memory.hpp"

namespace potluck {

/// One call of one expert. Tensors as in runtime/ports/expert_module.hpp.
struct expert_call {
  std::string uid;
  expert_pass pass = expert_pass::forward;
  std::uint32_t samples = 0;
  /// [samples, inputs]; backward: followed by the outputs' gradients [samples,
  /// outputs].
  std::shared_ptr<const float_array> values;
  std::chrono::milliseconds patience{30'000};
  /// How the values travel, there and back (runtime/packing/README.md).
  potluck::packing packing = potluck::packing::float32;
};

struct expert_reply {
  /// [samples, outputs]; backward: the inputs' gradients [samples, inputs].
  float_array values;
  std::uint64_t version = 0; ///< The expert's updates before the call.
};

class expert_network {
public:
  virtual ~expert_network() = default;

  /// The next coordinates after `prefix` ("ffn", "ffn.3") under which somebody
  /// announces an expert now, ascending; empty when nobody does. Fails when the
  /// DHT does not answer.
  virtual void
  look_up(const std::string& prefix,
          std::function<void(expected<std::vector<std::uint32_t>>)> done)
      = 0;

  /// Fails with a sentence when the expert is not to be found, its host is lost
  /// or refuses, the answer is malformed or not finite, or the patience ends.
  virtual void call(expert_call what,
                    std::function<void(expected<expert_reply>)> done)
      = 0;
};

} // namespace potluck
