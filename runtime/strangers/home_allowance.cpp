#include "runtime/strangers/home_allowance.hpp"

#include <algorithm>

#include "runtime/strangers/home_of.hpp"

namespace potluck {

bool home_allowance::spend(const std::string& host, double cost,
                           time_point now) {
  auto& home = of(homes_, home_of(host), most_.home, most_.home_at_once, now);
  if (home.available(now) < cost)
    return false;
  auto& prefix
      = of(prefixes_, prefix_of(host), most_.prefix, most_.prefix_at_once, now);
  if (prefix.available(now) >= cost)
    prefix.spend(cost);
  else if (all_.available(now) >= cost)
    all_.spend(cost);
  else
    return false;
  home.spend(cost);
  return true;
}

void home_allowance::charge(const std::string& host, double cost,
                            time_point now) {
  const auto owes = [&](token_bucket& by, double most) {
    return std::clamp(by.available(now) + most, 0.0, cost);
  };
  // What the home has not had to pay, others need not either.
  auto& home = of(homes_, home_of(host), most_.home, most_.home_at_once, now);
  cost = owes(home, most_.home);
  home.spend(cost);
  auto& prefix
      = of(prefixes_, prefix_of(host), most_.prefix, most_.prefix_at_once, now);
  if (prefix.available(now) >= cost)
    prefix.spend(cost);
  else
    all_.spend(owes(all_, most_.all));
}

token_bucket& home_allowance::of(accounts& all, const std::string& name,
                                 double rate, double burst, time_point now) {
  auto at = all.find(name);
  if (at == all.end()) {
    // Who has asked for nothing for longest has most of it back.
    if (all.size() >= most)
      all.erase(std::min_element(all.begin(), all.end(),
                                 [](const auto& a, const auto& b) {
                                   return a.second.used < b.second.used;
                                 }));
    at = all.emplace(name, account{token_bucket{rate, burst}, now}).first;
  }
  at->second.used = now;
  return at->second.left;
}

} // namespace potluck
