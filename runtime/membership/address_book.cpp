#include "runtime/membership/address_book.hpp"

#include <algorithm>

#include "runtime/dialable.hpp"

namespace potluck {

void address_book::note(const peer_id& who, const address& where, bool proven) {
  if (!dialable(where))
    return;
  auto& all = addresses_[who];
  auto at = std::find(all.begin(), all.end(), where);
  if (at == all.end()) {
    if (all.size() == most_of_one) {
      if (!proven)
        return;
      named_.erase({all.back(), who});
      all.pop_back();
    }
    at = all.insert(all.end(), where);
    named_.insert({where, who});
  }
  if (proven)
    std::rotate(all.begin(), at, at + 1);
}

const std::vector<address>& address_book::of(const peer_id& who) const {
  static const std::vector<address> none;
  auto at = addresses_.find(who);
  return at == addresses_.end() ? none : at->second;
}

bool address_book::names(const peer_id& who, const address& where) const {
  return named_.count({where, who}) != 0;
}

void address_book::turn(const peer_id& who) {
  auto at = addresses_.find(who);
  if (at != addresses_.end() && !at->second.empty())
    std::rotate(at->second.begin(), at->second.begin() + 1, at->second.end());
}

void address_book::forget(const peer_id& who) {
  for (const auto& where : of(who))
    named_.erase({where, who});
  addresses_.erase(who);
}

void address_book::is_own(const address& where, time_point now) {
  if (own_.size() >= max_own && own_.count(where) == 0)
    own_.erase(own_.begin());
  own_[where] = now + own_life;
}

bool address_book::hold(const address& where, const peer_id& who) {
  return held_.emplace(where, who).second
         && holdings_.emplace(who, where).second;
}

void address_book::release(const peer_id& who) {
  auto first = holdings_.lower_bound({who, address{}});
  auto last = first;
  for (; last != holdings_.end() && last->first == who; ++last)
    held_.erase(last->second);
  holdings_.erase(first, last);
}

bool address_book::taken(const address& where, const peer_id& who,
                         time_point now) const {
  if (auto own = own_.find(where); own != own_.end() && own->second > now)
    return true;
  auto held = held_.find(where);
  return held != held_.end() && held->second != who;
}

} // namespace potluck
