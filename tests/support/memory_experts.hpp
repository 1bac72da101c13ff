/// The expert_network port within memory: small differentiable experts that
/// answer late and fail by chance, on a thread of their own.
///
/// Expert `uid` computes tanh(W x), where the values of W follow from the seed
/// and the uid; each backward pass adds `learning_rate` times the negative
/// gradient to W.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "runtime/ports/expert_network.hpp"
#include "runtime/random.hpp"
#include "tests/support/timed_thread.hpp"

namespace potluck::support {

class memory_experts : public expert_network {
public:
  struct settings {
    std::uint32_t inputs = 3;
    std::uint32_t outputs = 3;
    std::uint64_t seed = 1;
    /// Of the exponential distribution of delays, of calls and look-ups.
    std::chrono::microseconds mean_delay{0};
    double failing = 0; ///< Chance of a call to fail.
    float learning_rate = 0;
  };

  /// What one call meets besides.
  struct fault {
    enum class kind { none, fails, not_finite, too_short } what = kind::none;
    std::chrono::milliseconds delay{0};
  };

  /// What experts were asked.
  struct counts {
    std::size_t look_ups = 0;
    std::size_t forward = 0;
    std::size_t backward = 0;
    std::size_t most_open = 0; ///< Calls open at one time.
  };

  /// @param uids All on one grid; more may come and go.
  memory_experts(settings how, std::set<std::string> uids);
  /// Calls that are open still are answered: they fail.
  ~memory_experts() override;

  void look_up(
      const std::string& prefix,
      std::function<void(expected<std::vector<std::uint32_t>>)> done) override;
  void call(expert_call what,
            std::function<void(expected<expert_reply>)> done) override;

  void set_alive(std::set<std::string> uids);
  /// Asked for every call, on the caller's thread.
  void set_faults(std::function<fault(const expert_call&)> faults);

  counts asked() const;
  std::uint64_t updates(const std::string& uid) const;

private:
  struct expert {
    std::vector<float> weights; ///< [outputs, inputs]
    std::uint64_t updates = 0;
  };
  void later(std::chrono::microseconds delay, std::function<void(bool)> run);
  std::chrono::microseconds draw_delay();
  expert& expert_of(const std::string& uid);
  expected<expert_reply> compute(const expert_call& what);

  settings how_;
  mutable std::mutex mutex_;
  random_stream chance_;
  std::set<std::string> alive_;
  std::map<std::string, expert> experts_;
  std::function<fault(const expert_call&)> faults_;
  counts counts_;
  std::size_t open_ = 0;
  timed_thread line_; ///< Last: it ends before what its tasks use.
};

} // namespace potluck::support
