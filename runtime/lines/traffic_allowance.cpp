#include "runtime/lines/traffic_allowance.hpp"

#include <cerrno>
#include <ctime>
#include <fstream>
#include <utility>

namespace potluck {

std::string month_of(std::int64_t unix_seconds) {
  const std::time_t seconds = unix_seconds;
  std::tm broken_down{};
  char text[32];
  gmtime_r(&seconds, &broken_down);
  return {text, std::strftime(text, sizeof(text), "%Y-%m", &broken_down)};
}

expected<traffic_allowance>
traffic_allowance::open(double bytes, std::string path, disk& where) {
  traffic_allowance result{bytes, std::move(path), where};
  std::ifstream file{result.path_};
  if (!file && errno == ENOENT)
    return result;
  if (!(file >> result.month_ >> result.used_) || result.month_.size() < 7)
    return failure{result.path_
                   + " does not say how much traffic this month has had; "
                     "remove it to count from nothing."};
  result.written_ = result.used_;
  return result;
}

traffic_allowance::standing traffic_allowance::observe(std::uint64_t passed,
                                                       std::int64_t now) {
  // A clock that has been set back, or starts in 1970, begins no month.
  if (auto month = month_of(now); month > month_) {
    month_ = std::move(month);
    used_ = 0;
    written_ = 0;
  }
  used_ += passed - std::exchange(passed_, passed);
  if (now - written_at_ >= written_after
      && static_cast<double>(used_ - written_) >= written_share * bytes_) {
    written_at_ = now;
    save(); // Said at the end, if it still fails then.
  }
  const auto share = static_cast<double>(used_) / bytes_;
  return share >= 1        ? standing::used_up
         : share >= nearly ? standing::nearly_used
                           : standing::ample;
}

expected<bool> traffic_allowance::save() {
  if (month_.empty())
    return true;
  const auto text = month_ + " " + std::to_string(used_) + "\n";
  auto done = disk_->replace(path_, {{text.data(), text.size()}});
  if (done)
    written_ = used_;
  return done;
}

} // namespace potluck
