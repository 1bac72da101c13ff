/// Experts of this process behind lines that are slow and fail: the port
/// expert_network for experiments with delays, without hosts and sockets.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "runtime/ports/expert_module.hpp"
#include "runtime/ports/expert_network.hpp"
#include "runtime/random.hpp"

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
  struct task {
    clock::time_point due;
    std::uint64_t number;
    std::function<void(bool ends)> run;
    bool operator<(const task& x) const { // The earliest is the greatest.
      return due != x.due ? due > x.due : number > x.number;
    }
  };
  /// A thread that runs tasks when they are due.
  class worker {
  public:
    worker();
    ~worker();
    /// Runs what is left, as at the end, and whatever comes at once.
    void stop();
    void at(clock::time_point due, std::function<void(bool ends)> run);

  private:
    void work();

    std::mutex mutex_;
    std::condition_variable news_;
    std::priority_queue<task> tasks_;
    std::uint64_t number_ = 0;
    bool ends_ = false;
    std::thread thread_;
  };

  std::chrono::microseconds draw_half();
  expected<expert_reply> compute(const expert_call& what);

  emulated_lines lines_;
  std::map<std::string, std::unique_ptr<expert_module>> experts_;
  std::mutex mutex_; ///< Of the chance.
  random_stream chance_;
  worker device_;
  worker line_;
};

} // namespace potluck::bench
