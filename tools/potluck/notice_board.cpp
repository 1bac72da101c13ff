#include "tools/potluck/notice_board.hpp"

#include <utility>

namespace potluck::tools {

namespace {

constexpr std::chrono::seconds repeat_after{30};
/// Sentences with numbers in them may all differ.
constexpr std::size_t most_remembered = 64;

} // namespace

void notice_board::post(const std::string& sentence, time_point now) {
  std::lock_guard<std::mutex> guard{mutex_};
  auto known = last_.find(sentence);
  if (known != last_.end() && now - known->second < repeat_after)
    return;
  if (last_.size() >= most_remembered)
    last_.clear();
  last_[sentence] = now;
  if (fresh_.size() < most_remembered)
    fresh_.push_back(sentence);
}

std::vector<std::string> notice_board::take() {
  std::lock_guard<std::mutex> guard{mutex_};
  return std::exchange(fresh_, {});
}

} // namespace potluck::tools
