/// Calls of a run's experts for a loop that waits: arguments checked, experts
/// found, called, and taught.
///
/// Knows nothing of gradients: gating, weights and the order of passes are the
/// loop's. All functions may be called from all threads at once, and hold
/// nothing while they wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "runtime/clock.hpp"
#include "runtime/experts/expert_memory.hpp"
#include "runtime/experts/expert_settings.hpp"
#include "runtime/ports/expert_network.hpp"

namespace potluck::library {

/// One layer of experts of one run, and how to reach it.
class expert_desk {
public:
  /// @param known Shared by all layers of the run.
  /// @param width Values of a sample, there and back.
  expert_desk(std::shared_ptr<expert_network> network,
              std::shared_ptr<expert_memory> known, expert_layer layer,
              std::uint32_t width);

  // As the functions of potluck.h, whose results they give; what cannot be is a
  // `complaint`. Pointers are not null.

  int find(std::size_t samples, const float* scores, int* places,
           unsigned char* alive, duration patience) const;
  int forward(std::size_t samples, const int* places, const float* inputs,
              float* outputs, unsigned char* answered, duration patience) const;
  /// @param input_gradients Null: nobody wants them.
  int backward(std::size_t samples, const int* places, const float* inputs,
               const float* gradients, float* input_gradients,
               unsigned char* answered, duration patience) const;

private:
  struct pass;

  /// Of the seats that have a place, and, if it is not null, are in `answered`.
  pass prepare(std::size_t samples, const int* places, const float* inputs,
               const unsigned char* answered, duration patience) const;

  std::shared_ptr<expert_network> network_;
  std::shared_ptr<expert_memory> known_;
  expert_layer layer_;
  std::uint32_t width_;
};

} // namespace potluck::library
