/// What of the letters that come too early is not lost: where each says all
/// that the ones before it said, the newest is read a little later. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include "messages/message.hpp"

namespace potluck {

class late_letters {
public:
  /// Keeps a heartbeat, its answer or a report in place of an older one.
  void keep(message x) {
    if (is_whole(x))
      newest_[x.index()] = std::move(x);
  }
  /// This one was read: an older one of its sort is no news any more.
  void read(const message& x) {
    newest_.erase(x.index());
  }
  /// All that are kept, to be read now.
  std::vector<message> take() {
    std::vector<message> result;
    for (auto& x : std::exchange(newest_, {}))
      result.push_back(std::move(x.second));
    return result;
  }

private:
  static bool is_whole(const message& x) {
    return std::holds_alternative<progress_report>(x)
           || std::holds_alternative<heartbeat>(x)
           || std::holds_alternative<heartbeat_reply>(x);
  }

  std::map<std::size_t, message> newest_; ///< By sort.
};

} // namespace potluck
