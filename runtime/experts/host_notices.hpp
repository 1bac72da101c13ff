/// When a host of experts says that it lives, and what room it has for experts
/// of others.
///
/// Pure: the time is passed in; whoever owns it publishes the records.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "messages/limits.hpp"
#include "runtime/clock.hpp"
#include "runtime/experts/expert_records.hpp"

namespace potluck {

class host_notices {
public:
  host_notices(std::string run, const peer_id& self, const digest& kind)
      : run_(std::move(run)) {
    notice_.host.id = self;
    notice_.kind = kind;
  }

  /// Where others reach this host; nothing is due before that is known.
  void reachable(const address& where) {
    notice_.host.where = where;
  }
  /// Its room changes so much that others are told now.
  void hurry() {
    next_notice_ = {};
  }

  /// What is to be published now, and counts as published.
  /// @param room Experts of others that it may still take over.
  std::vector<dht_record> due(time_point now, std::size_t room) {
    std::vector<dht_record> result;
    const auto& where = notice_.host.where;
    if (where.host.empty() || where.port == 0)
      return result;
    notice_.spare
        = static_cast<std::uint32_t>(std::min<std::size_t>(room, max_spare));
    if (now >= next_lease_) {
      next_lease_ = now + duration{limits::expert_lease_renewal};
      result.push_back(lease_record(run_, notice_));
    }
    if (now >= next_notice_) {
      next_notice_ = now + duration{limits::expert_hosts_renewal};
      result.push_back(hosts_record(run_, notice_));
    }
    return result;
  }

private:
  std::string run_;
  expert_host_notice notice_;
  time_point next_lease_;
  time_point next_notice_;
};

} // namespace potluck
