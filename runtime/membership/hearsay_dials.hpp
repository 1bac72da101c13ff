/// How often this peer dials addresses on others' word: a few a second in all
/// and per host, and the more rarely the more often nobody was there, whatever
/// ids are said to be.
///
/// What answers costs nothing, so that honest peers find each other as fast as
/// they can. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "messages/contact.hpp"
#include "runtime/clock.hpp"
#include "runtime/lines/token_bucket.hpp"

namespace potluck {

class hearsay_dials {
public:
  /// Dials in vain, a second and after a pause: of all, and of one host, where
  /// forty peers may live.
  static constexpr double all_a_second = 8;
  static constexpr double all_at_once = 64;
  static constexpr double host_a_second = 1;
  static constexpr double host_at_once = 8;
  /// After a failure at an address, doubled with each further one: what the
  /// luckiest of `dial_backoff` wait, so that one peer there is dialled as
  /// often as any, and a thousand no more often.
  static constexpr duration first_wait = std::chrono::milliseconds{250};
  static constexpr duration longest_wait = std::chrono::seconds{15};
  /// A dial whose end nobody tells has ended by then; meanwhile there is no
  /// other to that address.
  static constexpr duration longest_dial = std::chrono::seconds{30};
  /// Hosts and addresses remembered.
  static constexpr std::size_t most = 1024;

  /// Whether to dial there now; then it counts as done.
  bool spend(const address& where, time_point now) {
    if (auto at = failures_.find(where);
        at != failures_.end() && now < at->second.until)
      return false;
    auto host = hosts_.find(where.host);
    if (host == hosts_.end()) {
      make_room(hosts_, [](const auto& x) { return x.used; });
      host = hosts_.emplace(where.host, knocks{}).first;
    }
    auto& x = host->second;
    x.used = now;
    if (all_.available(now) < 1 || !x.left.take(now))
      return false;
    all_.spend(1);
    remembered(where).until = now + longest_dial;
    return true;
  }

  /// Nobody was there, or somebody else.
  void failed(const address& where, time_point now) {
    auto& x = remembered(where);
    const auto doublings = std::min(x.times++, 10u);
    x.until
        = now + std::min<duration>(first_wait * (1 << doublings), longest_wait);
  }

  /// Somebody answered as was said.
  void answered(const address& where) {
    failures_.erase(where);
    all_.spend(-1);
    if (auto host = hosts_.find(where.host); host != hosts_.end())
      host->second.left.spend(-1);
  }

private:
  struct knocks {
    token_bucket left{host_a_second, host_at_once};
    time_point used;
  };
  struct failure {
    unsigned times = 0;
    time_point until{};
  };

  failure& remembered(const address& where) {
    if (failures_.count(where) == 0)
      make_room(failures_, [](const auto& x) { return x.until; });
    return failures_[where];
  }
  /// The one of longest ago goes.
  template <class Map, class When>
  static void make_room(Map& all, When when) {
    if (all.size() >= most)
      all.erase(std::min_element(all.begin(), all.end(),
                                 [&](const auto& a, const auto& b) {
                                   return when(a.second) < when(b.second);
                                 }));
  }

  token_bucket all_{all_a_second, all_at_once};
  std::map<std::string, knocks> hosts_;
  std::map<address, failure> failures_;
};

} // namespace potluck
