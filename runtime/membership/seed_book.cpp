#include "runtime/membership/seed_book.hpp"

#include <algorithm>

namespace potluck {

std::vector<seed_book::candidate> seed_book::due(time_point now,
                                                 bool alone) const {
  std::vector<candidate> result;
  for (const auto& [where, x] : seeds_)
    if (!x.is_self && (alone || !x.hint) && !x.dialling && x.backoff.due <= now)
      result.push_back({where, x.backoff, x.holder});
  return result;
}

void seed_book::dialling(const address& where, time_point until) {
  auto& x = seeds_.at(where);
  x.dialling = true;
  x.backoff.due = until;
}

void seed_book::give_up(time_point now, random_stream& random) {
  for (auto& [where, x] : seeds_)
    if (x.dialling && x.backoff.due <= now)
      failed(where, now, random);
}

void seed_book::failed(const address& where, time_point now,
                       random_stream& random) {
  auto at = seeds_.find(where);
  if (at == seeds_.end() || !at->second.dialling)
    return;
  at->second.dialling = false;
  at->second.backoff.failed(now, random);
}

void seed_book::reached(const address& where, const peer_id& who, bool is_self,
                        time_point due) {
  auto at = seeds_.find(where);
  if (at != seeds_.end())
    at->second = {{due, 0}, false, is_self, at->second.hint, who};
}

void seed_book::wait_for(const peer_id& who, time_point until) {
  for (auto& [where, x] : seeds_)
    if (x.holder == who)
      x.backoff.due = until;
}

bool seed_book::is_of_user(const peer_id& who) const {
  return std::any_of(seeds_.begin(), seeds_.end(), [&](auto& x) {
    return !x.second.hint && x.second.holder == who;
  });
}

unsigned seed_book::most_failures() const {
  unsigned most = 0;
  for (const auto& [where, x] : seeds_)
    if (!x.hint)
      most = std::max(most, x.backoff.failures);
  return most;
}

} // namespace potluck
