/// A few threads that work in step: all begin together, and all have ended
/// before the caller goes on.
///
/// Turns are short: who waits looks again and again for a while before it
/// sleeps, because to wake a thread takes as long as a turn.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace potluck::simulation {

class crew {
public:
  /// @param size Threads, the caller's own included; at least 1.
  explicit crew(unsigned size);
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

  unsigned size() const {
    return static_cast<unsigned>(others_.size()) + 1;
  }

  /// Calls `work` once in each thread, with its number below `size()`; 0 is the
  /// caller's. Throws what the one with the smallest number threw.
  void run(const std::function<void(unsigned)>& work);

private:
  void serve(unsigned number);
  void attempt(unsigned number);
  /// Returns when `reached` says so; `moved` is notified when it does.
  template <class Reached>
  void await(std::condition_variable& moved, Reached reached);
  /// Wakes those who sleep until something is reached, which now is.
  void tell(std::condition_variable& moved);

  std::vector<std::exception_ptr> problems_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::atomic<std::uint64_t> turn_{0};
  std::atomic<unsigned> busy_{0};
  std::atomic<bool> over_{false};
  std::atomic<unsigned> asleep_{0};
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::vector<std::thread> others_;
};

} // namespace potluck::simulation
