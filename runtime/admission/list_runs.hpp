/// Which runs admit by their authority's list alone, as their organiser has it
/// now: whoever hears the organiser's word says so, and the authority asks.
/// Thread-safe.
#pragma once

#include <mutex>
#include <set>
#include <string>

namespace potluck {

class list_runs {
public:
  void set(const std::string& run, bool by_list) {
    std::lock_guard<std::mutex> guard{mutex_};
    if (by_list)
      runs_.insert(run);
    else
      runs_.erase(run);
  }
  bool has(const std::string& run) const {
    std::lock_guard<std::mutex> guard{mutex_};
    return runs_.count(run) != 0;
  }

private:
  mutable std::mutex mutex_;
  std::set<std::string> runs_; ///< By their keys.
};

} // namespace potluck
