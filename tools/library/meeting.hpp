/// Where the loop outside and compute's worker meet: the worker waits here for
/// the loop's gradient, with the parameters and the sum that it is added to;
/// the loop waits here for the worker.
///
/// While the worker waits, the *window* is open: the loop reads parameters and
/// adds to the sum where they lie, so nothing is copied twice. Decides nothing:
/// `loop_account` does. All functions may be called from all threads at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "runtime/outside/loop_account.hpp"
#include "runtime/ports/trainer.hpp"

namespace potluck::library {

class meeting {
public:
  using clock = std::chrono::steady_clock;

  // ---- the worker's side ----------------------------------------------------

  /// A trainer is made, perhaps another one: nobody has its parameters.
  /// @param delayed See `loop_account`.
  void begins(bool delayed);
  /// Opens the window until the loop has added something, or for a while.
  batch_result await(const batch_request& request, const float* parameters,
                     float* sum, const std::atomic<bool>& cancelled);

  // ---- the peer's ----------------------------------------------------------

  /// The run has made its last step, or the peer has ended: no window will
  /// open.
  void ends();

  // ---- the loop's ----------------------------------------------------------

  enum class outcome {
    done,
    same,  ///< Of `take`: there is nothing new.
    stale, ///< Of `add`: it was dropped.
    late,  ///< The window did not open in time.
    over,  ///< It will not open any more.
  };
  /// Waits for the window; then `add_to(sum, begins)` if what the loop has
  /// computed counts. Where the sum begins, what is in it is anything. If it
  /// throws, nothing was added.
  outcome add(std::uint64_t samples, double loss_sum, duration patience,
              const std::function<void(float*, bool)>& add_to);
  /// Waits for the window; then `copy(parameters)` if they are new.
  outcome take(duration patience,
               const std::function<void(const float*)>& copy);
  /// The loop has the parameters that the run ended with.
  void took_last(std::uint64_t step);

  struct figures {
    std::uint64_t samples = 0;
    std::uint64_t stale = 0;
    std::uint64_t taken = 0;
    bool has_parameters = false; ///< Or had, of an earlier trainer.
  };
  figures look() const;

  /// As long as it lives no batch holds the lock on the training state.
  class pause {
  public:
    explicit pause(meeting& of);
    ~pause();
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

  private:
    meeting& of_;
  };

private:
  struct window {
    const float* parameters;
    float* sum;
    bool begins; ///< See `batch_request`.
    clock::time_point opened = {};
    clock::time_point until = {}; ///< It stays open.
    bool used = false;            ///< The loop is at it.
    batch_result result = {};
  };
  /// With the lock: as long as the loop's gradient is worth waiting for now.
  void stay_open(window& x);
  /// With the lock: waits until nobody uses an open window.
  /// @return Null: in vain.
  window* wait_for(std::unique_lock<std::mutex>& lock, duration patience);
  /// Without the lock meanwhile.
  void use(std::unique_lock<std::mutex>& lock, window& where,
           const std::function<void()>& job);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  loop_account account_;
  window* open_ = nullptr;
  bool delayed_ = false;
  bool over_ = false;
  unsigned pauses_ = 0;
  bool had_parameters_ = false; ///< Of an earlier trainer.
  std::uint64_t last_step_ = 0; ///< Taken behind the end.
};

} // namespace potluck::library
