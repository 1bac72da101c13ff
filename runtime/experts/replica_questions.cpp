#include "runtime/experts/replica_questions.hpp"

#include <algorithm>

namespace potluck {

bool replica_questions::hosts_due(time_point now) {
  if (now < next_hosts_look_)
    return false;
  next_hosts_look_ = now
                     + (alone_ ? duration{limits::expert_hosts_first_look}
                               : duration{limits::expert_hosts_look});
  return true;
}

std::vector<record_key> replica_questions::ask(question x) {
  struct {
    const std::string& run;
    std::vector<record_key> operator()(const hosts&) const {
      return {hosts_key(run)};
    }
    std::vector<record_key> operator()(const lease& q) const {
      return {lease_key(run, q.owner)};
    }
    std::vector<record_key> operator()(const rivals& q) const {
      return {expert_key(run, q.uid)};
    }
    std::vector<record_key> operator()(const rival_lease& q) const {
      return {lease_key(run, q.rival.host)};
    }
    std::vector<record_key> operator()(const orphan& q) const {
      return {expert_key(run, q.what.uid), replicas_key(run, q.what.uid)};
    }
  } keys_of{run_};
  auto keys = std::visit(keys_of, x);
  if (auto q = std::get_if<orphan>(&x))
    orphans_[q->what.uid] = *q;
  std::vector<record_key> fresh;
  for (auto& key : keys) {
    if (asked_.count(key) == 0)
      fresh.push_back(key);
    asked_.emplace(key, x);
  }
  return fresh;
}

std::vector<replica_questions::question>
replica_questions::answered(const record_key& key,
                            const std::vector<dht_record>& records,
                            std::uint32_t answers) {
  auto [begin, end] = asked_.equal_range(key);
  std::vector<question> asked;
  for (auto i = begin; i != end; ++i)
    asked.push_back(i->second);
  asked_.erase(begin, end);
  std::vector<question> result;
  for (auto& x : asked) {
    if (auto q = std::get_if<hosts>(&x)) {
      q->known = notices_in(records);
      alone_ = std::all_of(q->known.begin(), q->known.end(),
                           [&](auto& h) { return h.host.id == self_; });
    } else if (auto q = std::get_if<lease>(&x)) {
      if (records.empty() && answers == 0)
        continue;
      q->there = !notices_in(records).empty();
    } else if (auto q = std::get_if<rivals>(&x)) {
      q->hosts = hosts_in(records);
    } else if (auto q = std::get_if<rival_lease>(&x)) {
      q->there = !notices_in(records).empty();
    } else if (auto q = std::get_if<orphan>(&x)) {
      auto i = orphans_.find(q->what.uid);
      if (i == orphans_.end())
        continue;
      auto heirs = key == expert_key(run_, q->what.uid);
      (heirs ? i->second.hosts : i->second.guards) = hosts_in(records);
      if (!i->second.hosts || !i->second.guards)
        continue;
      x = std::move(i->second);
      orphans_.erase(i);
    }
    result.push_back(std::move(x));
  }
  return result;
}

} // namespace potluck
