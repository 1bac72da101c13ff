/// A few threads that work in step: all begin together, and all have ended
/// before the caller goes on.
#pragma once

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

  std::vector<std::exception_ptr> problems_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::uint64_t turn_ = 0;
  unsigned busy_ = 0;
  bool over_ = false;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable end_;
  std::vector<std::thread> others_;
};

} // namespace potluck::simulation
