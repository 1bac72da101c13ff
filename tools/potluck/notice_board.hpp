/// Sentences for a person from threads that know no actor, as a trainer's.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace potluck::tools {

/// May be used from all threads at once.
class notice_board {
public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Puts a sentence up, unless it was put up in the last half minute.
  void post(const std::string& sentence,
            time_point now = std::chrono::steady_clock::now());

  /// What was put up since the last call.
  std::vector<std::string> take();

private:
  std::mutex mutex_;
  std::map<std::string, time_point> last_;
  std::vector<std::string> fresh_;
};

} // namespace potluck::tools
