/// Experts of this process behind lines that are slow and fail: the port
/// expert_network for experiments with delays, without hosts and sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/ports/expert_module.hpp"
#include "runtime/ports/expert_network.hpp"
#include "runtime/random.hpp"
#include "tools/lab/bench/timed_thread.hpp"

namespace potluck::bench {

struct emulated_lines {
  /// Of a call's whole way, there and back: drawn from an exponential
  /// distribution (Ryabinin and Gusev 2020, section 4.1).
  std::chrono::microseconds mean_delay{0};
  double failing = 0; ///< Chance of a call to be lost; who calls hears of it.
  std::uint64_t seed = 1;
};

/// One device computes the calls in the order in which they reach it. Look-ups
/// cost nothing.
class emulated_experts : public expert_network {
public:
  /// Throws what `make` throws.
  emulated_experts(emulated_lines lines, const expert_factory& make,
                   const expert_kind& kind,
                   const std::vector<std::string>& uids);
  /// Calls that are open are answered: they fail.
  ~emulated_experts() override;

  void look_up(
      const std::string& prefix,
      std::function<void(expected<std::vector<std::uint32_t>>)> done) override;
  void call(expert_call what,
            std::function<void(expected<expert_reply>)> done) override;

private:
  using clock = std::chrono::steady_clock;
  using answer = std::function<void(expected<expert_reply>)>;
  std::chrono::microseconds draw_half();
  expected<expert_reply> compute(const expert_call& what);

  emulated_lines lines_;
  std::map<std::string, std::unique_ptr<expert_module>> experts_;
  std::mutex mutex_; ///< Of the chance.
  random_stream chance_;
  timed_thread device_;
  timed_thread line_;
};

} // namespace potluck::bench
