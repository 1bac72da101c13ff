/// What a handle has learnt: the run's charter, from the peer's worker, and why
/// its last call failed. Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "runtime/state/charter.hpp"

namespace potluck::library {

class learnt {
public:
  void agree(const charter& x) {
    std::lock_guard<std::mutex> lock{mutex_};
    agreed_ = x;
  }
  std::optional<charter> agreed() const {
    std::lock_guard<std::mutex> lock{mutex_};
    return agreed_;
  }

  void fail_with(const std::string& sentence) {
    std::lock_guard<std::mutex> lock{mutex_};
    problem_ = sentence;
  }
  std::string problem() const {
    std::lock_guard<std::mutex> lock{mutex_};
    return problem_;
  }

private:
  mutable std::mutex mutex_;
  std::optional<charter> agreed_;
  std::string problem_;
};

} // namespace potluck::library
