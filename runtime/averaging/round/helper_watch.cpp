#include "runtime/averaging/round/helper_watch.hpp"

#include <algorithm>

namespace potluck {

helper_watch::helper_watch(const chunk_map& map, double planned)
    : map_{map}, planned_{std::chrono::duration_cast<duration>(
                     std::chrono::duration<double>(planned))},
      done_(map.member_count()) {
}

void helper_watch::mean_here(std::size_t member, duration since) {
  ++done_[member].means;
  done_[member].last = std::max(done_[member].last, since);
}

bool helper_watch::others_are_complete(const member_roll& roll) const {
  std::size_t all = 0;
  std::size_t complete = 0;
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (trains_and_averages(roll, i)) {
      ++all;
      complete += this->complete(i);
    }
  return 2 * complete >= all;
}

bool helper_watch::is_late(const member_roll& roll, std::size_t member) const {
  duration others{0};
  for (std::size_t i = 0; i < roll.size(); ++i)
    if (trains_and_averages(roll, i))
      others = std::max(others, done_[i].last);
  const auto usual = std::max(others, planned_);
  return done_[member].last > late * usual + slack;
}

bool helper_watch::was_replaced(const chunk_ledger& ledger,
                                std::size_t member) const {
  const auto own = map_.chunks_of(member);
  for (auto chunk = own.first; chunk < own.first + own.count; ++chunk)
    if (const auto& x = ledger.source(chunk);
        x.version != 1 && x.member != member)
      return true;
  return false;
}

std::vector<std::size_t>
helper_watch::stalled(const member_roll& roll, const chunk_ledger& ledger,
                      bool committed, const std::vector<bool>& waited) const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < roll.size(); ++i) {
    if (roll[i].trains || i == roll.self() || map_.chunks_of(i).count == 0)
      continue;
    const bool failed
        = committed ? was_replaced(ledger, i) || is_late(roll, i)
                    : waited[i] && !complete(i) && others_are_complete(roll);
    if (failed)
      result.push_back(i);
  }
  return result;
}

} // namespace potluck
