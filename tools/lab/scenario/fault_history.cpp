#include "tools/lab/scenario/fault_history.hpp"

#include "runtime/numbers.hpp"

namespace potluck {

namespace {

std::string seconds_text(duration x) {
  auto tenths_of_ms = (x.count() + 50'000) / 100'000;
  auto text = std::to_string(tenths_of_ms / 10'000);
  auto rest = std::to_string(10'000 + tenths_of_ms % 10'000).substr(1);
  rest.erase(rest.find_last_not_of('0') + 1);
  return text + (rest.empty() ? "" : "." + rest) + " s";
}

} // namespace

void fault_history::note(const fault_event& x,
                         const std::optional<duration>& lasts) {
  ++counts_[x.kind];
  if (lines_.size() >= limits::fault_history) {
    ++untold_;
    return;
  }
  std::string peers;
  for (auto peer : x.peers)
    peers += (peers.empty() ? " " : ", ") + std::to_string(peer);
  auto line = seconds_text(x.at) + ": " + to_string(x.kind) + peers;
  if (trait_of(x.kind).has_amount)
    line += " (" + readable(x.amount, 6) + ")";
  if (!x.detail.empty())
    line += " (" + x.detail + ")";
  if (lasts)
    line += " for " + seconds_text(*lasts);
  lines_.push_back(line);
}

std::vector<std::string> fault_history::lines() const {
  auto result = lines_;
  if (untold_ > 0)
    result.push_back("... and " + std::to_string(untold_) + " more");
  return result;
}

} // namespace potluck
